"""The mean of each metric over an arm's trials, with its interval.

Enters: the plan's arms, the trials that count. Leaves: an `ArmSummary` per arm.
Never: compares arms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics.intervals import mean_within, student
from pgassay.analysis.verdicts.model import ArmSummary
from pgassay.plan.model import Arm


def summarise_arms(arms: Sequence[Arm], trials: Sequence[TrialMeasures]) -> tuple[ArmSummary, ...]:
    """Averages each arm's trials, in the plan's order."""
    by_arm: dict[str, list[Mapping[str, float]]] = {arm.id: [] for arm in arms}
    for trial in trials:
        if trial.arm in by_arm:
            # Without a commit throughput is zero, and latency has no value.
            idle = {} if trial.whole.transactions else {"tps": 0.0}
            by_arm[trial.arm].append({**trial.whole.values, **idle})
        else:
            for name, values in by_arm.items():
                values += _over_slices(name, trial)
    summaries = []
    for arm in arms:
        own = by_arm[arm.id]
        by_metric = {
            name: known
            for name in dict.fromkeys([*METRICS, *(name for v in own for name in v)])
            if (known := [v[name] for v in own if name in v])
        }
        means = {name: sum(known) / len(known) for name, known in by_metric.items()}
        intervals = {
            # A ratio is never below zero, so its mean is not either.
            name: (max(ends[0], 0.0), ends[1]) if METRICS[name].scale == "ratio" else ends
            for name, known in by_metric.items()
            if (ends := mean_within(np.array(known), student(len(known))))
        }
        summaries.append(ArmSummary(arm.id, arm.label, arm.levels, len(own), means, intervals))
    return tuple(summaries)


def _over_slices(arm: str, trial: TrialMeasures) -> list[Mapping[str, float]]:
    """The mean of an arm's slices in one trial of a switchback or duet.

    A slice without a commit counts as a throughput of zero and has no latency.
    """
    slices = [one.values for one in trial.turns if one.arm == arm]
    names = set[str]().union(*slices)
    found = {n: [v[n] for v in slices if n in v] for n in sorted(names)}
    means = {n: sum(v) / len(slices if n == "tps" else v) for n, v in found.items()}
    return [means] if means else []
