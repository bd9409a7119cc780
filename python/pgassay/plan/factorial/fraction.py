"""Find regular fractions of two-level factorials: which 2^(k-p) of 2^k combinations to run.

Enters: the number of factors, the least resolution. Leaves: a `Fraction` and its runs.
Never: knows the factors. Their first levels are 0, and the run of all zeros, the baseline, is
always kept.

Source: Box, Hunter & Hunter, Statistics for Experimenters (2005), chapters 5 and 6; among the
fractions of the highest resolution, the one of least aberration (Fries & Hunter 1980).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

LARGEST_BASE = 8
"""Basic factors of the largest fraction that is searched: 2^8 runs."""
_MOST_TRIES = 100_000
"""Limit of the search for one size, and of the comparison of aberrations."""


@dataclass(frozen=True)
class Fraction:
    """A 2^(k-p) design: `base` factors run through all combinations, the others follow.

    Words are bit masks over the factors. Factor `base + i` is the sum, modulo 2, of the factors in
    `generators[i]`.
    """

    factors: int
    base: int
    generators: tuple[int, ...]

    @property
    def defining(self) -> tuple[int, ...]:
        """Every word of the defining relation, as sets of factors."""
        words = [g | 1 << (self.base + i) for i, g in enumerate(self.generators)]
        return tuple(sorted(_products(words), key=lambda word: (word.bit_count(), word)))

    @property
    def resolution(self) -> int:
        """The resolution: the number of factors in the shortest defining word."""
        return min(word.bit_count() for word in self.defining)

    def runs(self) -> Iterator[tuple[int, ...]]:
        """Returns the level (0 or 1) of every factor in each run of the design; the first run is
        the baseline."""
        for basic in itertools.product((0, 1), repeat=self.base):
            mask = sum(level << at for at, level in enumerate(basic))
            yield *basic, *((mask & g).bit_count() % 2 for g in self.generators)


@cache
def smallest_fraction(factors: int, resolution: int) -> Fraction | None:
    """Returns the fraction with the fewest runs that has at least this resolution; None where there
    is none."""
    least = max(2, math.ceil(math.log2(factors + 1))) if factors else 2
    for base in range(least, min(factors, LARGEST_BASE + 1)):
        for reached in range(base + 1, resolution - 1, -1):
            first = _search(factors, base, reached)
            if first is not None:
                return _least_aberrant(first, reached)
    return None


def _words(base: int, resolution: int) -> list[int]:
    """Generators that could give the resolution, short words first, then by their letters."""
    words = [w for w in range(1, 2**base) if w.bit_count() >= max(2, resolution - 1)]
    return sorted(words, key=lambda w: (w.bit_count(), [at for at in range(base) if w >> at & 1]))


def _search(factors: int, base: int, resolution: int) -> Fraction | None:
    """The first set of generators that gives the resolution, depth first."""
    words, wanted = _words(base, resolution), factors - base
    tries = 0

    def extend(chosen: list[int], group: list[int], start: int) -> list[int] | None:
        nonlocal tries
        if len(chosen) == wanted:
            return chosen
        new_bit = 1 << (base + len(chosen))
        for at in range(start, len(words)):
            tries += 1
            if tries > _MOST_TRIES:
                return None
            word = words[at] | new_bit
            more = [word, *(word ^ old for old in group)]
            if min(w.bit_count() for w in more) >= resolution:
                found = extend([*chosen, words[at]], group + more, at + 1)
                if found is not None:
                    return found
        return None

    generators = extend([], [], 0)
    return None if generators is None else Fraction(factors, base, tuple(generators))


def _least_aberrant(first: Fraction, resolution: int) -> Fraction:
    """The fraction of the same size with the fewest short words; `first` if there are too many."""
    words, wanted = _words(first.base, resolution), len(first.generators)
    if math.comb(len(words), wanted) << wanted > _MOST_TRIES:
        return first
    every = (
        Fraction(first.factors, first.base, chosen)
        for chosen in itertools.combinations(words, wanted)
    )
    return min(every, key=_aberration)


def _aberration(fraction: Fraction) -> tuple[int, ...]:
    """How many defining words have 1, 2, 3, ... letters."""
    lengths = [word.bit_count() for word in fraction.defining]
    return tuple(lengths.count(n) for n in range(1, fraction.factors + 1))


def _products(words: Sequence[int]) -> list[int]:
    found: list[int] = []
    for word in words:
        found += [word, *(word ^ other for other in found)]
    return found
