"""Error rates and blocks of runs that may have so many blocks that not each of them is a look.

Enters: a number of experiments. Leaves: a table of the page of adverse conditions.
Never: writes a page; `adverse_conditions.py` does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np

from bench.tables import Aim, rate, table
from bench.validate import looks
from bench.validate.parallel import spread
from bench.validate.whole_trials.false_positives import MARGIN, Rule, plan_of
from pgassay.analysis.model import StepMeasures, TrialMeasures, Verdict
from pgassay.plan.model import Plan

PART = 50
RULES = (
    Rule("6 to 24, any block", 6, 24),
    Rule("6 to 100, every second block", 6, 100),
)
SCATTERS = (0.015, 0.04)
HEAD = ("trials scatter by", "runs end", "identical called different", "2 % called equivalent",
        "verdict reached, none / 2 %", "mean blocks, none / 2 %")  # fmt: skip
ABOUT = (
    "Two levels. A run that may have more than 48 looks has them at every second, third, … block."
    " Wanted as above."
)
_DIFFERENT = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)
_SAME = (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)
Case = tuple[float, int, float]
"""The scatter, the place of the rule, the effect."""


def sections(runs: int) -> dict[str, list[str]]:
    """The table under its heading."""
    cases = [(s, at, e) for s in SCATTERS for at in range(len(RULES)) for e in (0.0, MARGIN)]
    every = [(case, part) for case in cases for part in range(-(-runs // PART))]
    sums = {case: Counter[str]() for case in cases}
    for (case, _), found in zip(every, spread(do, every, _cost), strict=True):
        sums[case].update(found)
    rows = (
        _row(scatter, at, sums[scatter, at, 0.0], sums[scatter, at, MARGIN])
        for scatter in SCATTERS
        for at in range(len(RULES))
    )
    return {"Long runs": [ABOUT, "", *table(HEAD, rows)]}


def _cost(task: tuple[Case, int]) -> float:
    """Noise keeps a run from ending."""
    (scatter, at, _), _ = task
    return scatter * RULES[at].most


def do(task: tuple[Case, int]) -> Counter[str]:
    """Experiments of one part of one case."""
    (scatter, at, effect), part = task
    source = np.random.default_rng([part, at, round(1000 * scatter)])
    found = Counter[str]()
    for seed in range(PART):
        plan = plan_of(RULES[at], seed, 2)
        analysis, block = looks.conclude(plan, _trials(plan, scatter, effect, source))
        (one,) = analysis.verdicts()
        found.update(
            runs=1,
            blocks=block,
            reached=one.verdict is not Verdict.UNDECIDED,
            different=one.verdict in _DIFFERENT,
            same=one.verdict in _SAME,
        )
    return found


def _trials(
    plan: Plan, scatter: float, effect: float, source: np.random.Generator
) -> Iterator[TrialMeasures]:
    # All are drawn before the run begins, so that its end does not shift those of the next.
    values = 9.0 + scatter * source.standard_normal(len(plan.trials))
    for trial, value in zip(plan.trials, values.tolist(), strict=True):
        gain = math.log1p(effect) if trial.arm == plan.arms[1].id else 0.0
        step = StepMeasures(None, 0, 1, 1, {"tps": math.exp(value + gain)})
        yield TrialMeasures(trial.number, trial.block, trial.position, trial.arm, step, (), ())


def _row(scatter: float, at: int, none: Counter[str], margin: Counter[str]) -> list[str]:
    both = none, margin
    return [
        f"{100 * scatter:g} %",
        RULES[at].name,
        rate(none["different"], none["runs"], Aim(0.0, 6.4)),
        rate(margin["same"], margin["runs"], Aim(0.0, 5.0)),
        " / ".join(f"{100 * one['reached'] / one['runs']:.0f} %" for one in both),
        " / ".join(f"{one['blocks'] / one['runs']:.1f}" for one in both),
    ]
