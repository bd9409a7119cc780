"""Which server runs which block, and up to which block the run can be judged.

Enters: a plan, the servers, the trials that are stored; what becomes of blocks and servers. Leaves:
the next block of a free server, the blocks to judge in their order. Never: runs anything, or sees a
figure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from pgassay.fleet.block_on import Kept, is_finished, servers_of
from pgassay.plan.model import Plan


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
