"""Error rates, trials and intervals where several levels share the error step by step.

Enters: a number of experiments. Leaves: a table of the page of adverse conditions.
Never: writes a page; `adverse_conditions.py` does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from bench.tables import Aim, rate, table
from bench.validate import looks
from bench.validate.parallel import spread
from bench.validate.whole_trials.false_positives import MARGIN, Rule, plan_of
from pgassay.analysis.model import StepMeasures, TrialMeasures, Verdict
from pgassay.plan.model import Plan

PART = 50
SCATTER = 0.015
RULE = Rule("6 to 24, any block", 6, 24)
LEVELS = (3, 4, 8)
WITH_AN_EFFECT = {"no effect": 0.0, "one level has 2 %": 0.4, "half of them have": 0.5}
"""Name → the share of levels with an effect of the size of the margin; at least one if not zero."""
HEAD = ("levels", "effects", "a false difference", "a false equivalence", "each interval holds",
        "all hold", "verdicts reached", "trials")  # fmt: skip
ABOUT = (
    "The baseline is one of the levels; runs end after any block from 6 to 24. A verdict that is"
    " reached leaves its share of the error to the others, and its arm has no further trials."
    " False differences and equivalences are those of any level, and may come in 6.4 and 5 % of"
    " runs; each interval should hold in 95 %. By Bonferroni's rule, with all arms in all blocks,"
    " 3, 4 and 8 levels without an effect took 52, 79 and 182 trials."
)
_DIFFERENT = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)
_INSIDE = (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)
Case = tuple[int, str]


def sections(runs: int) -> dict[str, list[str]]:
    """The table under its heading."""
    cases = [(levels, name) for levels in LEVELS for name in WITH_AN_EFFECT]
    every = [(case, part) for case in cases for part in range(-(-runs // PART))]
    sums = {case: Counter[str]() for case in cases}
    for (case, _), found in zip(every, spread(do, every, lambda task: task[0][0]), strict=True):
        sums[case].update(found)
    return {"Several levels": [ABOUT, "", *table(HEAD, (_row(c, sums[c]) for c in cases))]}


def effects(case: Case) -> list[float]:
    """Of every level but the baseline, on a logarithmic scale; every second one is a loss."""
    count, share = case[0] - 1, WITH_AN_EFFECT[case[1]]
    changed = 1 if 0.0 < share < 0.5 else round(share * count)
    size = math.log1p(MARGIN)
    return [(size if at % 2 == 0 else -size) if at < changed else 0.0 for at in range(count)]


def do(task: tuple[Case, int]) -> Counter[str]:
    """Experiments of one part of one case."""
    case, part = task
    truths = effects(case)
    source = np.random.default_rng([part, case[0], *case[1].encode()])
    found = Counter[str]()
    for seed in range(PART):
        plan = plan_of(RULE, seed, case[0])
        analysis, _ = looks.conclude(plan, _trials(plan, truths, source))
        verdicts = list(zip(analysis.verdicts(), truths, strict=True))
        intervals = [(v.ci95_pct or (-100.0, math.inf), truth) for v, truth in verdicts]
        holds = [low <= 100.0 * math.expm1(t) <= high for (low, high), t in intervals]
        found.update(
            runs=1,
            trials=len(analysis.trials),
            reached=sum(v.verdict is not Verdict.UNDECIDED for v, _ in verdicts),
            different=any(v.verdict in _DIFFERENT for v, truth in verdicts if not truth),
            equivalent=any(v.verdict in _INSIDE for v, truth in verdicts if truth),
            hold=sum(holds),
            all_hold=all(holds),
        )
    return found


def _trials(
    plan: Plan, truths: Sequence[float], source: np.random.Generator
) -> Iterator[TrialMeasures]:
    gains = dict(zip((arm.id for arm in plan.arms), (0.0, *truths), strict=True))
    for trial in plan.trials:
        value = 9.0 + SCATTER * source.standard_normal() + gains[trial.arm]
        step = StepMeasures(None, 0, 1, 1, {"tps": math.exp(value)})
        yield TrialMeasures(trial.number, trial.block, trial.position, trial.arm, step, (), ())


def _row(case: Case, found: Counter[str]) -> list[str]:
    levels, name = case
    runs, verdicts = found["runs"], found["runs"] * (levels - 1)
    return [
        str(levels),
        name,
        rate(found["different"], runs, Aim(0.0, 6.4)),
        rate(found["equivalent"], runs, Aim(0.0, 5.0)) if any(effects(case)) else "–",
        rate(found["hold"], verdicts, Aim(95.0, 100.0)),
        rate(found["all_hold"], runs),
        f"{100 * found['reached'] / verdicts:.0f} %",
        f"{found['trials'] / runs:.0f}",
    ]
