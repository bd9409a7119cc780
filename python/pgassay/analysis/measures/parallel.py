"""Trials without parallel workers beside trials with them.

Enters: the trials of a run. Leaves: the same, where the time of parallel workers is known in all.
Never: adds it to a run whose queries never ran in parallel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgassay.analysis.measures.model import StepMeasures, TrialMeasures
from pgassay.analysis.reading.metrics import PARALLEL, UNACCOUNTED


def with_parallel_time(trials: Sequence[TrialMeasures]) -> list[TrialMeasures]:
    """Zero for trials that had none, where some trial had some."""
    if not any(PARALLEL.metric in one.values for each in trials for one in _all(each)):
        return list(trials)
    return [
        replace(one, whole=_known(one.whole), steps=tuple(map(_known, one.steps))) for one in trials
    ]


def _all(trial: TrialMeasures) -> tuple[StepMeasures, ...]:
    return trial.whole, *trial.steps


def _known(step: StepMeasures) -> StepMeasures:
    """Where sessions were sampled, which the time unaccounted tells."""
    if UNACCOUNTED.metric not in step.values:
        return step
    return replace(step, values={PARALLEL.metric: 0.0, **step.values})
