"""Choose the combinations of levels that become arms: all, a fraction, or one change at a time.

Enters: the factors, how to combine them. Leaves: combinations of levels, the baseline first.
Never: orders trials. An impossible choice is a `Refusal` that names a possible one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from pgassay.plan.factorial.fraction import Fraction, smallest_fraction
from pgassay.plan.model import Factor
from pgassay.refusals.refusal import Refusal
from pgassay.spec.model import MOST_ARMS

ROMAN = {3: "III", 4: "IV", 5: "V", 6: "VI", 7: "VII", 8: "VIII", 9: "IX"}


@dataclass(frozen=True)
class Combined:
    """The level of each factor in every arm."""

    levels: tuple[tuple[str, ...], ...]
    resolution: int | None = None
    """Of a fraction."""


def combine(factors: Sequence[Factor], how: str, resolution: int) -> Combined:
    """Returns the combinations of levels that are run as arms."""
    match how:
        case "fraction":
            return _fraction(factors, resolution)
        case "one-at-a-time":
            return Combined(_checked(_one_at_a_time(factors)))
        case _:
            return Combined(tuple(itertools.product(*(f.levels for f in factors))))


def _one_at_a_time(factors: Sequence[Factor]) -> tuple[tuple[str, ...], ...]:
    baseline = tuple(factor.baseline for factor in factors)
    changes = (
        (*baseline[:at], level, *baseline[at + 1 :])
        for at, factor in enumerate(factors)
        for level in factor.levels[1:]
    )
    return (baseline, *changes)


def _fraction(factors: Sequence[Factor], resolution: int) -> Combined:
    """A regular fraction of the two-level factors, crossed with every level of the others."""
    halved = [at for at, factor in enumerate(factors) if len(factor.levels) == 2]
    found = smallest_fraction(len(halved), resolution)
    if found is None:
        raise _no_fraction(factors, len(halved), resolution)
    whole = math.prod(len(f.levels) for f in factors if len(f.levels) > 2)
    if whole * 2**found.base > MOST_ARMS:
        raise Refusal("too-many-arms", arms=whole * 2**found.base, most=MOST_ARMS)
    return Combined(tuple(_crossed(factors, halved, found)), found.resolution)


def _crossed(
    factors: Sequence[Factor], halved: Sequence[int], fraction: Fraction
) -> list[tuple[str, ...]]:
    """All runs of the fraction with all levels of the others, in the full factorial's order."""
    others = [at for at in range(len(factors)) if at not in halved]
    rows = []
    for run, rest in itertools.product(
        fraction.runs(), itertools.product(*(range(len(factors[at].levels)) for at in others))
    ):
        row = dict(zip((*halved, *others), (*run, *rest), strict=True))
        rows.append([row[at] for at in range(len(factors))])
    return [
        tuple(factor.levels[index] for factor, index in zip(factors, row, strict=True))
        for row in sorted(rows)
    ]


def _no_fraction(factors: Sequence[Factor], halved: int, resolution: int) -> Refusal:
    lower = next((r for r in (4, 3) if r < resolution and smallest_fraction(halved, r)), None)
    several = [factor.name for factor in factors if len(factor.levels) > 2]
    if lower is not None:
        values = {"resolution": ROMAN[resolution], "lower": lower}
        return Refusal("no-fraction-of-resolution", factors=halved, **values)
    more = f" ({', '.join(several)} have more)" if several else ""
    return Refusal("no-fraction", more=more, factors=halved)


def _checked(levels: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    if len(levels) > MOST_ARMS:
        raise Refusal("too-many-arms", arms=len(levels), most=MOST_ARMS)
    return levels
