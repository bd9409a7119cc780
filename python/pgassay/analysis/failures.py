"""Arms that fail more than others, whether they take turns or have trials of their own.

Enters: the plan, its trials. Leaves: a doubt. Never: a test: failures come in bursts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgassay.analysis.model import Doubt, TrialMeasures
from pgassay.plan.model import Plan

_FAILED = 0.01
"""Arms whose failed shares differ by so much, or by half of the smallest effect, are told."""


def failure_doubts(plan: Plan, trials: Sequence[TrialMeasures]) -> Iterator[Doubt]:
    """Failed transactions are in no figure, so an arm that gives up early may look quick."""
    shares = {}
    for arm in plan.arms:
        share = _of_turns(arm.id, trials) if plan.alternates else _of_trials(arm.id, trials)
        if share is not None:
            shares[arm.label] = share
    if len(shares) < 2:
        return
    if max(shares.values()) - min(shares.values()) < min(_FAILED, plan.smallest_effect / 2):
        return
    told = ", ".join(f"{100 * share:.1f} % of {label}" for label, share in shares.items())
    yield Doubt(
        "failures",
        f"arms differ in the transactions that failed ({told}); these are in no figure, so the arm"
        " that fails more may look better or worse than it is",
    )


def _of_turns(arm: str, trials: Sequence[TrialMeasures]) -> float | None:
    own = [turn for trial in trials for turn in trial.turns if turn.arm == arm]
    failed, done = sum(t.failed for t in own), sum(t.transactions for t in own)
    return failed / (failed + done) if failed + done else None


def _of_trials(arm: str, trials: Sequence[TrialMeasures]) -> float | None:
    """Trials count alike, as they do in every figure."""
    values = (t.whole.values.get("failed_share") for t in trials if t.arm == arm)
    own = [value for value in values if value is not None]
    return sum(own) / len(own) / 100.0 if own else None
