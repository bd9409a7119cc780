"""What makes a run doubtful beyond its guards: its trials, its blocks, values that are missing.

Enters: the plan, trials, comparisons. Leaves: doubts, each told once. Never: estimates.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.analysis.model import Comparison, Doubt, TrialMeasures
from pgassay.analysis.round_doubts import rounds_that_count
from pgassay.analysis.rounds import FEWEST_ROUNDS
from pgassay.analysis.turns_model import Withdrawn
from pgassay.analysis.unmeasured import unmeasured
from pgassay.plan.model import Plan

_MANY_TRIALS = 6


def _of_trials(trials: Sequence[TrialMeasures]) -> list[Doubt]:
    """The doubts of trials, each told once with the trials that have it."""
    where: dict[Doubt, list[int]] = {}
    for trial in trials:
        for doubt in trial.warnings:
            where.setdefault(doubt, []).append(trial.number)
    return [
        Doubt(doubt.kind, f"{_named(numbers, len(trials))}: {doubt.text}")
        for doubt, numbers in where.items()
    ]


def of_invalid(invalid: Sequence[TrialMeasures], trials: Sequence[TrialMeasures]) -> list[Doubt]:
    """Each invalid trial with its reasons, and what became of its second run."""
    instead = {t.repeats: t.number for t in trials if t.repeats is not None}
    in_vain = {t.repeats: t.number for t in invalid if t.repeats is not None}
    found = []
    for trial in invalid:
        text = f"trial {trial.number} does not count: {'; '.join(trial.invalid)}"
        if trial.number in instead:
            text += f"; trial {instead[trial.number]} repeats it"
        elif trial.number in in_vain:
            text += f"; it was run again as trial {in_vain[trial.number]}, also in vain"
        elif trial.repeats is None:
            text += "; no trial took its place"
        found.append(Doubt("invalid-trial", text))
    return found


def _named(numbers: Sequence[int], of: int) -> str:
    if len(numbers) == of > 1:
        return f"all {of} trials"
    if len(numbers) > _MANY_TRIALS:
        return f"{len(numbers)} of {of} trials"
    return f"trial{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def run_doubts(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    comparisons: Sequence[Comparison],
    complete: int,
) -> list[Doubt]:
    """All but those of invalid trials, of drift, and of arms that take turns."""
    found = [Doubt("plan", text) for text in plan.warnings]
    found += _of_trials(trials)
    found += unmeasured(plan, trials)
    left_over = len(trials) - complete * len(plan.block(1))
    if plan.factors and left_over > 0:
        trials_are = "trials are" if left_over > 1 else "trial is"
        found.append(
            Doubt("incomplete-block", f"{left_over} {trials_are} of an incomplete block: left out")
        )
    primary = [c for c in comparisons if c.metric == plan.metric]
    short = plan.alternates and max(rounds_that_count(plan, trials).values(), default=0) < (
        FEWEST_ROUNDS
    )
    if plan.factors and complete and not primary:
        found.append(Doubt("no-estimate", f"no block has a value of {plan.metric} for every arm"))
    for comparison in primary:
        told = plan.alternates or comparison.withdrawn is Withdrawn.STANDSTILL
        if comparison.blocks < complete and not told:  # round_doubts.py and standstills.py do
            found.append(
                Doubt(
                    "missing-values",
                    f"{comparison.metric}, {comparison.level}: {complete - comparison.blocks}"
                    " blocks without a value are left out",
                )
            )
        if comparison.blocks > 1 and comparison.e_value is None and not short:
            found.append(
                Doubt(
                    "constant",
                    f"{comparison.metric}, {comparison.level}: the block differences do not vary;"
                    " no interval can be given",
                )
            )
    return found
