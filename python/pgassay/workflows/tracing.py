"""The main path of a trace: server → probes → histograms by second → summary → report.

Enters: a server's connection string, what is traced. Leaves: a directory of readings, and what they
say. Never: changes the server; while the probes are set, what they are set on takes longer.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import psycopg

from pgassay import __version__
from pgassay.analysis.trace.cost import Window, cost_of
from pgassay.analysis.trace.model import TraceCost
from pgassay.errors import TargetError
from pgassay.notes import Note
from pgassay.refusals.refusal import SetupRefused, TargetRefused
from pgassay.report.context import TraceContext
from pgassay.samples.forms.trace import TraceFile
from pgassay.samples.trace_directory import PROGRAM, TraceDirectory, TraceWriter
from pgassay.server.connection.session import as_target_error
from pgassay.server.existing.observed import ObservedServer
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement
from pgassay.trials.trace.output import Output, Reading, RelationTime
from pgassay.trials.trace.programs import Chosen, choose, key_name, program_text
from pgassay.trials.trace.requirements import find_bpftrace
from pgassay.trials.trace.server import TracedServer, is_up, processor_time_ns, traced_server
from pgassay.trials.trace.tracer import MAP_KEYS, Tracer
from pgassay.workflows.reporting import Reported, reported, trace_context

DEFAULT_S = 60.0
"""How long a trace is unless asked otherwise: its probes slow the server down."""
MOST_S = 3600.0
"""The longest trace: probes cost, and an hour shows every checkpoint."""
_LOOK_EVERY_S = 0.2
_COUNT_EVERY_S = 1.0
_LATE_S = 5.0
"""A second's reading may come so late."""
_LONGER_S = 60.0
"""bpftrace ends by itself so long after it should have been ended."""
_SETTLE_S = 1.0
"""Sessions report their transactions once a second (pgstat.c, PGSTAT_MIN_INTERVAL)."""
_MOST_RELATIONS = 200
_KINDS = {"r": "table", "i": "index", "t": "TOAST table", "m": "materialized view", "S": "sequence"}


@dataclass(frozen=True)
class TraceRequest:
    """What is asked of a trace."""

    parts: tuple[str, ...]
    duration_s: float = DEFAULT_S
    """Or until it is stopped."""
    cost_pairs: int = 0
    """So many pairs of windows, one with the probes and one without; 0: an ordinary trace."""
    window_s: float = 5.0


class TraceListener(Protocol):
    """Follows a trace; every method returns at once."""

    def measures_cost(self, pair: int) -> None:
        """Says that a pair of windows begins."""

    def attaches(self) -> None:
        """Says that the probes are being set, which takes seconds."""

    def began(self, server: TracedServer, chosen: Chosen) -> None:
        """Says that the probes are set."""

    def traced(self, elapsed_s: float, pairs: int) -> None:
        """Says that a reading was taken, and how many pairs were counted up to now."""

    def detaches(self) -> None:
        """Says that the probes are being taken off, which takes seconds."""


def trace(
    dsn: str,
    request: TraceRequest,
    directory: TraceDirectory,
    listener: TraceListener,
    is_stopped: Callable[[], bool],
) -> Reported[TraceDirectory, TraceContext]:
    """Traces until the time is over or the user stops it, then reports."""
    bpftrace = find_bpftrace()
    with closing(ObservedServer(dsn)) as server:
        with as_target_error("looking at the server"), server.connect() as session:
            traced = traced_server(session)
        chosen = choose(traced, request.parts)
        if not chosen.programs:
            missing = Note.of("trials/trace/all-missing", missing=chosen.missing)
            raise SetupRefused("nothing-to-trace", missing=missing)
        text = program_text(traced, chosen, request.duration_s + _LONGER_S)
        program = directory.write_text(PROGRAM, text)
        counter = _Transactions(server)
        tracing = _Tracing(bpftrace, program, traced, chosen)
        cost: TraceCost | None = None
        with closing(counter):
            if request.cost_pairs:
                cost = _measure_cost(tracing, counter, request, listener, is_stopped)
            about = _record(tracing, counter, request, directory, listener, is_stopped)
        about |= {
            "relations": list(_named(about["relations"], server)),
            "server": server.parameters.label,
            "cost": None if cost is None else asdict(cost),
        }
    directory.write_file(directory.MARK, TraceFile.model_validate(about))
    return reported(directory, trace_context(directory))


@dataclass(frozen=True)
class _Tracing:
    bpftrace: str
    program: Path
    server: TracedServer
    chosen: Chosen


