"""The samplers, asked for one server.

Enters: a connection, the server's version, its extensions. Leaves: a `_core.Sampler` set up for
them. Never: reads a sample's content, or asks for a view that the server is known to lack.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pgassay import _core
from pgassay.errors import ConnectionRefused
from pgassay.target.placement import Place, confirm_place, run_in, threads
from pgassay.target.protocol import ConnectionParameters
from pgassay.trials.host_sources import HostSources
from pgassay.trials.queries import COUNTERS_EVERY_S, NO_EXTENSIONS, Extension, queries_for

APPLICATION_NAME = "pgassay sampler"
WAITS_EVERY_S = 0.1
JITTER = 0.5
_WAITS = "waits"


def open_sampler(
    connection: ConnectionParameters,
    version_num: int,
    *,
    load: _core.Load | None,
    host: HostSources | None = None,
    extensions: Mapping[str, Extension] = NO_EXTENSIONS,
    place: Place | None = None,
) -> tuple[_core.Sampler, dict[str, str]]:
    """A sampler at work, and where its threads run.

    Waits at 10 Hz, the host each second, counters each second or as seldom as their file says.
    """
    queries = queries_for(version_num)
    configuration = {
        "connection": connection.for_core(),
        "application_name": APPLICATION_NAME,
        "waits": {"sql": queries[_WAITS].sql, "every_s": WAITS_EVERY_S, "jitter": JITTER},
        "counters": [
            {"source": name, "sql": sql, "every_s": query.every_s}
            for name, query in queries.items()
            if name != _WAITS and query.every_s and (sql := query.sql_with(extensions))
        ],
        "host": host.for_core(COUNTERS_EVERY_S) if host is not None and host.files else None,
    }
    sampler = _core.Sampler(json.dumps(configuration), load)
    before = threads()
    try:
        run_in(place, sampler.start)
        return sampler, confirm_place("sampler", place, threads() - before)
    except _core.ConnectionFailed as error:
        raise ConnectionRefused(str(error), sqlstate=error.sqlstate) from None
    except BaseException:
        sampler.stop()
        raise


def transactions_of(sampler: _core.Sampler) -> int:
    """How many transactions a sampler has done on the server: each of its readings is one."""
    cost = json.loads(sampler.cost())
    return int(cost["wait_ticks"]) + int(cost["counter_reads"])
