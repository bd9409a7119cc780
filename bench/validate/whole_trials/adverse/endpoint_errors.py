"""Error rates and power of the tail of latency as an endpoint beside throughput.

Enters: a number of experiments. Leaves: a table of the page of adverse conditions.
Never: writes a page; `adverse_conditions.py` does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.tables import Aim, rate, table
from bench.validate import looks
from bench.validate.parallel import spread
from bench.validate.whole_trials.false_positives import Rule, plan_of
from pgassay.analysis.model import Analysis, StepMeasures, TrialMeasures, Verdict
from pgassay.findings.answer.endpoints import badge, plain_badge
from pgassay.plan.model import Plan

PART = 100
SCATTER, TAIL_SCATTER = 0.015, 0.10
"""Of a trial's throughput, and of its 99th percentile beyond what throughput explains."""
RULES = (Rule("8 blocks", 8, 8), Rule("6 to 24, any block", 6, 24))
TAIL = "latency_p99"


@dataclass(frozen=True)
class World:
    """The effects, as shares."""

    throughput: float
    tail: float


WORLDS = (World(0.0, 0.0), World(0.05, 0.0), World(0.05, 0.30), World(0.0, 0.30))
HEAD = ("throughput / p99", "runs end", "throughput called different", "p99 called different",
        "plain BETTER", "mean blocks")  # fmt: skip
ABOUT = (
    "Throughput is the primary metric, the 99th percentile of latency an endpoint with a margin of"
    f" 5 %. Throughput of trials scatters by {100 * SCATTER:g} %, their 99th percentile by"
    f" {100 * TAIL_SCATTER:g} % beside; both scatter together. Without an effect 6.4 % or less may"
    " be called different, of each. The badge is a plain BETTER where p99 has no verdict; the"
    " sentence then calls it undecided."
)


def sections(runs: int) -> dict[str, list[str]]:
    """The table under its heading."""
    places = [(world, rule) for world in range(len(WORLDS)) for rule in range(len(RULES))]
    every = [(world, rule, part) for world, rule in places for part in range(-(-runs // PART))]
    sums = {place: Counter[str]() for place in places}
    for (world, rule, _), found in zip(every, spread(do, every), strict=True):
        sums[world, rule].update(found)
    rows = (_row(WORLDS[world], RULES[rule], sums[world, rule]) for world, rule in places)
    return {"A worse tail": [ABOUT, "", *table(HEAD, rows)]}


def do(task: tuple[int, int, int]) -> Counter[str]:
    """Experiments of one part of one world and rule."""
    world, rule, part = task
    source = np.random.default_rng([part, world, rule])
    found = Counter[str]()
    for seed in range(PART):
        plan = plan_of(RULES[rule], seed, 2)
        analysis, block = looks.conclude(plan, _trials(plan, WORLDS[world], source))
        (verdict,) = analysis.verdicts()
        ((tail, _),) = analysis.beside(verdict)
        found.update(
            runs=1,
            blocks=block,
            different=verdict.verdict in _DIFFERENT,
            tail=tail.verdict in _DIFFERENT,
            hidden=badge(verdict, Analysis(analysis)) == plain_badge(Verdict.BETTER)
            and tail.verdict is not Verdict.WORSE,
        )
    return found


_DIFFERENT = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)


def _trials(plan: Plan, world: World, source: np.random.Generator) -> Iterator[TrialMeasures]:
    for trial in plan.trials:
        changed = trial.arm != "a1"
        luck = SCATTER * source.standard_normal()
        values = {
            "tps": 9.0 + luck + changed * math.log1p(world.throughput),
            TAIL: 2.0 - luck + TAIL_SCATTER * source.standard_normal()
            + changed * math.log1p(world.tail),
        }  # fmt: skip
        step = StepMeasures(None, 0, 1, 1, {name: math.exp(x) for name, x in values.items()})
        yield TrialMeasures(trial.number, trial.block, trial.position, trial.arm, step, (), ())


def _row(world: World, rule: Rule, found: Counter[str]) -> list[str]:
    aim = Aim(0.0, 6.4)
    runs = found["runs"]
    return [
        f"{100 * world.throughput:+.0f} % / {100 * world.tail:+.0f} %",
        rule.name,
        rate(found["different"], runs, None if world.throughput else aim),
        rate(found["tail"], runs, None if world.tail else aim),
        rate(found["hidden"], runs) if world.tail else "–",
        f"{found['blocks'] / runs:.1f}",
    ]
