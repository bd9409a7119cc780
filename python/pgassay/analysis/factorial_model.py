"""What is said of several factors at once, and of several levels of one, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgassay.analysis.model import Verdict


@dataclass(frozen=True)
class Estimate:
    """One contrast of the primary metric over whole trials, in per cent of what it starts from."""

    blocks: int
    effect_pct: float | None
    ci95_pct: tuple[float, float] | None
    """Together with those of its kind (all interactions, all trends, ...) at 95 %."""
    p_sign_flip: float | None
    p_max_t: float | None
    """Corrected for all of its kind."""
    e_value: float | None
    blocks_to_decide: int | None
    block_effects_pct: tuple[float, ...]
    rounds: int | None = None


class Dependence(StrEnum):
    """Whether one factor's effect depends on another's level."""

    DEPENDS = "depends"
    NEGLIGIBLE = "negligible"
    """It does for sure, and for sure by less than the smallest effect that matters."""
    INDEPENDENT = "independent"
    """By less than that effect, if at all."""
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class SimpleEffect:
    """A level against its factor's baseline, where another factor is at `at`."""

    factor: str
    level: str
    other: str
    at: str
    estimate: Estimate


@dataclass(frozen=True)
class Interaction:
    """How much the effect of `level` at `other = at` exceeds that at the other's baseline.

    Effects multiply, so 10 % means: the ratio that `level` makes is 1.1 times as large there.
    """

    metric: str
    factor: str
    level: str
    other: str
    at: str
    aliases: tuple[str, ...]
    """Other interactions that the same figures would show, in a fraction."""
    estimate: Estimate
    verdict: Dependence


@dataclass(frozen=True)
class Trend:
    """A line through a factor's levels, from the lowest to the highest value."""

    metric: str
    factor: str
    lowest: str
    highest: str
    per_doubling_pct: float | None
    """Where levels are spaced by ratios: the change with each doubling of the value."""
    estimate: Estimate
    """From the lowest to the highest level, along the line."""
    verdict: Verdict


@dataclass(frozen=True)
class ArmEffect:
    """One arm against the arm that has every factor at its baseline."""

    arm: str
    estimate: Estimate
