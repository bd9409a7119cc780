"""How exactly a trace is replayed: `python -m bench.replay`.

Enters: how long each replay lasts. Leaves: docs/measured/replay.md. Never: asserts anything.
`python -m bench.replay one REQUEST` replays once; the page has the memory of that process.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import MEASURED
from bench.machine import load_average, this_machine
from bench.server import SCALE, running_server
from bench.tables import page, table
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.load.trace_file import METADATA, VERSION, read_trace, trace_schema
from pgassay.trials.load.replay_load import ReplayLoad, ReplayRequest

OUTPUT = MEASURED / "replay.md"
RATES = (1_000, 5_000, 10_000, 20_000)
SESSIONS = 40
GROUP = 100_000
LONG = 1_000_000
"""Statements of the trace that is replayed without pauses."""
SQL = "SELECT abalance FROM pgbench_accounts WHERE aid = $1"


def write_trace(path: Path, statements: int, rate: float) -> None:
    """A trace of reads by their key, at random times and in sessions drawn at random."""
    random = np.random.default_rng(1)
    gaps_us = random.exponential(1e6 / rate, statements)
    at_us = np.cumsum(gaps_us).astype(np.int64)
    keys = random.integers(1, 100_000 * SCALE, statements, endpoint=True)
    offsets = np.arange(statements + 1, dtype=np.int32)
    table_of = pa.table(
        {
            "session": random.integers(0, SESSIONS, statements).astype(np.int32),
            "at_us": at_us,
            "kind": pa.array(["prepared"] * statements).dictionary_encode(),
            "statement": pa.array([SQL] * statements).dictionary_encode(),
            "parameters": pa.ListArray.from_arrays(offsets, pa.array(keys).cast(pa.string())),
            "name": pa.array(["s"] * statements),
            "duration_us": pa.nulls(statements, pa.int64()),
            "sqlstate": pa.nulls(statements, pa.string()),
            "database": pa.array(["bench"] * statements).dictionary_encode(),
            "user": pa.nulls(statements, pa.string()),
            "application": pa.nulls(statements, pa.string()),
        }
    ).cast(trace_schema())
    about = {METADATA: json.dumps({"version": VERSION})}
    pq.write_table(table_of.replace_schema_metadata(about), path, row_group_size=GROUP)


def one(asked: Mapping[str, Any]) -> None:
    """Replay one trace and print what it took."""
    request = ReplayRequest(read_trace(Path(asked["trace"])), asked["speed"])
    result = ReplayLoad(request, ConnectionParameters(**asked["at"])).run(lambda progress: None)
    found = {
        "tps": result["tps"],
        "failed": result["failed"],
        "late": result["replay"]["late_own"],
        "us": 1e6 * result["client_cpu_s"] / result["transactions"],
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(found))


def measured(seconds: float, long: int) -> Iterator[tuple[str, ...]]:
    """A line for each rate, and one for a long trace without pauses."""
    with tempfile.TemporaryDirectory() as folder, running_server() as server:
        at = server.parameters
        place = {"host": at.host, "port": at.port, "user": at.user, "dbname": at.dbname}
        cases: list[tuple[str, int, float, float | None]] = [
            (f"{rate:,}", round(rate * seconds), float(rate), 1.0) for rate in RATES
        ]
        for name, statements, rate, speed in [*cases, ("max", long, 10_000.0, None)]:
            trace = Path(folder, "trace.parquet")
            write_trace(trace, statements, rate)
            words = json.dumps({"trace": str(trace), "speed": speed, "at": place})
            done = subprocess.run(
                [sys.executable, "-m", "bench.replay", "one", words],
                capture_output=True,
                text=True,
                check=True,
            )
            found = json.loads(done.stdout)
            late = found["late"]
            figures = ("p50_ms", "p99_ms", "max_ms")
            yield (
                name,
                f"{statements:,}",
                f"{found['tps']:,.0f}",
                *(f"{late[key]:.3f}" if late else "" for key in figures),
                f"{late['share']:.3%}" if late else "",
                f"{found['us']:.1f}",
                f"{found['mb']:.0f}",
            )


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("one", nargs="*", help="one replay, as JSON")
    parser.add_argument("--seconds", type=float, default=20.0, help="length of each [20]")
    parser.add_argument("--long", type=int, default=LONG, help="statements without pauses")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    options = parser.parse_args()
    if options.one:
        one(json.loads(options.one[-1]))
        return
    about = (
        f"Made by `make bench`: reads by their key with the prepared protocol in {SESSIONS}"
        " sessions, at exponential distances, replayed by one thread. Late is from when a"
        " statement was due to when it was sent; memory is the most that the whole process had,"
        " with Python and pyarrow.\n\n"
        f"{datetime.now(UTC):%Y-%m-%d}; {this_machine()}; load average {load_average():.1f}."
    )
    head = ["per second", "statements", "reached", "late p50, ms", "p99, ms", "max, ms"]
    head += ["more than 5 ms", "CPU each, µs", "memory, MB"]
    lines = table(head, measured(options.seconds, options.long))
    options.out.write_text(page("Exactness of a replay", about, {"": lines}), "utf-8")
    print(f"written: {options.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
