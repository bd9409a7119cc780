"""What an analysis says of arms that take turns, and of verdicts not given, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Withdrawn(StrEnum):
    """Why a verdict is not given although its interval may have reached one."""

    CARRY_OVER = "carry-over"
    IDLE_ROUNDS = "idle-rounds"
    STANDSTILL = "standstill"
    """Of blocks: whole trials of an arm in which nothing was committed."""
    LOST_TRIALS = "lost-trials"
    """Of blocks: trials of one arm broke off or did not count, oftener than chance explains."""
    UNFINISHED = "unfinished"
    """The blocks that were fixed beforehand have not all run."""


@dataclass(frozen=True)
class RoundEffects:
    """A level against its factor's baseline in every round of slices, in the order of time."""

    factor: str
    level: str
    blocks: tuple[int, ...]
    effects_pct: tuple[float, ...]


class CarryOverTest(StrEnum):
    """How an effect that outlasts its slice is looked for."""

    BEFORE = "after a slice of the same arm against after another"
    WITHIN = "early against late part of slices"
    LENGTH = "longer against shorter slices"


@dataclass(frozen=True)
class CarryOver:
    """How much a level's effect differs where a slice before it should matter more and less."""

    factor: str
    level: str
    test: CarryOverTest
    first_pct: float
    """The effect after a slice of the same arm, early in slices, or in the longer ones;"""
    second_pct: float
    """after a slice of another arm, late in them, or in the shorter ones."""
    difference_pct: float
    ci95_pct: tuple[float, float] | None
    p: float | None
    found: bool
    """p passes its part of 5 %, shared by all such tests at all looks of the run."""
    outweighs: bool
    """It is found and large enough to have made or hidden the verdict, which is withdrawn then."""
    found_after: int | None = None
    """Blocks of the first look that found it; at later ones it stays found."""
