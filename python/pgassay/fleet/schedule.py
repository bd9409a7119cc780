"""Which server runs which block, its trials there, and up to which block the run can be judged.

Enters: a plan, the servers, the trials that are stored; what becomes of blocks and servers. Leaves:
the next block of a free server, its trials there, each as soon as it is there, the blocks to judge
in their order. Never: sees a figure, gives a number twice, or continues what another server has
begun.

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


class Schedule:
    """The blocks of a run on several servers."""

    def __init__(self, plan: Plan, servers: Collection[str], kept: Mapping[int, Kept]) -> None:
        self._plan, self._alive = plan, set(servers)
        blocks = range(1, plan.last_block + 1)
        self._finished = {block for block in blocks if is_finished(block, plan, kept)}
        begun = {block: servers_of(block, plan, kept) for block in blocks}
        self._begun_on = {block: found[0] for block, found in begun.items() if found}
        """An unfinished block goes on where most of it has run, if that server is there."""
        self._running: dict[str, int] = {}
        self._judged = 0
        self._is_answered = False

    @property
    def running(self) -> Mapping[str, int]:
        """Returns the block that each server runs now, by the server's name."""
        return self._running

    @property
    def finished_blocks(self) -> int:
        """Counts the finished blocks."""
        return len(self._finished)

    @property
    def free(self) -> list[str]:
        """Returns the servers that are there and run nothing."""
        return sorted(self._alive - self._running.keys())

    @property
    def is_over(self) -> bool:
        """Returns whether the question is answered, or all blocks are finished."""
        return self._is_answered or len(self._finished) >= self._plan.last_block

    def begin(self, server: str) -> int | None:
        """Begins the block that this server runs next, and returns it; None where there is none
        for it now."""
        if self._is_answered or server not in self._alive or server in self._running:
            return None
        taken = self._finished | set(self._running.values())
        for block in range(1, self._limit() + 1):
            owner = self._begun_on.get(block, server)
            if block not in taken and (owner == server or owner not in self._alive):
                self._running[server] = block
                return block
        return None

    def finished(self, server: str) -> None:
        """Notes that the server has finished its block."""
        self._finished.add(self._running.pop(server))

    def lost(self, server: str) -> int | None:
        """Notes that the server is gone; returns the block that is to be run again, whole,
        elsewhere."""
        self._alive.discard(server)
        return self._running.pop(server, None)

    def to_judge(self) -> Iterator[int]:
        """Yields each block up to which all are finished, once and in their order; `answered` ends
        it."""
        while self._judged + 1 in self._finished and not self._is_answered:
            self._judged += 1
            yield self._judged

    def answered(self) -> None:
        """Begins no block any more; those that run are finished."""
        self._is_answered = True

    def _limit(self) -> int:
        """The last block that may begin. Looks that were fixed beforehand have so many blocks, no
        more: none begins beyond the next one."""
        looks = (look for look in self._plan.looks if look > self._judged)
        return next(looks, self._plan.last_block)
