"""The highest load that holds an objective.

Enters: levels in rising order, and a function that probes one. Leaves: a level shown to hold, a
level shown to break, the best-supported level of each side with its confidence, every probe.
Never: runs a load; pure but for the function it is given.

Two phases (docs/methods/planning.md, "Search"). Bisection with few probes finds where to look and
claims nothing. Then fresh probes confirm: up to `confirmations` of them at a level, until one
disagrees, at levels further and further from the edge. What is tested is that a probe at the level
holds more often than it breaks, by a binomial test of its own probes, and by one of all confirming
probes at this level and above: more load never makes an objective easier to hold, so what held
above counts here too. "Breaks" is the mirror image. At most `TESTS_PER_SIDE` levels are tested on a
side, each by two tests, and Bonferroni's rule shares the error among all of them. Ending a level's
probes at the first that disagrees makes the binomial tail larger than the exact one, so the tests
err on the safe side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

TESTS_PER_SIDE = 4
"""How many levels may be tested for "holds", and for "breaks"."""
_TESTS = 2 * 2 * TESTS_PER_SIDE
"""Of both sides: each level is tested by its own probes, and with those beyond it."""
_SEEK_MAJORITY = 2
_STRIDE_GROWS = 3
"""Strides of 1, 3 and 9 levels leave the range in which a noisy server now holds, now breaks."""


@dataclass(frozen=True)
class Probe:
    """One short run at one level."""

    level: float
    held: bool
    phase: Literal["seek", "confirm"]


@dataclass(frozen=True)
class Support:
    """The evidence of the confirming probes for one level."""

    level: float
    agreeing: int
    """Confirming probes that held (or broke) at this level, or further from the edge than it…"""
    probes: int
    """… of so many."""
    confidence: float
    """That a probe at this level holds (or breaks) more often than not: 0 to 1, corrected for the
    number of tests; 0 where the probes show no more than chance would."""


@dataclass(frozen=True)
class SearchResult:
    """The levels that a search has shown; None where nothing was."""

    holds: float | None
    """The highest level shown to hold the objective with the confidence asked for."""
    breaks: float | None
    """The lowest level above it shown to break the objective with that confidence."""
    best_held: Support | None
    """The best-supported level that holds, shown or not; None where none was tested."""
    best_broken: Support | None
    """The best-supported level that breaks, shown or not; None where none was tested."""
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
    """Probes that must all agree before a level counts as shown without any other evidence."""
    return math.ceil(math.log2(1 / _error_of_one_test(confidence)))


def most_probes(levels: int, confidence: float) -> int:
    """The most probes that a search over so many levels can take."""
    seek = math.ceil(math.log2(levels + 1)) * (2 * _SEEK_MAJORITY - 1)
    return seek + 2 * TESTS_PER_SIDE * confirmations_for(confidence)


def search(
    levels: tuple[float, ...], probe: Callable[[float], bool], confidence: float
) -> SearchResult:
    """Seeks the highest level that passes by bisection, then confirms it."""
    probes: list[Probe] = []

    def ask(index: int, phase: Literal["seek", "confirm"]) -> bool:
        held = probe(levels[index])
        probes.append(Probe(levels[index], held, phase))
        return held

    edge = _seek(len(levels), lambda index: _majority(lambda: ask(index, "seek")))

    def confirm(place: int, *, holds: bool) -> tuple[int | None, Support | None]:
        """Test levels from `place` away from the edge until one is shown; the last is the range's
        end at most."""
        supports: list[Support] = []
        asked: list[tuple[int, bool]] = []
        stride = 1
        if not 0 <= place < len(levels):
            return None, None
        for _ in range(TESTS_PER_SIDE):
            for _ in range(confirmations_for(confidence)):
                asked.append((place, ask(place, "confirm") == holds))
                if not asked[-1][1]:
                    break
            at_level = [agrees for where, agrees in asked if where == place]
            every = [agrees for _, agrees in asked]
            supports += [_support(levels[place], some) for some in (at_level, every)]
            if max(one.confidence for one in supports[-2:]) >= confidence:
                return place, max(supports[-2:], key=lambda one: one.confidence)
            further = max(place - stride, 0) if holds else min(place + stride, len(levels) - 1)
            if further == place:
                break
            place, stride = further, stride * _STRIDE_GROWS
        return None, max(supports, key=lambda one: one.confidence, default=None)

    highest, best_held = confirm(edge, holds=True)
    lowest, best_broken = confirm(
        (edge if highest is None else max(edge, highest)) + 1, holds=False
    )
    return SearchResult(
        holds=None if highest is None else levels[highest],
        breaks=None if lowest is None else levels[lowest],
        best_held=best_held,
        best_broken=best_broken,
        confirmations=confirmations_for(confidence),
        probes=tuple(probes),
    )


def _error_of_one_test(confidence: float) -> float:
    return (1 - confidence) / _TESTS


def _support(level: float, agree: Sequence[bool]) -> Support:
    """The binomial test of probes that held or broke as they should."""
    count, agreeing = len(agree), sum(agree)
    tail = sum(math.comb(count, k) for k in range(agreeing, count + 1)) / 2**count
    return Support(level, agreeing, count, max(0.0, 1 - _TESTS * tail))


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
