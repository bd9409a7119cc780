"""Find the aliases of a fraction: effects that the same contrast estimates.

Enters: factors and the arms that are run. Leaves: effects with their aliases.
Never: considers interactions of more than two factors; these are assumed to be zero.

Source: Box, Hunter & Hunter, Statistics for Experimenters (2005), chapter 6.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from pgassay.plan.model import Arm, Factor, Plan

Effect = tuple[str, ...]
"""The name of one factor, or of two for their interaction."""


@dataclass(frozen=True)
class Alias:
    """An effect that the design cannot separate from another; `sign` is −1 if it enters with the
    opposite sign."""

    effect: Effect
    sign: int

    def __str__(self) -> str:
        return f"{'−' if self.sign < 0 else ''}{named(self.effect)}"


def named(effect: Effect) -> str:
    """Returns the name of an effect, such as `jit` or `jit × work_mem`."""
    return " × ".join(effect)


def aliases_of(factors: Sequence[Factor], arms: Sequence[Arm]) -> dict[Effect, tuple[Alias, ...]]:
    """Returns the aliases of each main effect and two-factor interaction of the factors with two
    levels.

    Factors with more levels are crossed with the whole fraction, so they have no aliases.
    """
    two = [factor for factor in factors if len(factor.levels) == 2]
    columns: dict[Effect, tuple[int, ...]] = {
        (factor.name,): tuple(1 if a.levels[factor.name] != factor.baseline else -1 for a in arms)
        for factor in two
    }
    for one, other in itertools.combinations(two, 2):
        pairs = zip(columns[one.name,], columns[other.name,], strict=True)
        columns[one.name, other.name] = tuple(a * b for a, b in pairs)
    found: dict[Effect, list[Alias]] = {}
    classes: dict[tuple[int, ...], list[Effect]] = {}
    for effect, column in columns.items():
        classes.setdefault(tuple(value * column[0] for value in column), []).append(effect)
    for effects in classes.values():
        for effect, other_effect in itertools.permutations(effects, 2):
            sign = columns[effect][0] * columns[other_effect][0]
            found.setdefault(effect, []).append(Alias(other_effect, sign))
    return {effect: tuple(found[effect]) for effect in columns if effect in found}


def aliases_of_factor(plan: Plan, factor: Factor) -> tuple[str, ...]:
    """Returns the interactions that the estimated main effect of a factor may contain; none where
    the design separates them."""
    if plan.combinations != "fraction":
        return ()
    found = aliases_of(plan.factors, plan.arms).get((factor.name,), ())
    return tuple(map(str, found))


def alias_lines(factors: Sequence[Factor], arms: Sequence[Arm]) -> tuple[str, ...]:
    """Returns a line for each set of effects that cannot be separated, such as `a = −b × c`."""
    listed: set[Effect] = set()
    lines = []
    for effect, others in aliases_of(factors, arms).items():
        if effect not in listed:
            listed |= {effect, *(other.effect for other in others)}
            lines.append(" = ".join([named(effect), *map(str, others)]))
    return tuple(lines)
