"""How fast a server's log is read: `python -m bench.log_reader OUT`.

Enters: the page's path, how large the logs are. Leaves: there the speed by form and compression,
with the most memory; with `--large` also what a trace of ten million statements takes to be
written, and its beginning to be replayed. Never: asserts anything. Each figure is of a process of
its own (`python -m bench.log_reader one REQUEST`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.log_reader.logs import COMPRESSED, logs_of_clients, repeated, statements_in
from bench.machine import this_machine
from bench.own_load.applications import PREFIX, application
from bench.tables import page, table
from pgassay.draw.log.drawing import draw_log
from pgassay.draw.log.options import LogOptions
from pgassay.draw.log.trace import write_trace
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.load.trace_file import read_trace
from pgassay.trials.load.replay_load import ReplayLoad, ReplayRequest

STATEMENTS = 10_000_000
HEAD = 50_000
"""Statements of a long trace that are replayed."""


class _EnoughError(Exception):
    """So many statements were replayed."""


def one(asked: Mapping[str, Any]) -> None:
    """Does one thing, and prints what it took."""
    path = Path(asked["file"])
    options = LogOptions(prefix=PREFIX if path.name.startswith("stderr") else None)
    private = _Private()
    private.start()
    began, began_cpu = time.monotonic(), time.process_time()
    if asked["does"] == "draw":
        draw_log([path], options)
    elif asked["does"] == "trace":
        write_trace([path], Path(asked["trace"]), options)
    else:
        request = ReplayRequest(read_trace(Path(asked["trace"])), None)
        with suppress(_EnoughError):
            ReplayLoad(request, ConnectionParameters(**asked["at"])).run(_until_head)
    figures = {
        "s": time.monotonic() - began,
        "cpu_s": time.process_time() - began_cpu,
        "mb": private.most_kb / 1024,
    }
    print(json.dumps(figures))


class _Private(threading.Thread):
    """Reads twenty times a second how much memory this process has, without pages of files: the
    kernel takes those back when it needs them, such as the file in which a trace's rows wait."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most_kb = 0

    def run(self) -> None:
        while True:
            status = Path("/proc/self/status").read_text("utf-8")
            (line,) = (line for line in status.splitlines() if line.startswith("RssAnon:"))
            self.most_kb = max(self.most_kb, int(line.split()[1]))
            time.sleep(0.05)


def _until_head(progress: Mapping[str, Any]) -> None:
    if progress["transactions"] >= HEAD:
        raise _EnoughError


def measured(**asked: Any) -> dict[str, float]:
    """What a process of its own took."""
    words = [sys.executable, "-m", "bench.log_reader", "one", json.dumps(asked)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def speeds(folder: Path, logs: Mapping[str, bytes], least: int) -> Iterator[tuple[str, ...]]:
    """A line for each form and compression."""
    for form, log in logs.items():
        for ending, kind in COMPRESSED.items():
            path = folder / f"{form}.log{ending}"
            size = repeated(log, path, least)
            found = measured(does="draw", file=str(path))
            path.unlink()
            yield (
                form,
                kind or "plain",
                f"{size / 1e6:,.0f}",
                f"{size / 1e6 / found['cpu_s']:.0f}",
                f"{size / 1e6 / found['s']:.0f}",
                f"{found['mb']:.0f}",
            )


def large(folder: Path, logs: Mapping[str, bytes], statements: int) -> Iterator[tuple[str, ...]]:
    """A long trace written, and the head of it replayed."""
    path, trace = folder / "csv.log", folder / "trace.parquet"
    least = len(logs["csv"]) * -(-statements // statements_in(logs))
    size = repeated(logs["csv"], path, least)
    found = measured(does="trace", file=str(path), trace=str(trace))
    mb = f"{size / 1e6:,.0f} MB of csv to {trace.stat().st_size / 1e6:,.0f} MB"
    yield f"{statements:,} written", mb, f"{found['s']:.0f}", f"{found['mb']:.0f}"
    with application("shop", None) as server:
        at = server.parameters
        place = {"host": at.host, "port": at.port, "user": at.user, "dbname": at.dbname}
        found = measured(does="replay", file=str(path), trace=str(trace), at=place)
    yield f"the first {HEAD:,} replayed", "", f"{found['s']:.0f}", f"{found['mb']:.0f}"


def main() -> None:
    """Measure and write the page."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("out", help="the page")
    words.add_argument("request", nargs="?", help=argparse.SUPPRESS)
    words.add_argument("--mb", type=int, default=1000, help="of each log [1000]")
    words.add_argument("--seconds", type=float, default=30.0, help="of the log repeated [30]")
    words.add_argument("--large", action="store_true", help="also a trace of 10 M statements")
    words.add_argument("--statements", type=int, default=STATEMENTS, help="of that trace")
    words.add_argument("--dir", type=Path, help="where the logs lie meanwhile; on a disk with room")
    asked = words.parse_args()
    if asked.request is not None:
        one(json.loads(asked.request))
        return
    logs = logs_of_clients(asked.seconds)
    sections = dict[str, list[str]]()
    with tempfile.TemporaryDirectory(dir=asked.dir) as folder:
        head = ["form", "compressed", "MB of text", "MB per CPU second", "MB/s", "memory, MB"]
        sections[""] = table(head, speeds(Path(folder), logs, asked.mb * 1_000_000))
        if asked.large:
            head = ["trace", "size", "s", "memory, MB"]
            sections["A long trace"] = table(head, large(Path(folder), logs, asked.statements))
    about = (
        "A log of a web shop's clients with the extended protocol, by a real PostgreSQL 15 in each"
        f" of its forms, repeated with later dates to {asked.mb:,} MB, and drawn by `pgassay draw"
        " --log`. Memory is the most that the process had, without pages of files in it; MB"
        " are those of the plain text.\n\n"
        f"{datetime.now(UTC):%Y-%m-%d}; {this_machine()}. Made by `python -m bench.log_reader`."
    )
    Path(asked.out).write_text(page("Speed of reading a log", about, sections), "utf-8")


if __name__ == "__main__":
    main()
