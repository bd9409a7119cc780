"""A set of queries as a whole: means and totals over the queries that never failed.

Enters: the effects of one level, the times of its queries by block, the run's rule. Leaves: a
`SetSummary`. Never: counts a query that failed in some trial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.blocks.contrasts import Pairs
from pgassay.analysis.compare.estimate import both, bounded, estimate
from pgassay.analysis.compare.model import SAME, Verdict
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.queries.model import QueryEffect, SetSummary
from pgassay.analysis.statistics.values import ratio_pct


def summarise(effects: Sequence[QueryEffect], times: Mapping[str, Pairs], rule: Rule) -> SetSummary:
    """Returns the summary of one level; `effects` are of this level, one at least, `times` those of
    its queries, in logarithms.

    Blocks that lack one of the queries lie outside of the ratios.
    """
    blocks = max((len(one.level) for one in times.values()), default=0)
    whole = {name: one for name, one in times.items() if len(one.level) == blocks}
    weights = {one.query: one.weight for one in effects}
    verdicts = [one.verdict for one in effects]
    first = effects[0]
    means: tuple[float | None, tuple[float, float] | None] = None, None
    totals: tuple[float | None, float | None] = None, None
    of_total = means
    if whole:
        before = np.array([one.baseline for one in whole.values()])
        after = np.array([one.level for one in whole.values()])
        means = _ratio((after - before).mean(axis=0), rule)
        each = np.array([weights[name] for name in whole])
        if each.any():
            spent = each @ np.exp(before), each @ np.exp(after)
            totals = float(spent[0].mean()), float(spent[1].mean())
            of_total = _ratio(np.log(spent[1]) - np.log(spent[0]), rule)
    return SetSummary(
        factor=first.factor,
        baseline=first.baseline,
        level=first.level,
        blocks=blocks,
        compared=len(whole),
        better=verdicts.count(Verdict.BETTER),
        worse=verdicts.count(Verdict.WORSE),
        equivalent=sum(one in SAME for one in verdicts),
        undecided=verdicts.count(Verdict.UNDECIDED),
        plans_changed=sum(bool(one.plan_differs) for one in effects),
        mean_pct=means[0],
        mean_ci95_pct=means[1],
        baseline_total_ms=totals[0],
        total_ms=totals[1],
        total_pct=of_total[0],
        total_ci95_pct=of_total[1],
    )


def _ratio(
    differences: NDArray[np.float64], rule: Rule
) -> tuple[float, tuple[float, float] | None]:
    found = estimate(differences, rule.margins(1.0, ratio=True), rule, judged=False)
    ends = bounded(both(found.interval, ratio_pct), least=-100.0)
    return ratio_pct(found.mean), ends
