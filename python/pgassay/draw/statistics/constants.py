"""Which parameters of a statement are constants of the client's program.

Enters: what texts of clients show. Leaves: constants by the number of the parameter. Never: takes a
value that a client chose for one that its program has.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from pgassay.draw.statements.seen import Seen

_SURE = 5
"""Sights of a text without parameters, all of which have the same constant."""


@dataclass(frozen=True, slots=True)
class Constants:
    """The constants of one statement, as far as they were seen."""

    fixed: dict[int, str | None]
    """Those of the program."""
    seen: dict[int, list[str | None]]
    """All others that were seen, each text's."""

    @classmethod
    def of(cls, texts: Collection[Seen]) -> Self:
        """Returns what the texts show: a constant beside parameters is one of the program, and so
        is one that is the same each time."""
        fixed: dict[int, str | None] = {}
        by_number: dict[int, list[str | None]] = {}
        for text in texts:
            for number, value in text.values.items():
                by_number.setdefault(number, []).append(value)
                if text.mixed:
                    fixed[number] = value
        for number, values in by_number.items():
            if len(values) >= _SURE and len(set(values)) == 1:
                fixed[number] = values[0]
        return cls(fixed, by_number)
