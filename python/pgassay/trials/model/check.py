"""One result of doctor.

Enters: nothing. Leaves: the `Check` value. Never: looks at anything itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Self

from pgassay.notes import Note


@dataclass(frozen=True)
class Check:
    """What a check of the server found, and how to fix it."""

    name: str
    state: Literal["ok", "note", "fail"]
    found: str
    fix: str = ""
    notes: tuple[tuple[str, Note], ...] = ()
    """Name of a field above → the note that its sentence was made of; for reports."""

    @classmethod
    def noted(cls, name: Note | str, found: Note, fix: Note | str = "") -> Self:
        """Makes a check that says what is not measured."""
        parts = {"name": name, "found": found, "fix": fix}
        notes = tuple((part, one) for part, one in parts.items() if isinstance(one, Note))
        return cls(str(name), "note", str(found), str(fix), notes)

    def fixed_by(self, fix: Note) -> Self:
        """Returns the same check with another fix."""
        others = tuple((part, one) for part, one in self.notes if part != "fix")
        return replace(self, fix=str(fix), notes=(*others, ("fix", fix)))

    def plain(self) -> dict[str, str]:
        """Returns the texts of the check by name."""
        return {"name": self.name, "state": self.state, "found": self.found, "fix": self.fix}
