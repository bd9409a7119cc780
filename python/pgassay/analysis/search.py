"""The highest load that holds an objective.

Enters: levels, and a function that probes one. Leaves: a level shown to hold, a level shown to
break, every probe. Never: runs a load; pure but for the function it is given.

Two phases (docs/methods-planning.md, "Search"): bisection with few probes finds where to look and
claims nothing; then fresh probes confirm. A level is shown to hold when every one of
`confirmations` fresh probes held, which chance allows with 2^-confirmations at most where a probe
holds no more often than it breaks; Bonferroni's rule shares the error between all the tests that
may be made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

TESTS_PER_SIDE = 4
"""How many levels may be tried for "holds", and for "breaks"."""
_SEEK_MAJORITY = 2


@dataclass(frozen=True)
class Probe:
    """One short run at one level."""

    level: float
    held: bool
    phase: Literal["seek", "confirm"]


@dataclass(frozen=True)
class SearchResult:
    """What was shown; None where nothing was."""

    holds: float | None
    """The highest level at which every confirming probe held."""
    breaks: float | None
    """The lowest level above it at which every confirming probe broke the objective."""
    confirmations: int
    probes: tuple[Probe, ...]


def levels_between(low: float, high: float, within: float, *, whole: bool) -> tuple[float, ...]:
    """Levels from `low` to `high`, each at most `within` (a share) above the one before."""
    count = math.ceil(math.log(high / low) / math.log1p(within)) if high > low else 0
    ratio = (high / low) ** (1 / count) if count else 1.0
    exact = [low * ratio**index for index in range(count + 1)]
    rounded = [float(round(level)) if whole else float(f"{level:.4g}") for level in exact]
    rounded[0], rounded[-1] = low, high
    return tuple(sorted(set(rounded)))


def confirmations_for(confidence: float) -> int:
    """Probes that must all agree before a level counts as shown."""
    per_test = (1 - confidence) / (2 * TESTS_PER_SIDE)
    return math.ceil(math.log2(1 / per_test))


def search(
    levels: tuple[float, ...], probe: Callable[[float], bool], confidence: float
) -> SearchResult:
    """Seek by bisection, then confirm."""
    needed = confirmations_for(confidence)
    probes: list[Probe] = []

    def ask(index: int, phase: Literal["seek", "confirm"]) -> bool:
        held = probe(levels[index])
        probes.append(Probe(levels[index], held, phase))
        return held

    edge = _seek(len(levels), lambda index: _majority(lambda: ask(index, "seek")))

    def shown(index: int, *, holds: bool) -> bool:
        return all(ask(index, "confirm") == holds for _ in range(needed))

    highest = _confirm(edge, -1, len(levels), lambda index: shown(index, holds=True))
    first_above = edge + 1 if highest is None else max(edge, highest) + 1
    lowest = _confirm(first_above, +1, len(levels), lambda index: shown(index, holds=False))
    return SearchResult(
        holds=None if highest is None else levels[highest],
        breaks=None if lowest is None else levels[lowest],
        confirmations=needed,
        probes=tuple(probes),
    )


def _seek(count: int, holds: Callable[[int], bool]) -> int:
    """The place of the last level that seems to hold; -1 where none does."""
    low, high = -1, count
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def _majority(ask: Callable[[], bool]) -> bool:
    """The answer that comes up twice first."""
    held = broke = 0
    while max(held, broke) < _SEEK_MAJORITY:
        if ask():
            held += 1
        else:
            broke += 1
    return held > broke


def _confirm(begin: int, direction: int, count: int, shown: Callable[[int], bool]) -> int | None:
    """The first place that can be shown, going away from the edge by strides 1, 2, 4, …"""
    place, stride = begin, 1
    for _ in range(TESTS_PER_SIDE):
        if not 0 <= place < count:
            return None
        if shown(place):
            return place
        place += direction * stride
        stride *= 2
    return None
