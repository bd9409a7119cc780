"""Turns: trials in which all arms alternate, and the order of their slices.

Enters: a Spec, a Plan, a trial of it. Leaves: planned trials; the order of arms, round by round.
Never: knows the engine; the same seed gives the same order on every machine.

Every round has each arm once, in an order drawn anew: under no effect the sign of each round's
difference is a fair coin, whatever the host does meanwhile. Half of the trials have slices of
another length: an effect that outlasts its slice is smaller in the shorter ones.

Source: Bojinov, Simchi-Levi & Zhao, "Design and Analysis of Switchback Experiments", Management
Science 69 (2023).
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from pgassay.plan.model import ALL_ARMS, Plan, PlannedTrial
from pgassay.plan.steps import steps_of
from pgassay.spec.parse import Spec
from pgassay.spec.slices import SHORTEST_S

SCRIPTS = ("scenarios", "weights")
"""Kinds of factor that say what the load sends."""
FEWEST_ROUNDS = 8
"""Rounds of a trial below which its own spread is hardly known."""
LONG_S = 2.0
"""Slices beyond this let more drift in; a risk of the plan."""


def lengths_of(spec: Spec) -> tuple[float, float]:
    """The slice as asked for, and half of it; twice where half is shorter than can be had."""
    asked = spec.file.design.slice
    return asked, asked / 2 if asked / 2 >= SHORTEST_S else asked * 2


def why_load_takes_no_turns(spec: Spec) -> str | None:
    """Why the load cannot go from arm to arm; None where it can."""
    if spec.file.load.command is not None:
        return "a program of your own knows no slices"
    if spec.file.load.slices is not None:
        return "[load.slices] alternates variants of its own"
    return None


def why_scripts_take_no_turns(spec: Spec) -> str | None:
    """Why scripts and weights cannot change from slice to slice; None where they can."""
    if spec.file.load.pools == "per_scenario":
        return "with pools per scenario each script has connections of its own"
    return None


def why_no_room(spec: Spec, arms: int, most_arms: int) -> str | None:
    """Why a trial has no room for so many arms in turn; None where it has."""
    measured = [step for step in steps_of(spec.file.load) if step.measured]
    if len(measured) > 1:
        return "a trial has several steps, and slices need one load that stays"
    if arms > most_arms:
        return f"{arms} arms make rounds too long; {most_arms} at most can take turns"
    longest = max(lengths_of(spec))
    needed_s = FEWEST_ROUNDS * arms * longest
    if measured[0].duration_s < needed_s:
        return (
            f"a step of {measured[0].duration_s:g} s holds fewer than {FEWEST_ROUNDS} rounds of"
            f" {arms} slices of {longest:g} s; make load.step {needed_s:g}s or more"
        )
    return None


def alternating_trials(least: int, most: int, lengths: Sequence[float]) -> tuple[PlannedTrial, ...]:
    """One trial per block, of each length by turns; a single one has the length asked for."""
    used = lengths if least > 1 or most > 1 else lengths[:1]
    return tuple(
        PlannedTrial(block, block, 1, ALL_ARMS, slice_s=used[(block - 1) % len(used)])
        for block in range(1, most + 1)
    )


def round_count(plan: Plan, trial: PlannedTrial) -> int:
    """How many rounds of slices a trial holds; none where arms do not take turns in it."""
    if trial.slice_s is None:
        return 0
    return int(plan.measured_s / (trial.slice_s * len(plan.arms)) + 1e-9)


def rounds_of(plan: Plan, trial: PlannedTrial) -> tuple[tuple[str, ...], ...]:
    """The arms of an alternating trial in the order of their slices, round by round."""
    count = round_count(plan, trial)
    # The string keeps it apart from the draws that order arms in blocks.
    source = random.Random(f"{plan.seed}/{trial.block}/{trial.repeats or 0}")
    rounds = []
    for _ in range(count):
        drawn = sorted((source.random(), arm.id) for arm in plan.arms)
        rounds.append(tuple(arm for _, arm in drawn))
    return tuple(rounds)
