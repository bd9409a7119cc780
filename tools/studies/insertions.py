"""Trace insertions into WAL around a checkpoint, with and without full-page images.

    python -m tools.studies.insertions

Enters: the load of the study checkpoint-dip, on a server that a run starts; root and bpftrace.
Leaves: in docs/studies/results, the mean time of an insertion by setting and kind of process,
before and after a checkpoint begins. Never: keeps the run itself, which the probes slow down.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg
from tools.studies.kept import RESULTS, as_text
from tools.studies.running import RUNS

from pgassay.server.hosts.account import server_account
from pgassay.server.owned.cluster import DATABASE, PORT, SUPERUSER
from pgassay.server.owned.workspace import base_directory
from pgassay.server.protocol import LOAD_NAME

SPEC = Path(__file__).with_name("insertions.toml")
TRACED = RESULTS / "checkpoint-dip.traced"
LEVELS = ("on", "off")
UNTIL_TRACE_S = 45.0
"""From the beginning of the load: the warm-up; the checkpoint comes half a minute later."""
TRACE_S = 60
_WAIT_S = 900.0


def main() -> None:
    """Trace each level and write what was found."""
    found = [row for level in LEVELS for row in traced(level)]
    TRACED.write_text(as_text({"insertions": found}), "utf-8")
    print(as_text({"insertions": found}))


def traced(level: str) -> list[dict[str, Any]]:
    """One row for each kind of process, and for each time around the checkpoint."""
    RUNS.mkdir(parents=True, exist_ok=True)
    file, run = RUNS / "insertions.toml", RUNS / f"insertions-{level}"
    file.write_text(SPEC.read_text("utf-8").replace("LEVEL", level), "utf-8")
    trace = RUNS / f"insertions-{level}-trace"
    for folder in (run, trace):
        shutil.rmtree(folder, ignore_errors=True)
    others = _sockets()
    process = subprocess.Popen([*_PGASSAY, "run", str(file), "--out", str(run), "--plain"])
    try:
        where = _server_under_load(others)
        time.sleep(UNTIL_TRACE_S)
        asked = ["--what", "inserts,checkpoints", "--duration", f"{TRACE_S}s"]
        done = subprocess.run(
            [*_PGASSAY, "trace", where, *asked, "--out", str(trace), "--json"],
            check=True,
            capture_output=True,
            text=True,
        )
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
    return [{"full_page_writes": level, **row} for row in _rows(json.loads(done.stdout))]


_PGASSAY = (sys.executable, "-m", "pgassay")


def _sockets() -> set[Path]:
    return set(base_directory(server_account()).glob("run-*/socket"))


def _server_under_load(others: set[Path]) -> str:
    """Where the server of the run is reached, once its load has begun; `others` are not it."""
    ends = time.monotonic() + _WAIT_S
    while time.monotonic() < ends:
        time.sleep(1.0)
        for folder in _sockets() - others:
            where = f"host={folder} port={PORT} user={SUPERUSER} dbname={DATABASE}"
            try:
                with psycopg.connect(where) as session:
                    row = session.execute(
                        "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s",
                        (LOAD_NAME,),
                    ).fetchone()
            except psycopg.Error:
                continue
            if row is not None and row[0]:
                return where
    raise SystemExit("no load began")


def _rows(trace: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "period": period["name"],
            "process": point["key"],
            "per_s": point["per_s"],
            "mean_us": point["mean_us"],
            "p99_us": point["p99_us"],
        }
        for period in trace["periods"]
        if period["name"] != "after"
        for point in period["points"]
        if point["point"] == "wal_insert"
    ]


if __name__ == "__main__":
    main()
