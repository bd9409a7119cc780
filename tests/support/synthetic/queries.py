"""A made-up set of queries of a made-up run: times, blocks, plans and failures.

Enters: a context, how much each query changes. Leaves: the context with verdicts on the set.
Never: needs a server.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pgassay.analysis.queries.effects import query_set
from pgassay.analysis.queries.model import ExplainPlan, QueryCosts, TrialQueries
from pgassay.report.context import ReportContext
from support.synthetic.analyses import changed
from support.synthetic.plans import plan, scan

SAME: ExplainPlan = plan(scan("item"))


def with_queries(
    context: ReportContext,
    changes: Mapping[str, float],
    plans: Mapping[str, tuple[ExplainPlan, ExplainPlan]] | None = None,
    failing: str = "",
) -> ReportContext:
    """`changes` are shares by query, `plans` those of the baseline and of the level; `failing` is a
    query that fails with each level but the baseline."""
    source = np.random.default_rng(7)
    trials = []
    for trial in context.plan.trials:
        at_baseline = trial.arm == context.plan.arms[0].id
        ms, costs, explained = {}, {}, {}
        for at, (name, change) in enumerate(changes.items(), start=1):
            there = at_baseline or name != failing
            noise = 0.03 * source.standard_normal()
            if there:
                ms[name] = at * math.exp(noise) * (1.0 if at_baseline else 1.0 + change)
            blocks = 100.0 * at * (1.0 if at_baseline else 1.0 + change)
            costs[name] = QueryCosts(
                hit=blocks, read=3.0, temp_read=0.0, temp_written=float(at % 2)
            )
            explained[name] = (plans or {}).get(name, (SAME, SAME))[not at_baseline]
        failed = {} if at_baseline or not failing else {failing: {"57014": 3}}
        given: dict[str, Any] = {"costs": costs, "plans": explained, "failed": failed}
        trials.append(TrialQueries(trial.number, trial.block, trial.arm, ms, **given))
    found = query_set(context.plan, trials)
    return replace(context, analysis=changed(context.analysis, queries=found))
