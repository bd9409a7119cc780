"""Trials in which all arms alternate (switchback and duet), and the order of their slices.

Enters: the load, the length of slices; a Plan and its trials. Leaves: planned trials; the order of
arms, round by round. Never: uses the engine; the same seed gives the same order everywhere.

Every round has each arm once, in a random order: without an effect, the sign of each round's
difference is a fair coin, whatever the host does meanwhile. Trials have slices of several lengths,
because an effect that outlasts its slice is smaller in shorter slices: the first trials have short
ones, which show an effect soonest, later trials long ones, without which nobody can say that
there is none.

Source: Bojinov, Simchi-Levi & Zhao, "Design and Analysis of Switchback Experiments", Management
Science 69 (2023).
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from pgassay.notes import Note
from pgassay.plan.model import ALL_ARMS, Factor, Plan, PlannedTrial
from pgassay.plan.steps import steps_of
from pgassay.spec.load.slices import SHORTEST_S
from pgassay.spec.load.table import LoadTable

FEWEST_ROUNDS = 8
"""A trial with fewer rounds hardly shows its own spread."""
ROUNDS_OF_LONG = 5
"""In trials with long slices; one more than needed to show their spread."""
LONGEST_S = 8.0
"""Longer ones would add more of the host's drift than they show of effects that last 4 s."""
FIRST_SHORT = 4
"""Trials with short slices before those with long ones."""
FOR_EQUIVALENCE = 12
"""Most trials of a plan from which on later ones have long slices: with fewer, equivalence can
hardly be shown anyway."""
LONG_S = 2.0
"""Between longer slices the host drifts more, which the plan reports as a risk."""


def slice_lengths(asked: float) -> tuple[float, float]:
    """Returns two lengths of slices in seconds: the one asked for and half of it, or twice where
    half is too short."""
    return asked, asked / 2 if asked / 2 >= SHORTEST_S else asked * 2


def why_load_cannot_alternate(load: LoadTable) -> Note | None:
    """Returns why the load cannot change from arm to arm within a trial; None where it can."""
    if load.command is not None:
        return Note("plan/program")
    if load.slices is not None:
        return Note("plan/has-slices")
    return None


def why_scripts_cannot_alternate(load: LoadTable) -> Note | None:
    """Returns why scripts and weights cannot change from slice to slice; None where they can."""
    if load.pools == "per_scenario":
        return Note("plan/own-pools")
    return None


def why_slices_do_not_fit(
    load: LoadTable, slice_s: float, factors: Sequence[Factor], most_arms: int
) -> Note | None:
    """Returns why a trial cannot hold enough slices of all combinations of levels; None where it
    can."""
    arms = math.prod(len(factor.levels) for factor in factors)
    measured = [step for step in steps_of(load) if step.measured]
    if len(measured) > 1:
        return Note("plan/several-steps")
    if arms > most_arms:
        return Note("plan/many-arms", {"arms": arms, "most_arms": most_arms})
    longest = max(slice_lengths(slice_s))
    needed_s = FEWEST_ROUNDS * arms * longest
    duration_s = measured[0].duration_s
    if duration_s >= needed_s:
        return None
    sizes = {"rounds": FEWEST_ROUNDS, "arms": arms, "longest": longest, "needed_s": needed_s}
    return Note("plan/short-step", {"duration_s": duration_s, **sizes})


def long_slice(slice_s: float, measured_s: float, arms: int) -> float | None:
    """Returns the length of the slices of later trials in seconds; None where it would hardly be
    longer."""
    longest = min(LONGEST_S, math.floor(10.0 * measured_s / (ROUNDS_OF_LONG * arms)) / 10.0)
    return longest if longest >= 2.0 * slice_s else None


def alternating_trials(
    least: int, most: int, lengths: Sequence[float], later_s: float | None = None
) -> tuple[PlannedTrial, ...]:
    """Plans one trial per block, with each length of slices in turn; a single trial has the first.

    Those after the first four have slices of `later_s`, in plans of at least twelve trials.
    """
    used = lengths if least > 1 or most > 1 else lengths[:1]
    short = FIRST_SHORT if later_s is not None and most >= FOR_EQUIVALENCE else most

    def length(block: int) -> float:
        if later_s is not None and block > short:
            return later_s
        return used[(block - 1) % len(used)]

    return tuple(
        PlannedTrial(block, block, 1, ALL_ARMS, slice_s=length(block))
        for block in range(1, most + 1)
    )


def round_count(plan: Plan, trial: PlannedTrial) -> int:
    """Returns how many rounds of slices a trial holds; 0 if arms do not alternate in it."""
    if trial.slice_s is None:
        return 0
    return int(plan.measured_s / (trial.slice_s * len(plan.arms)) + 1e-9)


def rounds_of(plan: Plan, trial: PlannedTrial) -> tuple[tuple[str, ...], ...]:
    """Returns the arms of a trial in the order of their slices, one tuple per round."""
    count = round_count(plan, trial)
    # A text seeds other draws than the number that orders arms in blocks.
    source = random.Random(f"{plan.seed}/{trial.block}/{trial.repeats or 0}")
    rounds = []
    for _ in range(count):
        drawn = sorted((source.random(), arm.id) for arm in plan.arms)
        rounds.append(tuple(arm for _, arm in drawn))
    return tuple(rounds)
