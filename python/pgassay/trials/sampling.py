"""The samplers, asked for one server.

Enters: a connection and the server's version. Leaves: a `_core.Sampler` set up for them.
Never: reads a sample's content.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pgassay import _core
from pgassay.errors import ConnectionRefused
from pgassay.target.placement import Place, confirm_place, run_in, threads
from pgassay.target.protocol import ConnectionParameters

APPLICATION_NAME = "pgassay sampler"
WAITS_EVERY_S = 0.1
COUNTERS_EVERY_S = 1.0
JITTER = 0.5
_WAITS = "waits"


@dataclass(frozen=True)
class Query:
    """One .sql file: what it reads, and the lowest server version it is for."""

    name: str
    floor: int
    sql: str


@cache
def all_queries() -> tuple[Query, ...]:
    """Every query file that ships; NAME_FLOOR.sql."""
    found = []
    for file in (files("pgassay") / "queries").iterdir():
        match = re.fullmatch(r"(\w+)_(\d{6})\.sql", file.name)
        if match:
            found.append(Query(match[1], int(match[2]), file.read_text("utf-8")))
    return tuple(sorted(found, key=lambda query: (query.name, query.floor)))


def queries_for(version_num: int) -> dict[str, Query]:
    """By name, the query with the highest floor that this server reaches."""
    return {query.name: query for query in all_queries() if query.floor <= version_num}


def open_sampler(
    connection: ConnectionParameters,
    version_num: int,
    *,
    load: _core.Load | None,
    read_host: bool,
    place: Place | None = None,
) -> tuple[_core.Sampler, dict[str, str]]:
    """A sampler at work: waits at 10 Hz, counters and host each second; where its threads run."""
    queries = queries_for(version_num)
    configuration = {
        "connection": connection.for_core(),
        "application_name": APPLICATION_NAME,
        "waits": {"sql": queries[_WAITS].sql, "every_s": WAITS_EVERY_S, "jitter": JITTER},
        "counters": [
            {"source": name, "sql": query.sql, "every_s": COUNTERS_EVERY_S}
            for name, query in queries.items()
            if name != _WAITS
        ],
        "host": {"every_s": COUNTERS_EVERY_S, "proc": "/proc"} if read_host else None,
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
