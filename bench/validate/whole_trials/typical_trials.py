"""How often the typical trial is shown beside the mean, and what it is then; `make validate`.

Enters: nothing. Leaves: the rows of a section of docs/measured/validation-losses.md. Never: touches
a server.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.tables import rate
from bench.validate.parallel import counted
from bench.validate.whole_trials.false_positives import MARGIN, Rule, plan_of
from pgassay.analysis.judge import judge
from pgassay.analysis.measures.model import StepMeasures, TrialMeasures
from pgassay.findings.answer.limits import typical
from pgassay.plan.model import Plan

HEAD = ("trials", "scatter", "blocks", "mean effect", "mean typical trial", "shown")
PART = 100
"""Experiments that share a generator, and orders of arms that there are."""
EFFECT, SLOWER = 0.03, 0.30
"""Of the level's usual trials; how much slower its slow ones are."""
SLOW = 0.2


@dataclass(frozen=True)
class World:
    """A level that is 3 % faster; of one arm some trials may be slower."""

    name: str
    scatter: float
    blocks: int
    slow_arm: int | None = None
    """Its place in the plan."""
    drift: float = 0.0
    """From trial to trial."""


WORLDS = (
    *(World("normal", sd, n) for sd in (0.015, 0.05) for n in (6, 12)),
    *(World("drift of 2 % from trial to trial", 0.015, n, drift=0.02) for n in (6, 12)),
    *(World("one of five of the level is 30 % slower", 0.015, n, slow_arm=1) for n in (6, 12)),
    *(World("one of five of the baseline is 30 % slower", 0.015, n, slow_arm=0) for n in (6, 12)),
)


def do_world(task: tuple[World, int]) -> Counter[str]:
    """Experiments of one part of one world; effects are summed in ten-thousandths."""
    world, part = task
    source = np.random.default_rng([part, world.blocks, *world.name.encode()])
    rule = Rule("", world.blocks, world.blocks)
    found = Counter[str]()
    for seed in range(PART):
        plan = plan_of(rule, seed, 2)
        analysis = judge(plan, list(_trials(plan, world, source)), of_verdicts_only=True).verdicts
        (verdict,) = analysis.verdicts()
        found.update(
            runs=1,
            shown=typical(verdict, MARGIN) is not None,
            mean=round(100 * (verdict.effect_pct or 0.0)),
            typical=round(100 * (verdict.typical_pct or 0.0)),
        )
    return found


def _trials(plan: Plan, world: World, source: np.random.Generator) -> Iterator[TrialMeasures]:
    arms = [arm.id for arm in plan.arms]
    for trial in plan.trials:
        place = arms.index(trial.arm)
        log = 9.0 + math.log1p(EFFECT) * place + world.drift * trial.number
        log += world.scatter * source.standard_normal()
        if place == world.slow_arm and source.random() < SLOW:
            log += math.log1p(-SLOWER)
        step = StepMeasures(None, 0, 1, 1, {"tps": math.exp(log)})
        yield TrialMeasures(trial.number, trial.block, trial.position, trial.arm, step, (), ())


def rows(runs: int) -> Iterator[list[str]]:
    """A row for each world."""
    for world, found in counted(do_world, WORLDS, -(-runs // PART)).items():
        count = found["runs"]
        yield [
            world.name,
            f"{100 * world.scatter:g} %",
            f"{world.blocks}",
            *(f"{found[name] / 100 / count:+.1f} %" for name in ("mean", "typical")),
            rate(found["shown"], count),
        ]
