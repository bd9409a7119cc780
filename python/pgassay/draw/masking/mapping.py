"""One mapping of all parts of values of a drawing, drawn at random.

Enters: the parts by their kind. Leaves: what each becomes. Never: stores what was drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import date, timedelta
from itertools import groupby
from random import Random, SystemRandom

from pgassay.draw.masking.ordered import decimals, hex_digits, letters, ordered
from pgassay.draw.masking.values import Kind

_TYPE_ENDS = (2**15 - 1, 2**31 - 1, 2**63 - 1)
"""The largest whole numbers of PostgreSQL's types: none is replaced by one of a wider type."""
_MOVED_DAYS = (400, 4000)
_STAY = ("NaN", "infinity", "-infinity")


class Parts:
    """Collects the parts of all values."""

    def __init__(self) -> None:
        self._found: dict[Kind, set[str]] = defaultdict(set)

    def collect(self, kind: Kind, part: str) -> str:
        """Takes one part; returns it as it is."""
        self._found[kind].add(part)
        return part

    def mapping(self, random: Random) -> Mapped:
        """Draws what each part becomes."""
        whole, behind = _numbers(self._found[Kind.NUMBER])
        return Mapped(
            ordered(self._found[Kind.TEXT], letters(random)),
            ordered(self._found[Kind.HEX], hex_digits(random)),
            _whole_numbers(whole, random),
            {at: ordered(own, decimals(random)) for at, own in behind.items()},
            timedelta(days=-SystemRandom().randint(*_MOVED_DAYS)),
        )


class Mapped:
    """What each part becomes."""

    def __init__(
        self,
        texts: Mapping[str, str],
        hexes: Mapping[str, str],
        whole: Mapping[int, int],
        behind: Mapping[int, Mapping[str, str]],
        moved: timedelta,
    ) -> None:
        self._texts, self._hexes = texts, hexes
        self._whole, self._behind = whole, behind
        self._moved = moved

    def replace(self, kind: Kind, part: str) -> str | None:
        """Returns what a part becomes; None for a day that no calendar has."""
        match kind:
            case Kind.TEXT:
                return self._texts[part]
            case _ if part in _STAY:
                return part
            case Kind.HEX:
                return self._hexes[part]
            case Kind.NUMBER:
                return self._number(part)
            case Kind.DAY:
                return self._day(part)
            case _:
                return part

    def _number(self, part: str) -> str:
        sign = "-" if part.startswith("-") else ""
        before, point, behind = part.removeprefix("-").partition(".")
        whole = int(before)
        return f"{sign}{self._whole[whole]}{point}{self._behind[whole][behind] if point else ''}"

    def _day(self, part: str) -> str | None:
        try:
            return f"{date.fromisoformat(part[:10]) + self._moved}{part[10:]}"
        except (ValueError, OverflowError):
            return None


def _numbers(parts: set[str]) -> tuple[set[int], dict[int, set[str]]]:
    """The digits before the point, and those behind it by those before."""
    whole: set[int] = set()
    behind: dict[int, set[str]] = defaultdict(set)
    for part in parts - set(_STAY):
        before, point, rest = part.removeprefix("-").partition(".")
        whole.add(int(before))
        if point:
            behind[int(before)].add(rest)
    return whole, behind


def _whole_numbers(found: set[int], random: Random) -> Mapping[int, int]:
    """Others with as many digits, in the same order, and of the same types."""
    mapped: dict[int, int] = {}
    for (first, last), own in groupby(sorted(found), _range_of):
        values = list(own)
        drawn = sorted(_sample(first, last, len(values), random))
        mapped |= dict(zip(values, drawn, strict=True))
    return mapped


def _range_of(value: int) -> tuple[int, int]:
    """The first and the last number with as many digits that fit into the same types."""
    if value == 0:
        return 0, 0
    digits = len(str(value))
    first, last = 10 ** (digits - 1), 10**digits - 1
    for end in _TYPE_ENDS:
        if value <= end:
            last = min(last, end)
        else:
            first = max(first, end + 1)
    return first, last


def _sample(first: int, last: int, count: int, random: Random) -> set[int]:
    """So many different numbers; `random.sample` takes no range beyond 64 bits."""
    size = last - first + 1
    if size < 2**62:
        return {first + at for at in random.sample(range(size), count)}
    found: set[int] = set()
    while len(found) < count:
        found.add(random.randint(first, last))
    return found