def _record(
    tracing: _Tracing,
    counter: _Transactions,
    request: TraceRequest,
    directory: TraceDirectory,
    listener: TraceListener,
    is_stopped: Callable[[], bool],
) -> dict[str, Any]:
    server, chosen = tracing.server, tracing.chosen
    start_ns = end_ns = time.time_ns()
    pairs = 0
    with TraceWriter(directory) as writer:

        def store(readings: Sequence[Reading]) -> None:
            nonlocal start_ns, end_ns, pairs
            for reading in readings:
                start_ns = min(start_ns, reading.start_ns)
                end_ns = max(end_ns, reading.end_ns)
                writer.add_reading(
                    reading.start_ns,
                    reading.end_ns,
                    [(key_name(point, server), point) for point in reading.points],
                )
                pairs += sum(point.count for point in reading.points)
                listener.traced((end_ns - start_ns) / 1e9, pairs)

        listener.attaches()
        with Tracer(tracing.bpftrace, tracing.program) as tracer:
            start_ns = end_ns = time.time_ns()
            began_s = time.monotonic()
            listener.began(server, chosen)
            counted_s = 0.0
            ended_by = "stopped"
            while tracer.is_running and not is_stopped():
                if not is_up(server.postmaster):
                    ended_by = "server"
                    break
                now_s = time.monotonic() - began_s
                late = now_s >= request.duration_s + _LATE_S
                if late or end_ns - start_ns >= request.duration_s * 1e9:
                    ended_by = "duration"
                    break
                if now_s >= counted_s:
                    counted_s += _COUNT_EVERY_S
                    _count(counter, writer)
                store(tracer.take())
                time.sleep(_LOOK_EVERY_S)
            _count(counter, writer)
            broke_off = not tracer.is_running
            store(tracer.take())
            listener.detaches()
        output = tracer.output
        writer.add_phases(output.phases)
    if broke_off and not pairs:
        raise SetupRefused("tracer-ended", complaint=tracer.complaint())
    return {
        "pgassay": __version__,
        "server_version": server.version,
        "program": server.program,
        "started_ns": start_ns,
        "ended_ns": end_ns,
        "ended_by": "tracer" if broke_off else ended_by,
        "complaint": tracer.complaint() if broke_off else "",
        "what": list(request.parts),
        "ways": chosen.ways,
        "pair_cost_ns": chosen.costs_ns(server),
        "missing": chosen.missing,
        **_doubts(output),
        "relations": output.relations,
    }


def _count(counter: _Transactions, writer: TraceWriter) -> None:
    """A server that does not answer is traced all the same; one that is gone ends the trace."""
    with suppress(TargetError):
        writer.add_transactions(*counter.read())


def _doubts(output: Output) -> dict[str, Any]:
    """What a reader must know of pairs without an end and of events that were lost."""
    by_point: dict[str, int] = {}
    for one in output.relations:
        by_point[one.point] = by_point.get(one.point, 0) + 1
    return {
        "unmatched": dict(sorted(output.unmatched.items())),
        "lost_events": output.lost_events,
        "full_maps": sorted(point for point, count in by_point.items() if count >= MAP_KEYS),
    }


def _measure_cost(
    tracing: _Tracing,
    counter: _Transactions,
    request: TraceRequest,
    listener: TraceListener,
    is_stopped: Callable[[], bool],
) -> TraceCost | None:
    """Pairs of windows, one with the probes and one without, in random order within each pair."""
    order = random.Random()  # the order is not meant to be repeated
    pairs: list[tuple[Window, Window]] = []
    postmaster = tracing.server.postmaster
    for pair in range(1, request.cost_pairs + 1):
        if is_stopped():
            break
        listener.measures_cost(pair)
        found: dict[bool, Window] = {}
        for probes in order.sample([False, True], 2):
            if probes:
                with Tracer(tracing.bpftrace, tracing.program):
                    found[True] = _window(counter, postmaster, request.window_s)
            else:
                found[False] = _window(counter, postmaster, request.window_s)
        pairs.append((found[False], found[True]))
    return cost_of(pairs, request.window_s)


def _window(counter: _Transactions, postmaster: int, window_s: float) -> Window:
    time.sleep(_SETTLE_S)
    (start_ns, before), ran = counter.read(), processor_time_ns(postmaster)
    time.sleep(window_s)
    (end_ns, after), run = counter.read(), processor_time_ns(postmaster)
    length = end_ns - start_ns
    return Window(tps=(after - before) / length * 1e9, cpu_s=max(run - ran, 0) / length)


class _Transactions:
    """The server's counter of transactions, over a session that is renewed when it ends."""

    def __init__(self, server: ObservedServer) -> None:
        self._server = server
        self._session: Connection | None = None

    def read(self) -> tuple[int, int]:
        """Returns (Unix time in ns, transactions ended). Raises TargetError where the server does
        not answer."""
        with as_target_error("reading the server's transactions"):
            try:
                return self._read()
            except psycopg.Error:
                self.close()
                return self._read()

    def _read(self) -> tuple[int, int]:
        if self._session is None:
            self._session = self._server.connect(lasts_s=3600.0)
        row = self._session.execute(statement("trials/all_transactions")).fetchone()
        if row is None:
            raise TargetRefused("no-row", doing="reading the server's transactions")
        return time.time_ns(), int(row[0])

    def close(self) -> None:
        """Closes the session; may be called twice."""
        if self._session is not None:
            self._session.close()
            self._session = None


def _named(times: Sequence[RelationTime], server: ObservedServer) -> Iterator[dict[str, Any]]:
    """The relations that took most time, by their names where they are in this database."""
    kept = sorted(times, key=lambda one: -one.total_ns)[:_MOST_RELATIONS]
    known: dict[tuple[int, int], tuple[str, str]] = {}
    # Names are not worth a trace that is otherwise complete.
    with (
        suppress(TargetError),
        as_target_error("reading the names of relations"),
        server.connect() as session,
    ):
        files = [one.file for one in kept]
        rows = session.execute(statement("trace/relations"), [files]).fetchall()
        known = {(database, file): (name, kind) for file, name, kind, database in rows}
    for one in kept:
        name, kind = known.get((one.database, one.file)) or known.get((0, one.file)) or ("", "")
        yield {
            "point": one.point,
            "name": name or f"file {one.file} of database {one.database}",
            "kind": _KINDS.get(kind, kind),
            "count": one.count,
            "total_ns": one.total_ns,
        }
