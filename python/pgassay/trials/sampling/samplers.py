"""Opens the samplers of one server, and collects their samples every few seconds while they work.

Enters: a connection, the server's version, its extensions. Leaves: a `_core.Sampler` set up for
them; its samples as packed tables. Never: asks for a view that the server is known to lack, or lets
a trial's memory grow by more than a few bytes per sample: only the latest are Python lists.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from pgassay import _core
from pgassay.refusals.refusal import NotConnected
from pgassay.server.hosts.placement import Place, confirm_place, run_in, threads
from pgassay.server.protocol import SAMPLER_NAME, ConnectionParameters
from pgassay.trials.host.host_sources import NO_HOST, HostSources
from pgassay.trials.model.columns import COUNTERS, WAITS, PackedTables
from pgassay.trials.model.record import Columns
from pgassay.trials.sampling.queries import (
    COUNTERS_EVERY_S,
    NO_EXTENSIONS,
    Extension,
    Query,
    queries_for,
)

WAITS_EVERY_S = 0.1
JITTER = 0.5
_WAITS = "waits"
_REFUSED = " could not be "
"""After the name of a query, in the core's warnings."""
_COUNTED_LATE = 150000


def open_sampler(
    connection: ConnectionParameters,
    version_num: int,
    *,
    load: _core.Load | None,
    host: HostSources = NO_HOST,
    extensions: Mapping[str, Extension] = NO_EXTENSIONS,
    place: Place | None = None,
    waits_every_s: float = WAITS_EVERY_S,
    busy_share: float | None = None,
    observes: bool = False,
) -> tuple[_core.Sampler, dict[str, str]]:
    """Starts a sampler; returns it and where its threads run.

    Waits at 10 Hz unless something else is said, the host each second, counters each second or as
    seldom as their file says. `busy_share` is the most that readings of one kind may take of the
    time: after a slow one the sampler rests. `observes` adds the queries that are not asked beside
    a load that is measured.
    """
    queries = queries_for(version_num)
    configuration = {
        "connection": connection.for_core(),
        "application_name": SAMPLER_NAME,
        "waits": {"sql": queries[_WAITS].sql, "every_s": waits_every_s, "jitter": JITTER},
        "counters": [
            {
                "source": query.name,
                "sql": sql,
                "every_s": max(every_s, waits_every_s),
                "busy_share": query.busy_share,
            }
            for query, sql, every_s in _counted(version_num, extensions, observes=observes)
        ],
        "host": host.for_core(host_every_s(waits_every_s)),
        "busy_share": busy_share,
    }
    sampler = _core.Sampler(json.dumps(configuration), load)
    before = threads()
    try:
        run_in(place, sampler.start)
        return sampler, confirm_place("sampler", place, threads() - before)
    except _core.ConnectionFailed as error:
        raise NotConnected("not-connected", sqlstate=error.sqlstate, why=error) from None
    except BaseException:
        sampler.stop()
        raise


def has_read_each(
    sampler: _core.Sampler, version_num: int, extensions: Mapping[str, Extension]
) -> bool:
    """Returns whether each query of a sampler that observes was answered, or refused with a
    warning, once."""
    cost = json.loads(sampler.cost())
    refused = {text.split(_REFUSED)[0] for text in sampler.warnings()}
    counted = {query.name for query, _, _ in _counted(version_num, extensions, observes=True)}
    # All are due when it begins: none is read a second time before each was read once.
    return bool(
        cost["counter_reads"] + len(refused & counted) >= len(counted)
        and (cost["wait_ticks"] or _WAITS in refused)
    )


def _counted(
    version_num: int, extensions: Mapping[str, Extension], *, observes: bool
) -> Iterator[tuple[Query, str, float]]:
    """Each query but that of the waits, its SQL and the seconds between two readings."""
    for name, query in queries_for(version_num).items():
        if name == _WAITS or (query.is_only_observed and not observes):
            continue
        if query.every_s and (sql := query.sql_with(extensions)):
            yield query, sql, query.every_s


def host_every_s(waits_every_s: float) -> float:
    """Returns the seconds between two readings of the host."""
    return max(COUNTERS_EVERY_S, waits_every_s)


def transactions_of(sampler: _core.Sampler, version_num: int) -> int:
    """Returns how many of a sampler's transactions the server has counted: each reading is one.

    From 15 on a session that never touches a table, as the one that samples waits, reports its
    commits only when it ends.
    """
    cost = json.loads(sampler.cost())
    ticks = int(cost["wait_ticks"]) if version_num < _COUNTED_LATE else 0
    return ticks + int(cost["counter_reads"])


EVERY_S = 5.0


class Sampler(Protocol):
    """The methods of `_core.Sampler` that are used here."""

    def take_waits(self) -> Columns: ...
    def take_counters(self) -> Columns: ...
    def take_host(self) -> Columns: ...


class SampleBuffer:
    """The samples of one sampler since it began."""

    def __init__(self, sampler: Sampler, clock: Callable[[], float] = time.monotonic) -> None:
        self._sampler, self._clock = sampler, clock
        self.waits = PackedTables(WAITS)
        self.counters = PackedTables(COUNTERS)
        self.host = PackedTables(COUNTERS)
        self._due_s = clock() + EVERY_S

    def take_if_due(self) -> None:
        """Is called often; takes the samples every few seconds."""
        if self._clock() >= self._due_s:
            self.take()
            self._due_s = self._clock() + EVERY_S

    def take(self) -> None:
        """Takes all samples from the sampler now."""
        self.waits.add(pa.Table.from_pydict(self._sampler.take_waits(), WAITS))
        self.add_counters(self._sampler.take_counters())
        self.host.add(pa.Table.from_pydict(self._sampler.take_host(), COUNTERS))

    def add_counters(self, columns: Columns) -> None:
        """Adds rows of counters, of the sampler or of other readers."""
        self.counters.add(pa.Table.from_pydict(columns, COUNTERS))

    def counters_of(self, *sources: str) -> Columns:
        """Returns the rows of some sources, which have few."""
        wanted = pa.array(sources, pa.string())
        parts = [
            part.filter(pc.is_in(part["source"].cast(pa.string()), wanted))
            for part in self.counters
        ]
        found: Columns = pa.concat_tables([COUNTERS.empty_table(), *parts]).to_pydict()
        return found

    def each_wait(self) -> Mapping[str, Iterator[Any]]:
        """Iterates, by column, over the cells of all sampled waits; of one part at a time."""
        return {name: self._cells(name) for name in WAITS.names}

    def _cells(self, name: str) -> Iterator[Any]:
        for part in self.waits.tables([name]):
            yield from part[name].to_pylist()
