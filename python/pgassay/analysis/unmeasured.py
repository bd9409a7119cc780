"""What some arms measure and others do not, so that it is not left out in silence.

Enters: the plan, the measures of finished trials. Leaves: a doubt for each such metric.
Never: compares anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgassay.analysis.metrics import METRICS
from pgassay.analysis.model import Doubt, TrialMeasures
from pgassay.plan.model import Plan

_MOST_ARMS = 3


def unmeasured(plan: Plan, trials: Sequence[TrialMeasures]) -> Iterator[Doubt]:
    """Metrics that not one trial of some arm has: another version may lack the counter."""
    have: dict[str, set[str]] = {}
    for trial in trials:
        for name in trial.whole.values:
            have.setdefault(name, set()).add(trial.arm)
    seen = {trial.arm for trial in trials if trial.whole.transactions}
    lacked = {name: seen - arms for name, arms in have.items() if not seen <= arms}
    for name in METRICS if lacked else ():
        without = [arm.label for arm in plan.arms if arm.id in lacked.get(name, ())]
        if without:
            more = f" and {len(without) - _MOST_ARMS} more" if len(without) > _MOST_ARMS else ""
            told = "; ".join(without[:_MOST_ARMS]) + more
            text = f"{METRICS[name].title} is not known for {told}, so it is not compared"
            yield Doubt("not-measured", text)
