"""The recording of a running server, stretch by stretch, without a load.

Enters: a server that is only looked at. Leaves: pieces of samples, what ends a segment, a glance.
Never: changes anything, waits long for the server, grows with time, or ends because the server or
the way to its host went away: samplers come back with it, and what lies between is a gap.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from types import TracebackType
from typing import Self

import psycopg

from pgassay import _core
from pgassay.errors import TargetError
from pgassay.target.observed import ObservedServer
from pgassay.target.protocol import ServerFacts
from pgassay.target.session import told_as_target_error
from pgassay.trials.checkpoints import CheckpointThread, other_events
from pgassay.trials.glance import Seen, Watch
from pgassay.trials.host_following import HostFollower
from pgassay.trials.host_over_sql import sources_over_sql
from pgassay.trials.host_sources import host_sources
from pgassay.trials.queries import extensions_in
from pgassay.trials.record import Columns
from pgassay.trials.sampling import (
    WAITS_EVERY_S,
    host_every_s,
    open_sampler,
    transactions_of,
)
from pgassay.trials.segment import Piece, SegmentEnd
from pgassay.trials.server_clock import ServerClock
from pgassay.trials.server_log.reader import LogReading, ServerLog
from pgassay.trials.statement_statistics import StatementWatch

BUSY_SHARE = 0.1
"""Of its time; a query of the samplers that takes longer is asked less often."""
_ANSWERS_WITHIN_S = 10.0
"""What ends a segment waits no longer, be it that the server's host hangs or the network is cut."""
_SILENT = (
    "the server did not answer when a segment ended: what statements did is told with the next"
    " segment that it answers for"
)
_NO_COUNTERS: Columns = {"time_ns": [], "source": [], "object": [], "name": [], "value": []}


class Recorder:
    """One observation at work; use it as a context manager."""

    def __init__(
        self, server: ObservedServer, facts: ServerFacts, every_s: float = WAITS_EVERY_S
    ) -> None:
        """Opens the samplers. Raises ConnectionRefused, TargetError."""
        parameters = server.parameters
        in_time = partial(server.connect, lasts_s=_ANSWERS_WITHIN_S)
        self._clock = ServerClock(in_time)
        self._clock.look()
        address = parameters.hostaddr or parameters.host
        host = server.host(facts)
        self._log = ServerLog(in_time, address, facts.log_file, machine=host, clock=self._clock)
        with told_as_target_error("looking for extensions"), server.connect() as session:
            extensions = extensions_in(session)
            sources = (
                host_sources(host, session, facts)
                if host is not None
                else sources_over_sql(session)
            )
        self._source_notes = sources.notes
        self._statements = StatementWatch(in_time, facts.version_num, extensions)
        self._checkpoints = CheckpointThread()
        self._told: set[str] = set()
        self._cost: Mapping[str, float] = {}
        self._sampler, _ = open_sampler(
            parameters,
            facts.version_num,
            load=None,
            host=sources,
            extensions=extensions,
            waits_every_s=every_s,
            busy_share=BUSY_SHARE,
        )
        self.began_ns = self._segment_ns = _core.now_ns()
        self._version_num = facts.version_num
        self._follower: HostFollower | None = None
        if host is not None and sources.files:
            every_host_s = host_every_s(every_s)
            self._follower = HostFollower(self._sampler, server, facts, host, sources, every_host_s)
        self._watch = Watch(self._sampler, self._own_transactions)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End sampling; what was read may still be taken."""
        self._sampler.stop()
        if self._follower is not None:
            self._follower.stop()

    @staticmethod
    def now_ns() -> int:
        """The present time on the axis of the samples."""
        return _core.now_ns()

    @property
    def age_s(self) -> float:
        """Since the observation began."""
        return (_core.now_ns() - self.began_ns) / 1e9

    @property
    def segment_age_s(self) -> float:
        """Since the segment began."""
        return (_core.now_ns() - self._segment_ns) / 1e9

    def seen(self) -> Seen | None:
        """What is going on; None in the first second."""
        return self._watch.look()

    def take(self) -> Piece:
        """The samples since the last piece."""
        piece = Piece(
            self._sampler.take_waits(), self._sampler.take_counters(), self._sampler.take_host()
        )
        self._checkpoints.count(piece.counters)
        return piece

    def end_segment(self, *, last: bool = False) -> SegmentEnd:
        """What belongs to the time since the last segment's end, besides its pieces."""
        answers = self._clock.look()
        logged = self._read_log(goes_on=not last)
        told = self._checkpoints.tell(logged, last=last)
        # Not asked now, they are set against their last reading the next time.
        statements = self._statements.counters() if answers else _NO_COUNTERS
        started_ns, self._segment_ns = self._segment_ns, _core.now_ns()
        warnings = (
            *self._sampler.warnings(),
            *self._source_notes,
            *(() if answers else (_SILENT,)),
            *self._clock.notes,
            *logged.notes,
            *told.notes,
            *self._statements.notes,
        )
        new = tuple(dict.fromkeys(text for text in warnings if text not in self._told))
        self._told.update(new)
        return SegmentEnd(
            started_ns=started_ns,
            ended_ns=self._segment_ns,
            counters=statements if statements["time_ns"] else _NO_COUNTERS,
            checkpoints=told.checkpoints,
            checkpoints_from=told.source,
            events=other_events(logged.events or ()),
            sampler_cost=self._cost_of_segment(),
            warnings=new,
            log=logged.described,
            clock=self._clock.described(),
        )

    def _read_log(self, *, goes_on: bool) -> LogReading:
        try:
            return self._log.read(goes_on=goes_on)
        except (psycopg.Error, TargetError, OSError) as error:
            # A log that is read over the connection goes away with the server, and comes back.
            return self._log.unread(
                f"the server's log could not be read: {str(error).splitlines()[0]}"
            )

    def _own_transactions(self) -> int:
        return transactions_of(self._sampler, self._version_num)

    def _cost_of_segment(self) -> dict[str, float]:
        total: dict[str, float] = json.loads(self._sampler.cost())
        before, self._cost = self._cost, total
        total["transactions"] = self._own_transactions()
        own = {name: value - before.get(name, 0) for name, value in total.items()}
        return {name: round(value, 3) for name, value in own.items()}
