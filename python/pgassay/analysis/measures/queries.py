"""The time of a query set: the primary metric of its trials.

Enters: the measures of trials. Leaves: the same with `queries_mean`. Never: compares arms.

It is the geometric mean over the queries of the time of each, so that a change by a factor
counts the same in a short and in a long query. Queries that failed in some trial are in none: else
an arm would be faster because its slowest query failed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pgassay.analysis.measures.model import StepMeasures, TrialMeasures
from pgassay.spec.endpoints import OF_QUERIES


def queries_that_count(trials: Sequence[TrialMeasures]) -> frozenset[str]:
    """Returns the queries that have a time in every trial, and failed in none."""
    of_each = (
        {one.scenario for one in trial.scenarios if one.quantiles_ms and not one.failed}
        for trial in trials
    )
    return frozenset(set.intersection(*of_each)) if trials else frozenset()


def with_query_times(trials: Sequence[TrialMeasures]) -> list[TrialMeasures]:
    """Returns the trials of a query set with the value of its metric in each; without one where no
    query counts."""
    counted = queries_that_count([trial for trial in trials if not trial.invalid])
    return [_with_time(trial, counted) for trial in trials]


def _with_time(trial: TrialMeasures, counted: frozenset[str]) -> TrialMeasures:
    times = [
        one.quantiles_ms["mean"]
        for one in trial.scenarios
        if one.scenario in counted and one.quantiles_ms
    ]
    if not times or not all(times):
        return trial
    mean = math.exp(sum(map(math.log, times)) / len(times))

    def measured(step: StepMeasures) -> StepMeasures:
        return replace(step, values={**step.values, OF_QUERIES: mean})

    return replace(trial, whole=measured(trial.whole), steps=tuple(map(measured, trial.steps)))
