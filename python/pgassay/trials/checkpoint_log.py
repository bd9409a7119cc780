"""Checkpoints of one trial, from the server's log or, without it, from its counters.

Enters: the part of a log that a trial wrote, or counter columns. Leaves: `Checkpoint` values.
Never: guesses a number that was not logged.

The log is that of a server this tool started: English messages, lines that begin with the epoch
(`%n`, milliseconds) as target/cluster.py sets it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from pgassay.trials.record import Checkpoint, Columns

_LINE = re.compile(
    r"^(\d{9,12}\.\d{3}) .*?LOG:\s+(?:checkpoint|restartpoint) (starting|complete): (.*)$"
)
_COMPLETE = re.compile(
    r"wrote (?P<buffers>\d+) buffers.*?write=(?P<write>[\d.]+) s, sync=(?P<sync>[\d.]+) s, "
    r"total=(?P<total>[\d.]+) s(?:.*?distance=(?P<distance>\d+) kB, estimate=(?P<estimate>\d+) kB)?"
)


class LogTail:
    """What a log file gains from now on."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._start = path.stat().st_size if path is not None and path.exists() else 0

    def text(self) -> str | None:
        """The new part; None where there is no log to read."""
        if self._path is None:
            return None
        try:
            with self._path.open("rb") as file:
                if file.seek(0, 2) < self._start:
                    self._start = 0  # the file was begun anew
                file.seek(self._start)
                return file.read().decode("utf-8", errors="replace")
        except OSError:
            return None


def checkpoints_in_log(text: str) -> tuple[Checkpoint, ...]:
    """Checkpoints that started in this part of a log, in order."""
    found: list[Checkpoint] = []
    for line in text.splitlines():
        match = _LINE.match(line)
        if not match:
            continue
        at = int(match[1].replace(".", "")) * 1_000_000
        if match[2] == "starting":
            found.append(Checkpoint(at, None, match[3].strip()))
        elif found and found[-1].ended_ns is None:
            found[-1] = _completed(found[-1], at, match[3])
    return tuple(found)


def checkpoints_in_counters(counters: Columns) -> tuple[Checkpoint, ...]:
    """Checkpoints seen as steps of the server's counters; the start is known to a second."""
    names = {"checkpoints_timed": "time", "checkpoints_requested": "requested"}
    last: dict[str, float] = {}
    found: list[Checkpoint] = []
    columns = (counters[name] for name in ("time_ns", "source", "name", "value"))
    for at, source, name, value in zip(*columns, strict=True):
        if source != "checkpointer" or name not in names:
            continue
        if name in last and value > last[name]:
            found.append(Checkpoint(at, None, names[name]))
        last[name] = value
    return tuple(found)


def _completed(begun: Checkpoint, at: int, rest: str) -> Checkpoint:
    ended = replace(begun, ended_ns=at)
    match = _COMPLETE.search(rest)
    if not match:
        return ended
    return replace(
        ended,
        buffers=int(match["buffers"]),
        write_s=float(match["write"]),
        sync_s=float(match["sync"]),
        total_s=float(match["total"]),
        distance_kb=None if match["distance"] is None else int(match["distance"]),
        estimate_kb=None if match["estimate"] is None else int(match["estimate"]),
    )
