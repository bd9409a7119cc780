"""Records a running server without a load, segment by segment.

Enters: a server that is only read. Leaves: pieces of samples, the ends of segments, live figures.
Never: changes anything, waits long for the server, grows with time, or ends because the server or
its host went away: samplers reconnect, and the time in between is a gap.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Self

from pgassay import _core
from pgassay.notes import Note
from pgassay.server.existing.observed import ObservedServer
from pgassay.server.protocol import ServerFacts
from pgassay.trials.checkpoints.combined import CheckpointFollower, other_events
from pgassay.trials.host.host_following import HostFollower
from pgassay.trials.model.columns import COUNTERS
from pgassay.trials.model.record import Columns, Piece, SegmentEnd
from pgassay.trials.run.server_watch import ServerWatch
from pgassay.trials.sampling.live_view import LiveFigures
from pgassay.trials.sampling.samplers import WAITS_EVERY_S, host_every_s
from pgassay.trials.sampling.statement_statistics import joined

BUSY_SHARE = 0.1
"""The most of its time that a sampler may spend in one query; a slower one runs less often."""
ANSWERS_WITHIN_S = 10.0
"""Limit for each query at the end of a segment: the host may hang, the network be cut."""
_STATEMENTS_EVERY_S = 60.0
_STATEMENTS_SHARE = 0.01
"""Statements are read so seldom that it takes no more of the time."""
_SILENT = Note("trials/run/silent")
_NO_COUNTERS: Columns = {name: [] for name in COUNTERS.names}


class Recorder:
    """An observation of one server while it is recorded; use it as a context manager."""

    def __init__(
        self, server: ObservedServer, facts: ServerFacts, every_s: float = WAITS_EVERY_S
    ) -> None:
        """Opens the samplers. Raises ConnectionRefused, TargetError."""
        host = server.host(facts)
        in_time = partial(server.connect, lasts_s=ANSWERS_WITHIN_S)
        self._watch = ServerWatch(server.parameters, facts, host, in_time)
        self._checkpoints = CheckpointFollower()
        self._reported: set[Note] = set()
        self._known_texts: set[str] = set()
        self._cost: Mapping[str, float] = {}
        self._statements: list[Columns] = []
        """Those of the segment so far."""
        self._statements_due_s = time.monotonic() + _STATEMENTS_EVERY_S
        self.is_answering = True
        """Whether the server answered when the last segment ended."""
        self._watch.start_sampling(every_s, busy_share=BUSY_SHARE, observes=True)
        self._sampler, sources = self._watch.sampler, self._watch.host_sources
        self.began_ns = self._segment_ns = _core.now_ns()
        self._follower: HostFollower | None = None
        if host is not None and sources.files:
            every_host_s = host_every_s(every_s)
            self._follower = HostFollower(self._sampler, server, facts, host, sources, every_host_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends sampling; samples may still be taken."""
        self._sampler.stop()
        if self._follower is not None:
            self._follower.stop()

    @staticmethod
    def now_ns() -> int:
        """Returns the present time on the axis of the samples, in nanoseconds."""
        return _core.now_ns()

    @property
    def age_s(self) -> float:
        """Seconds since the observation began."""
        return (_core.now_ns() - self.began_ns) / 1e9

    @property
    def segment_age_s(self) -> float:
        """Seconds since the segment began."""
        return (_core.now_ns() - self._segment_ns) / 1e9

    def live_figures(self) -> LiveFigures | None:
        """Returns what the server is doing now; None in the first second."""
        return self._watch.live_figures()

    def cost(self) -> dict[str, float]:
        """Returns what sampling has cost since the observation began."""
        total: dict[str, float] = json.loads(self._sampler.cost())
        total["transactions"] = self._watch.own_transactions()
        return total

    def take(self) -> Piece:
        """Returns the samples since the last piece."""
        piece = Piece(
            self._sampler.take_waits(), self._sampler.take_counters(), self._sampler.take_host()
        )
        self._checkpoints.count(piece.counters)
        if time.monotonic() >= self._statements_due_s:
            self._statements.append(self._read_statements(self._watch.statements.statements))
        return piece

    def _read_statements(self, read: Callable[[], Columns]) -> Columns:
        began_s = time.monotonic()
        found = read()
        took_s = time.monotonic() - began_s
        rests_s = max(_STATEMENTS_EVERY_S, took_s / _STATEMENTS_SHARE)
        self._statements_due_s = began_s + rests_s
        return found

    def end_segment(self, *, last: bool = False) -> SegmentEnd:
        """Ends a segment and returns what belongs to it besides its pieces."""
        watch = self._watch
        answers = self.is_answering = watch.clock.read()
        logged = watch.log.read(goes_on=not last)
        period = self._checkpoints.end_period(logged, last=last)
        # Not asked now, they are set against their last reading the next time.
        if answers:
            self._statements.append(self._read_statements(watch.statements.counters))
        statements = joined([_NO_COUNTERS, *self._statements])
        self._statements.clear()
        started_ns, self._segment_ns = self._segment_ns, _core.now_ns()
        silent = () if answers else (_SILENT,)
        texts = watch.read_texts(statements, self._known_texts)
        self._known_texts.update(texts)
        notes = watch.notes_on(logged, period, *watch.host_sources.notes, *silent)
        new = tuple(dict.fromkeys(one for one in notes if one not in self._reported))
        self._reported.update(new)
        return SegmentEnd(
            started_ns=started_ns,
            ended_ns=self._segment_ns,
            counters=statements,
            checkpoints=period.checkpoints,
            checkpoints_from=period.source,
            events=other_events(logged.events or ()),
            sampler_cost=self._cost_of_segment(),
            notes=new,
            log=logged.described,
            clock=watch.clock.described(),
            statements=texts,
        )

    def _cost_of_segment(self) -> dict[str, float]:
        before, self._cost = self._cost, self.cost()
        own = {name: value - before.get(name, 0) for name, value in self._cost.items()}
        return {name: round(value, 3) for name, value in own.items()}
