"""The trials of one block on one server of a fleet.

Enters: a block, a server, the trials that are stored with their servers. Leaves: the block's trials
on this server, each as soon as it is there. Never: gives a number twice, or continues what another
server has begun.

A planned trial has its own number on the first server that runs it; on another one, and where it is
run again because it was invalid, the next free one of the numbers that follow from it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from pgassay.plan.model import Plan, PlannedTrial
from pgassay.trials.model.record import TrialRecord, Validity


@dataclass(frozen=True)
class Kept:
    """A stored trial."""

    server: str
    validity: Validity


RunTrial = Callable[[PlannedTrial, bool], TrialRecord]
"""Runs a trial; the second argument says that another process ran the one before it."""


def planned_number(plan: Plan, number: int) -> int:
    """Returns the number of the planned trial that this one is, or repeats."""
    return (number - 1) % plan.trials[-1].number + 1


def block_on(
    block: int, plan: Plan, server: str, kept: Mapping[int, Kept], run: RunTrial
) -> Iterator[tuple[PlannedTrial, TrialRecord]]:
    """Returns the trials that are left of the block on this server: all arms, then invalid ones
    again."""
    own = {number: one.validity for number, one in kept.items() if one.server == server}
    others = kept.keys() - own.keys()
    planned, invalid = plan.block(block), list[PlannedTrial]()
    was_stored = False
    for first in planned:
        trial = _numbered(plan, first, others, 0)
        validity = own.get(trial.number)
        if validity is None:
            record = run(trial, was_stored)
            yield trial, record
            validity = record.validity
        was_stored = trial.number in own
        if not validity.valid:
            invalid.append(first)
    for position, first in enumerate(invalid, len(planned) + 1):
        again = replace(_numbered(plan, first, others, 1), position=position, whole_plot=None)
        if again.number not in own:
            yield again, run(again, False)


def is_finished(block: int, plan: Plan, kept: Mapping[int, Kept]) -> bool:
    """Returns whether some server has run all that the block asks for."""
    return any(_is_whole(block, plan, server, kept) for server in servers_of(block, plan, kept))


def servers_of(block: int, plan: Plan, kept: Mapping[int, Kept]) -> list[str]:
    """Returns the servers that ran trials of this block, the one that ran most of them first."""
    numbers = {trial.number for trial in plan.block(block)}
    ran: dict[str, int] = {}
    for number, one in sorted(kept.items()):
        if planned_number(plan, number) in numbers:
            ran[one.server] = ran.get(one.server, 0) + 1
    return sorted(ran, key=lambda server: -ran[server])


class _Left(Exception):
    """A trial would have to be run."""


def _is_whole(block: int, plan: Plan, server: str, kept: Mapping[int, Kept]) -> bool:
    def none_left(trial: PlannedTrial, resumed: bool) -> TrialRecord:
        raise _Left

    try:
        return not list(block_on(block, plan, server, kept, none_left))
    except _Left:
        return False


def _numbered(plan: Plan, first: PlannedTrial, others: Collection[int], nth: int) -> PlannedTrial:
    """A planned trial with the nth of its numbers that no other server has."""
    numbers = itertools.count(first.number, plan.trials[-1].number)
    free = (number for number in numbers if number not in others)
    number = next(itertools.islice(free, nth, None))
    return first if number == first.number else replace(first, number=number, repeats=first.number)
