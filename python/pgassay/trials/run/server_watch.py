"""Everything that observes one server, during a trial or without a load.

Enters: a server, reset for the trial if it is one's; later the result of its load. Leaves: samples,
checkpoints, statement statistics and the guards' results. Never: runs the load, stores anything.

All servers of a trial are watched in the same way, so that none pays for it alone. Their host is
one and the same, so it is read with the first server only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from pgassay import _core
from pgassay.notes import Note
from pgassay.server.connection.session import as_target_error
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.placement import Place
from pgassay.server.protocol import Connection, ConnectionParameters, ServerFacts
from pgassay.trials.checkpoints.combined import CheckpointFollower, KnownCheckpoints, other_events
from pgassay.trials.guards.guards import OF_THE_HOST, GuardResult
from pgassay.trials.guards.invariants import Conditions, InvariantWatch
from pgassay.trials.guards.thresholds import Limits
from pgassay.trials.host.host_sources import NO_HOST, host_sources, sources_over_sql
from pgassay.trials.model.record import Columns
from pgassay.trials.run.reset_servers import TrialServer
from pgassay.trials.sampling.live_view import LiveFigures, LiveReader
from pgassay.trials.sampling.queries import extensions_in
from pgassay.trials.sampling.samplers import SampleBuffer, open_sampler, transactions_of
from pgassay.trials.sampling.statement_statistics import StatementWatch
from pgassay.trials.sampling.statement_texts import read_texts
from pgassay.trials.server_log.reader import LogReading, ServerLog
from pgassay.trials.server_log.server_clock import ServerClock


class ServerWatch:
    """Reads clock, log, statement statistics and samples of one server."""

    def __init__(
        self,
        parameters: ConnectionParameters,
        facts: ServerFacts,
        host: Host | None,
        connect: Callable[[], Connection],
        *,
        reads_host: bool = True,
    ) -> None:
        """Takes the first readings. Raises ConnectionRefused, TargetError."""
        self._parameters, self._version_num = parameters, facts.version_num
        self.clock = ServerClock(connect)
        self.clock.read()
        address = parameters.hostaddr or parameters.host
        self.log = ServerLog(connect, address, facts.log_file, machine=host, clock=self.clock)
        with as_target_error("looking at the server"), connect() as session:
            self._extensions = extensions_in(session)
            self.host_sources = NO_HOST
            if reads_host and host is not None:
                self.host_sources = host_sources(host, session, facts)
            elif reads_host:
                self.host_sources = sources_over_sql(session)
        self.statements = StatementWatch(connect, facts.version_num, self._extensions)
        self._connect = connect
        self._no_texts: Note | None = None

    def start_sampling(
        self,
        waits_every_s: float,
        *,
        load: _core.Load | None = None,
        place: Place | None = None,
        busy_share: float | None = None,
        observes: bool = False,
        alone: bool = True,
    ) -> None:
        """Starts to sample the server; the sampler names the scenario that each session of `load`
        runs."""
        self.sampler, self.sampler_placed = open_sampler(
            self._parameters,
            self._version_num,
            load=load,
            host=self.host_sources,
            extensions=self._extensions,
            place=place,
            waits_every_s=waits_every_s,
            busy_share=busy_share,
            observes=observes,
        )
        # What other servers or another program with the load use is not known while they run.
        is_known = alone and load is not None and not self.host_sources.reader
        self._live = LiveReader(
            self.sampler, self.own_transactions, _own_user_s if is_known else None
        )

    def own_transactions(self) -> int:
        """Returns the number of the sampler's own transactions, as far as the server has counted
        them."""
        return transactions_of(self.sampler, self._version_num)

    def live_figures(self) -> LiveFigures | None:
        """Returns what the server is doing now, for the screen; None in the first second."""
        return self._live.figures()

    def read_texts(self, counters: Columns, known: Collection[str]) -> dict[str, str]:
        """Returns, by query id, the texts of the statements among these counters, but for the ids
        `known`."""
        texts, self._no_texts = read_texts(self._connect, self._extensions, counters, known)
        return texts

    def notes_on(
        self, logged: LogReading, checkpoints: KnownCheckpoints, *others: Note
    ) -> tuple[Note, ...]:
        """Returns notes on what could not be read of the server, or only in part."""
        return (
            *(
                Note("trials/sampling/sampler", {"sentence": one})
                for one in self.sampler.warnings()
            ),
            *others,
            *self.clock.notes,
            *logged.notes,
            *checkpoints.notes,
            *self.statements.notes,
            *filter(None, [self._no_texts]),
        )


class TrialWatch(ServerWatch):
    """Watches one server around the load of a trial, with the guards."""

    def __init__(
        self,
        server: TrialServer,
        limits: Limits,
        known_texts: Callable[[], Collection[str]],
        *,
        reads_host: bool,
    ) -> None:
        """Takes the first readings; the connections of the load are not open yet."""
        target, facts = server.target, server.facts
        self.server, self._reads_host = server, reads_host
        self._known_texts = known_texts
        super().__init__(
            target.parameters(), facts, target.host(), target.connect, reads_host=reads_host
        )
        self.invariants = InvariantWatch(target, facts, limits)

    @contextmanager
    def sampling(
        self, load: _core.Load | None, place: Place | None, waits_every_s: float, *, alone: bool
    ) -> Iterator[None]:
        """Samples the server into a buffer; `alone` where no other server is under test."""
        self.start_sampling(waits_every_s, load=load, place=place, alone=alone)
        self.samples = SampleBuffer(self.sampler)
        try:
            yield
        finally:
            self.sampler.stop()

    def processors_counted(self, others: Sequence[TrialWatch]) -> AbstractContextManager[None]:
        """Measures how the host's processors are used in the load; `others` are tested too."""
        return self.invariants.processors_counted([one.invariants.postmaster for one in others])

    def read_log(self) -> str:
        """Reads what the server logged during the load; returns the message of a crash, if any."""
        self.samples.take()
        self._counters = self.samples.counters_of("checkpointer", "wal_position", "progress")
        self.clock.read()
        self.logged: LogReading = self.log.read()
        follower = CheckpointFollower()
        follower.count(self._counters)
        self.checkpoints: KnownCheckpoints = follower.end_period(self.logged, last=True)
        return self.logged.crash

    def killed_for_memory(self) -> Note | None:
        """Returns a note where the kernel killed a process of the server in the load; else None."""
        return self.invariants.killed_for_memory()

    def judge(
        self, conditions: Conditions, load: Mapping[str, Any], reloading: Mapping[str, Any]
    ) -> list[GuardResult]:
        """Takes statement statistics and fingerprint after the load; returns the results of the
        guards.

        Guards of the host report once, with the server that the host is read with.
        """
        statements = self.statements.counters()
        self.samples.add_counters(statements)
        self.statement_texts = self.read_texts(statements, self._known_texts())
        results = self.invariants.results(
            conditions,
            load,
            self.samples.each_wait(),
            self._counters,
            self.checkpoints.checkpoints,
            reloading,
        )
        return [one for one in results if self._reads_host or one.guard not in OF_THE_HOST]

    def stored(self) -> dict[str, Any]:
        """Returns what a `TrialRecord` has of this server, by field."""
        return {
            "sampler_cost": json.loads(self.sampler.cost()),
            "waits": self.samples.waits,
            "counters": self.samples.counters,
            "host": self.samples.host,
            "checkpoints": self.checkpoints.checkpoints,
            "checkpoints_from": self.checkpoints.source,
            "events": other_events(self.logged.events or ()),
            "log": self.logged.described,
            "clock": self.clock.described(),
            "fingerprint": self.invariants.described(),
        }

    def placement(self, client: Mapping[str, str]) -> dict[str, Mapping[str, str]]:
        """Returns where server, client and sampler ran, for trial.json."""
        places = {
            "server": self.server.reset.placement,
            "client": client,
            "sampler": self.sampler_placed,
        }
        return {part: place for part, place in places.items() if place}

    def notes(self) -> tuple[Note, ...]:
        """Returns notes on what could not be read, or only in part."""
        notes = (*self.server.reset.notes, *self.invariants.notes)
        return self.notes_on(self.logged, self.checkpoints, *notes)


def _own_user_s() -> float:
    times = os.times()
    return times.user + times.children_user
