"""Runs one block: every arm once, and invalid trials once more.

Enters: a block's number, what all trials of the run have in common, which of them are stored
already. Leaves: its trials, each as soon as it is there, and the records of those that were run.
Never: stores a record, or runs a trial a third time, but for one that lost a load generator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pgassay.plan.model import Plan, PlannedTrial
from pgassay.trials.load.group import GeneratorLost
from pgassay.trials.model.record import TrialRecord, Validity
from pgassay.trials.run.trial import TrialContext, run_trials


def run_block(
    block: int, context: TrialContext, stored: Mapping[int, Validity]
) -> Iterator[tuple[PlannedTrial, TrialRecord | None]]:
    """Runs the planned trials of a block in their order, then repeats those that were invalid.

    A trial whose number is among those stored has no record: it is not run again.
    """
    plan, known = context.plan, dict(stored)
    for trial, record in _each(plan.block(block), context, known):
        yield trial, record
        if record is not None:
            known[trial.number] = record.validity
            _warn(record, "it is run again at the end of its block", context)
    for again, record in _each(repeats_in(plan, block, known), context, known):
        yield again, record
        if record is not None:
            _warn(record, "its block stays incomplete", context)


def _each(
    trials: Sequence[PlannedTrial], context: TrialContext, known: Mapping[int, Validity]
) -> Iterator[tuple[PlannedTrial, TrialRecord | None]]:
    """Every trial with its record; those that are carried out at once are by the time of the
    first."""
    stored = frozenset(known)
    done: dict[int, TrialRecord] = {}
    for trial in trials:
        if trial.number not in stored and trial.number not in done:
            new = [one for one in trials if one.number not in stored]
            group = new if context.plan.together else [trial]
            resumed = trial.number - 1 in stored
            done |= {one.number: one for one in _carried_out(group, context, resumed=resumed)}
        yield trial, done.pop(trial.number, None)


def repeats_in(plan: Plan, block: int, known: Mapping[int, Validity]) -> list[PlannedTrial]:
    """Returns the repeats of a block's invalid trials; all its planned trials must be known."""
    planned = plan.block(block)
    invalid = [trial for trial in planned if not known[trial.number].valid]
    return [plan.again(trial, place) for place, trial in enumerate(invalid, len(planned) + 1)]


def _carried_out(
    trials: Sequence[PlannedTrial], context: TrialContext, *, resumed: bool = False
) -> list[TrialRecord]:
    """One that lost a load generator is run again with those that remain, if the file says so."""
    while True:
        try:
            return run_trials(trials, context, resumed=resumed)
        except GeneratorLost as lost:
            if not context.generators.go_on():
                raise
            left = ", ".join(context.generators.names)
            context.listener.warned(f"{lost}; it is run again with those that remain: {left}")


def _warn(record: TrialRecord, then: str, context: TrialContext) -> None:
    if not record.validity.valid:
        reasons = "; ".join(record.validity.reasons)
        context.listener.warned(f"trial {record.number} does not count: {reasons}; {then}")
