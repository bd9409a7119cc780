"""One block: every arm once, and once more where a trial did not count.

Enters: a block's number, what all trials of the run have in common. Leaves: its trials and their
records, each as soon as it is there. Never: stores a record, or runs a trial a third time.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.plan.model import PlannedTrial
from pgassay.trials.record import TrialRecord
from pgassay.trials.run import TrialContext, run_trial


def run_block(block: int, context: TrialContext) -> Iterator[tuple[PlannedTrial, TrialRecord]]:
    """The planned trials in their order, then those again that were invalid."""
    plan, invalid = context.plan, list[PlannedTrial]()
    planned = plan.block(block)
    for trial in planned:
        record = run_trial(trial, context)
        yield trial, record
        if not record.validity.valid:
            invalid.append(trial)
            _warn(record, "it is run again at the end of its block", context)
    for place, trial in enumerate(invalid, start=len(planned) + 1):
        again = plan.again(trial, place)
        record = run_trial(again, context)
        yield again, record
        if not record.validity.valid:
            _warn(record, "its block stays incomplete", context)


def _warn(record: TrialRecord, then: str, context: TrialContext) -> None:
    reasons = "; ".join(record.validity.reasons)
    context.observer.warned(f"trial {record.number} does not count: {reasons}; {then}")
