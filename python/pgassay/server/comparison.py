"""How a server differs from what a run found.

Enters: things of a server, before and after. Leaves: each difference, and the line that says so.
Never: shows a setting's value that may hold a secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pgassay.spec.secrets.redaction import SET, shown_of

_MOST = 8
"""Differences that are named; of more, how many."""


class Kind(StrEnum):
    """The kinds of things that are compared before and after a run, in the words of the line about
    them."""

    SETTING = "setting"
    PENDING = "pending restart"
    ALTERED = "setting in ALTER ... SET"
    LINE = "postgresql.auto.conf"
    ORDER = "order of the lines in postgresql.auto.conf"
    SCHEMA = "schema"
    DATABASE = "database"
    ROLE = "role"


@dataclass(frozen=True)
class Thing:
    """One thing of a server that is compared: its kind, its name and what was found of it."""

    kind: Kind
    name: str


@dataclass(frozen=True)
class Difference:
    """One thing that is not as it was; None stands for a thing that is not there."""

    what: Thing
    before: str | None
    after: str | None

    def __str__(self) -> str:
        if not self.what.name and self.what.kind is not Kind.ORDER:
            return f"{self.what.kind}: not as before"
        label = f"{self.what.kind} {self.what.name}".strip()
        if self.after is None:
            return f"{label} is gone"
        if self.before is None:
            return f"{label} is new"
        setting = self.what.name.partition(" ")[0]
        if self.what.kind in (Kind.SETTING, Kind.ALTERED, Kind.LINE):
            shown = [shown_of(setting, value) for value in (self.before, self.after)]
            if SET not in shown:
                return f"{label} was {shown[0]}, is {shown[1]}"
        return f"{label} has changed"


@dataclass(frozen=True)
class Comparison:
    """How a server differs, after a run has put it back, from what the run found."""

    differences: tuple[Difference, ...] = ()
    left_out: tuple[str, ...] = ()
    unknown: str = ""
    """Why nothing could be compared."""

    @property
    def is_identical(self) -> bool:
        """Whether everything that could be read is as the run found it."""
        return not self.differences and not self.unknown

    def __str__(self) -> str:
        if self.unknown:
            return f"compared with before: unknown ({self.unknown})"
        shown = [str(one) for one in self.differences[:_MOST]]
        more = len(self.differences) - len(shown)
        said = "; ".join([*shown, *([f"{more} more differences"] if more else [])])
        unread = f" (not readable here: {', '.join(self.left_out)})" if self.left_out else ""
        return f"compared with before: {said or 'identical'}{unread}"


@dataclass(frozen=True)
class ServerCompared:
    """The comparison of one server; its name is empty where the run has one server."""

    server: str
    comparison: Comparison

    def __str__(self) -> str:
        return f"{self.server}: {self.comparison}" if self.server else str(self.comparison)
