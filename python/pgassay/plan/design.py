"""Randomised complete blocks.

Enters: a Spec. Leaves: a Plan; the same spec and seed give the same plan on every machine.
Never: reads a clock, a file or a server.

Design: every arm once per block, a fresh permutation per block (Fisher's randomised complete
block design; why, measured, in docs/methods.md).
"""

from __future__ import annotations

import itertools
import random

from pgassay.plan.model import Arm, Factor, Plan, PlannedTrial
from pgassay.plan.risks import find_risks
from pgassay.plan.steps import steps_of
from pgassay.spec.parse import Spec

RESET_S = 3.0
"""What a reset is taken to cost before one has been measured."""


def make_plan(spec: Spec) -> Plan:
    """Draw the whole plan, up to `max_blocks`."""
    design, load = spec.file.design, spec.file.load
    factors = tuple(Factor(name, kind, levels) for kind, name, levels in spec.file.factors.every())
    arms = _arms(factors)
    steps = steps_of(load)
    return Plan(
        question=spec.question,
        seed=spec.seed,
        factors=factors,
        arms=arms,
        steps=steps,
        trials=_ordered_trials(arms, design.max_blocks, spec.seed),
        min_blocks=design.min_blocks,
        max_blocks=design.max_blocks,
        smallest_effect=design.smallest_effect,
        metric=design.metric,
        trial_s=sum(step.duration_s for step in steps) + RESET_S,
        warnings=find_risks(spec),
        order=load.order,
    )


def _arms(factors: tuple[Factor, ...]) -> tuple[Arm, ...]:
    """Every combination of levels; the first is the baseline of all factors."""
    combinations = itertools.product(*(factor.levels for factor in factors))
    kinds = {factor.name: factor.kind for factor in factors}
    return tuple(
        Arm(f"a{number}", dict(zip((f.name for f in factors), levels, strict=True)), kinds)
        for number, levels in enumerate(combinations, start=1)
    )


def _ordered_trials(arms: tuple[Arm, ...], blocks: int, seed: int) -> tuple[PlannedTrial, ...]:
    # Only random() itself is promised to give the same numbers in every Python, shuffle() is not.
    source = random.Random(seed)
    trials: list[PlannedTrial] = []
    for block in range(1, blocks + 1):
        drawn = [(source.random(), arm.id) for arm in arms]
        for position, (_, arm) in enumerate(sorted(drawn), start=1):
            trials.append(PlannedTrial(len(trials) + 1, block, position, arm))
    return tuple(trials)
