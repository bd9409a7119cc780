"""What the servers of a fleet are at, and how long the run may still take on them.

Enters: the plan, which server runs which block, trials as they end. Leaves: a line, the time left.
Never: draws.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pgassay.cli.run.time_left import TimeLeft
from pgassay.cli.terminal.console import counted
from pgassay.plan.model import Plan


@dataclass
class _Server:
    block: int
    since: float
    """When its trial began."""
    ended: int = 0
    """Trials of the block that have ended."""


class FleetAtWork:
    """Follows the blocks of a run on several servers."""

    def __init__(self, plan: Plan, now: Callable[[], float] = time.monotonic) -> None:
        self._plan, self._now = plan, now
        self._servers: dict[str, _Server] = {}
        self._finished = 0
        self._time_left = TimeLeft(plan)

    def running(self, running: Mapping[str, int], finished: int) -> None:
        """Notes which block each server has now, after so many finished ones."""
        now, before = self._now(), self._servers
        self._servers = {
            server: before[server]
            if server in before and before[server].block == block
            else _Server(block, now)
            for server, block in running.items()
        }
        self._finished = finished

    def trial_ended(self, server: str) -> None:
        """Notes that a server has ended a trial of its block."""
        one = self._servers.get(server)
        if one is not None:
            now = self._now()
            self._time_left.trial_took(now - one.since)
            one.since, one.ended = now, one.ended + 1

    @property
    def done(self) -> int:
        """The number of trials that finished blocks and those which run have ended."""
        each = len(self._plan.block(1))
        # A block has more trials where invalid ones are run again.
        ended = sum(min(one.ended, each) for one in self._servers.values())
        return self._finished * each + ended

    def described(self) -> str:
        """Returns text such as `blocks 4 to 6 of 12 on 3 servers`."""
        blocks = sorted(one.block for one in self._servers.values())
        if not blocks:
            return f"{counted(self._finished, 'block')} finished"
        between = "and" if len(blocks) == 2 else "to"
        named = f"block {blocks[0]}"
        if len(blocks) > 1:
            named = f"blocks {blocks[0]} {between} {blocks[-1]}"
        return f"{named} of {self._plan.last_block} on {counted(len(blocks), 'server')}"

    def left(self) -> str:
        """Returns the text of the time left, where several trials run at a time."""
        if not self._servers:
            return ""
        now, at_once = self._now(), len(self._servers)
        into_s = sum(now - one.since for one in self._servers.values()) / at_once
        first = self._plan.block(min(one.block for one in self._servers.values()))[0]
        return self._time_left.text(first, self.done, into_s, at_once)
