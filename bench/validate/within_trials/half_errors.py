"""Error rates and power of the test whether effects change within trials: `make validate`.

Enters: nothing. Leaves: docs/measured/validation-halves.md. Never: touches a server.

Trials are drawn second by second, in the orders of pgassay's own plans; runs end by its stopping
rule, and the halves are tested after that, as in a report.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from bench import MEASURED
from bench.tables import Aim, page, rate, table
from bench.validate import looks
from bench.validate.parallel import spread
from bench.validate.whole_trials.false_positives import MARGIN, Rule, plan_of
from bench.validate.within_trials.courses import Array, course_of, inert_noise
from pgassay.analysis.compare.model import Dependence
from pgassay.analysis.curves.halves import effects_by_half
from pgassay.analysis.model import Analysis, Behaviour, StepMeasures, TrialMeasures, Verdict
from pgassay.findings.answer.endpoints import badge, plain_badge
from pgassay.plan.model import Plan

OUTPUT = MEASURED / "validation-halves.md"
PART = 100
"""Experiments that share a generator, and orders of arms that there are."""
SECONDS = 60
SPREAD, MEMORY = 0.03, 0.8
"""Standard deviation of a second, and its autocorrelation."""
START = 0.0095
"""What a trial's seconds share; with them a trial's mean scatters by 1.5 %."""
RULES = (Rule("8 blocks", 8, 8), Rule("6 to 24, any block", 6, 24))
_UNIFORM = tuple(
    map(plain_badge, (Verdict.BETTER, Verdict.WORSE, Verdict.EQUIVALENT, Verdict.NEGLIGIBLE))
)


@dataclass(frozen=True)
class World:
    """What the other levels have on top of the baseline, from the first second to the last."""

    name: str
    start: float = 0.0
    end: float = 0.0
    until: float = 1.0
    """The share of the trial after which nothing is left."""

    @property
    def changes(self) -> bool:
        return self.start != self.end or self.until < 1.0

    def effect(self) -> Array:
        share = (np.arange(SECONDS) + 0.5) / SECONDS
        found: Array = self.start + (self.end - self.start) * share
        return np.where(share < self.until, found, 0.0)


WORLDS = (
    World("no effect"),
    World("+9 % in the first third only", start=0.09, end=0.09, until=1 / 3),
    World("+6 % falling to −6 %", start=0.06, end=-0.06),
)
CASES = ((0, 0), (0, 1), (1, 0), (2, 0))
"""Places of the world and the rule. Runs that may end early and find nothing cost most."""


def seconds_of(world: World, plan: Plan, source: np.random.Generator) -> Array:
    """Throughput of every second of every planned trial."""
    count = len(plan.trials)
    noise = SPREAD * inert_noise(source, count, SECONDS, MEMORY)
    noise += START * source.standard_normal((count, 1))
    moved = np.array([trial.arm != plan.arms[0].id for trial in plan.trials])
    noise += np.where(moved[:, None], np.log1p(world.effect()), 0.0)
    found: Array = np.exp(9.0 + noise)
    return found


def trials_of(plan: Plan, seconds: Array) -> Iterator[TrialMeasures]:
    for trial, tps in zip(plan.trials, seconds.mean(axis=1).tolist(), strict=True):
        step = StepMeasures(None, 0, 1, 1, {"tps": tps})
        yield TrialMeasures(trial.number, trial.block, trial.position, trial.arm, step, (), ())


Task = tuple[int, int, int]
"""Places of the world and the rule, a part."""


def do(task: Task) -> Counter[str]:
    """Experiments of one part of one world and rule."""
    at, rule, part = task
    world = WORLDS[at]
    source = np.random.default_rng([part, at, rule])
    found = Counter[str]()
    for seed in range(PART):
        plan = plan_of(RULES[rule], seed, 2)
        seconds = seconds_of(world, plan, source)
        analysis, block = looks.conclude(plan, trials_of(plan, seconds))
        courses = [
            replace(course_of(tps, number=trial.number, arm=trial.arm), block=trial.block)
            for trial, tps in zip(plan.trials, seconds, strict=True)
            if trial.block <= block
        ]
        verdicts = analysis.verdicts()
        halves = effects_by_half(plan, analysis.trials, courses, verdicts)
        first = verdicts[0]
        truth = 100.0 * world.effect()
        found.update(
            runs=1,
            blocks=block,
            reported=any(one.verdict is Dependence.DEPENDS for one in halves),
            decided=first.verdict is not Verdict.UNDECIDED,
            uniform=badge(first, Analysis(analysis, Behaviour(by_half=halves))) in _UNIFORM,
            holds=_holds(halves[0].second.ci95_pct, truth[SECONDS // 2 :]),
        )
    return found


def _holds(interval: tuple[float, float] | None, seconds: Array) -> bool:
    """Whether the interval of the second half has its true effect in it."""
    low, high = interval or (-math.inf, math.inf)
    return low <= float(seconds.mean()) <= high


def rows(runs: int) -> Iterator[list[str]]:
    """Each world by each rule."""
    every = [(*case, part) for case in CASES for part in range(-(-runs // PART))]
    sums = {case: Counter[str]() for case in CASES}
    for (world_at, rule, _), found in zip(every, spread(do, every), strict=True):
        sums[world_at, rule].update(found)
    for (at, rule), of_case in sums.items():
        world, count = WORLDS[at], of_case["runs"]
        yield [
            world.name,
            RULES[rule].name,
            rate(of_case["reported"], count, None if world.changes else Aim(0.0, 6.4)),
            rate(of_case["decided"], count),
            rate(of_case["uniform"], count),
            rate(of_case["holds"], count, Aim(93.6, 100.0)),
            f"{of_case['blocks'] / count:.1f}",
        ]


def main(runs: int = 2000) -> None:
    """Write the page."""
    about = (
        f"{runs} experiments a row, {datetime.now(UTC):%Y-%m-%d}. Trials of {SECONDS} s, whose"
        f" seconds scatter by {100 * SPREAD:g} % with an autocorrelation of {MEMORY:g}, so that"
        f" their means scatter by 1.5 %; the smallest effect is {100 * MARGIN:g} %. Reported: the"
        " sentence of the verdict says that the difference changes within trials; wanted in 6.4 %"
        " or less where it does not. A plain badge claims the verdict for the whole trial. In"
        " brackets the 95 % interval of the share. Made by `make validate`"
        " (`bench/validate/within_trials/half_errors.py`); what is done:"
        " [verdicts](../methods/verdicts.md#what-limits-a-verdict)."
    )
    head = ("effect", "runs end", "change reported", "decided", "plain badge",
            "interval of the second half holds", "mean blocks")  # fmt: skip
    text = page("Validation of effects that change within trials", about,
                {"": table(head, rows(runs))})  # fmt: skip
    OUTPUT.write_text(text, "utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
