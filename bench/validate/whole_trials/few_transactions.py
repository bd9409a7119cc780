"""Error rates where a trial has a dozen transactions; `make validate`.

Enters: nothing. Leaves: docs/measured/validation-few.md. Never: touches a server, or judges trials
by other rules than pgassay's.

One client runs transactions of 4 to 6 s, one after the other. A trial counts those that end within
its 60 s, so it counts 12 or 13 whatever happens in between. Their mean duration is known exactly.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product

import numpy as np

from bench import MEASURED
from bench.tables import Aim, page, rate, table
from bench.validate import looks
from bench.validate.parallel import spread
from bench.validate.whole_trials.false_positives import LARGE, MARGIN, Rule, plan_of
from pgassay.analysis.model import StepMeasures, TrialMeasures, Verdict
from pgassay.plan.model import Plan

OUTPUT = MEASURED / "validation-few.md"
PART = 50
"""Experiments that share a generator, and orders of arms that there are."""
RULE = Rule("8 blocks", 8, 8)
BEFORE_S, TRIAL_S = 13.0, 60.0
"""Of load before the measured time, and the measured time."""
SHORTEST_S, LONGEST_S = 4.0, 6.0
"""The mean duration of an experiment's transactions is drawn between these."""
DOUBLE = 1.0
_OTHER = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)
_SAME = (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)


@dataclass(frozen=True)
class World:
    """How transactions and trials vary."""

    name: str
    variation: float
    """Standard deviation ÷ mean of the durations in a trial."""
    scatter: float
    """Standard deviation of a trial's speed."""


WORLDS = (
    World("all durations equal, trials equal", 0.0, 0.0),
    World("durations of a trial equal, trials scatter by 0.5 %", 0.0, 0.005),
    World("durations vary by 10 %, trials by 0.5 %", 0.1, 0.005),
    World("durations vary by 50 %, trials by 1.5 %", 0.5, 0.015),
)
EFFECTS = (0.0, MARGIN, LARGE, DOUBLE)
"""Of the second arm: how much faster it is."""
Case = tuple[int, int]
"""Places of the world and the effect."""
Task = tuple[Case, int]
Tally = Counter[str]


def trials_of(
    plan: Plan, world: World, effect: float, source: np.random.Generator
) -> Iterator[TrialMeasures]:
    """One simulated experiment."""
    usual_s = source.uniform(SHORTEST_S, LONGEST_S)
    for trial in plan.trials:
        speed = math.exp(world.scatter * source.standard_normal())
        mean_s = usual_s / speed / (1.0 if trial.arm == "a1" else 1.0 + effect)
        at_most = round(4 * (BEFORE_S + TRIAL_S) / mean_s)
        durations = np.full(at_most, mean_s)
        if world.variation:
            shape = world.variation**-2
            durations = source.gamma(shape, mean_s / shape, at_most)
        ends = np.cumsum(durations)
        own = durations[(ends >= BEFORE_S) & (ends < BEFORE_S + TRIAL_S)]
        each_s = float(own.mean())
        step = StepMeasures(
            level=None,
            start_ns=0,
            end_ns=round(1e9 * TRIAL_S),
            transactions=len(own),
            values={"tps": len(own) / TRIAL_S, "latency_mean": 1e3 * each_s},
            clients=1.0,
            tps_by_duration=1.0 / each_s,
        )
        yield TrialMeasures(trial.number, trial.block, trial.position, trial.arm, step, (), ())


def do(task: Task) -> Tally:
    """Experiments of one part of one case."""
    (world, effect), part = task
    source = np.random.default_rng([part, world, effect])
    found = Tally()
    for seed in range(PART):
        plan = plan_of(RULE, seed, 2)
        trials = trials_of(plan, WORLDS[world], EFFECTS[effect], source)
        (verdict,) = looks.conclude(plan, trials)[0].verdicts()
        low, high = verdict.ci95_pct or (-100.0, math.inf)
        found.update(
            runs=1,
            different=verdict.verdict in _OTHER,
            same=verdict.verdict in _SAME,
            better=verdict.verdict is Verdict.BETTER,
            holds=low <= 100.0 * EFFECTS[effect] <= high,
        )
    return found


def simulate(runs: int) -> dict[Case, Tally]:
    """Sums over all parts; effects that only have to be found take a quarter of the runs."""
    cases = list(product(range(len(WORLDS)), range(len(EFFECTS))))
    every = [
        (case, part)
        for case in cases
        for part in range(max(1, runs // (PART if case[1] < 2 else 4 * PART)))
    ]
    sums = {case: Tally() for case in cases}
    for (case, _), tally in zip(every, spread(do, every), strict=True):
        sums[case].update(tally)
    return sums


def rows_of(found: Mapping[Case, Tally]) -> Iterator[list[str]]:
    """A row for each world."""
    for at, world in enumerate(WORLDS):
        none, margin, large, double = (found[at, effect] for effect in range(len(EFFECTS)))
        yield [
            world.name,
            rate(none["different"], none["runs"], Aim(0.0, 6.4)),
            rate(none["same"], none["runs"]),
            rate(margin["same"], margin["runs"], Aim(0.0, 5.0)),
            rate(margin["holds"], margin["runs"], Aim(93.6, 100.0)),
            rate(large["better"], large["runs"]),
            rate(double["better"], double["runs"], Aim(95.0, 100.0)),
        ]


def main(runs: int = 2000) -> None:
    """Write the page."""
    about = (
        f"{runs} experiments of {RULE.name} a cell, a quarter as many for effects of 5 and"
        f" 100 %, {datetime.now(UTC):%Y-%m-%d}. One client runs transactions of"
        f" {SHORTEST_S:g} to {LONGEST_S:g} s; a trial counts those that end within {TRIAL_S:g} s."
        " In brackets the 95 % interval of the share. Wanted: 6.4 % or less of identical arms"
        " called different; an effect of 2 %, which is the margin, called equivalent in 5 % or"
        " less; intervals that hold in 93.6 % or more; twice the speed always found. **Missed**"
        " stands where the interval of the share lies outside of that. Made by `make validate`"
        " (`bench/validate/whole_trials/few_transactions.py`)."
    )
    head = ("trials", "identical called different", "identical called equivalent",
            "2 % called equivalent", "interval holds", "5 % found", "100 % found")  # fmt: skip
    found = table(head, rows_of(simulate(runs)))
    text = page("Validation with few transactions", about, {"A dozen a trial": found})
    OUTPUT.write_text(text, "utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
