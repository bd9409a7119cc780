"""The values of trials of one arm, by side and run.

Enters: sides, an arm that all have, a metric, a load. Leaves: values on the scale of comparison.
Never: takes a trial of another arm.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pgassay.analysis.apart.arms import CommonArm
from pgassay.analysis.apart.model import Side
from pgassay.analysis.apart.spread import Values
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.reading.metrics import Metric


def values_of(
    sides: Sequence[Side], arm: CommonArm, metric: Metric, step: float | None
) -> list[list[Values]]:
    """By side and run: the trials' values."""
    found, place = list[list[Values]](), 0
    for side in sides:
        of_side = []
        for run in side.runs:
            measured = (one.at(step) for one in trials_of(run.trials, arm, place))
            values = (one.values.get(metric.name) for one in measured if one is not None)
            of_side.append(_scaled(metric, [value for value in values if value is not None]))
            place += 1
        found.append(of_side)
    return found


def trials_of(trials: Sequence[TrialMeasures], arm: CommonArm, place: int) -> list[TrialMeasures]:
    """Those of the arm in the run that has this place over all sides."""
    return [trial for trial in trials if trial.arm in arm.ids[place]]


def _scaled(metric: Metric, values: Sequence[float]) -> Values:
    """The values on the scale of comparison; what has no logarithm is left out."""
    found = np.array(values, dtype=np.float64)
    return np.log(found[found > 0.0]) if metric.scale == "ratio" else found
