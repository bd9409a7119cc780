"""`pgassay show RUN --host vmstat|iostat`: the host of a stored run, interval by interval.

Enters: the directory of a run or an observation. Leaves: the program's own table on stdout, or
one JSON object.
Never: computes a figure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum

import typer

from pgassay.analysis.host_columns import COLUMNS
from pgassay.analysis.host_windows import finest_windows
from pgassay.analysis.model import Figures, HostWindow
from pgassay.errors import RunDirectoryError
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.samples.run_directory import RunDirectory

SCHEMA = "pgassay.host/1"
_ABSENT = "-"


class Program(StrEnum):
    """Whose columns are shown."""

    VMSTAT = "vmstat"
    IOSTAT = "iostat"


def show_host(run: RunDirectory, program: Program, trial: int | None, *, as_json: bool) -> None:
    """Every interval of one trial, or of all."""
    numbers = run.finished()
    if trial is not None and trial not in numbers:
        known = ", ".join(map(str, numbers)) or "none"
        raise RunDirectoryError(f"{run.path}: has no finished trial {trial}; it has {known}")
    chosen = [run.trial(number) for number in numbers if trial in (None, number)]
    windows = {int(s.folder.name): finest_windows([s], program) for s in chosen}
    if not any(windows.values()):
        raise _unread(run)
    if as_json:
        trials = [
            {"number": number, "windows": [_object(window, program) for window in found]}
            for number, found in windows.items()
        ]
        typer.echo(json.dumps({"schema": SCHEMA, "trials": trials}, allow_nan=False))
        return
    for number, found in windows.items():
        typer.echo(f"trial {number}")
        for line in _lines(found, program):
            typer.echo(line)


def show_observed_host(
    observation: ObservationDirectory, program: Program, *, as_json: bool
) -> None:
    """Every interval of an observation."""
    windows = finest_windows(observation.segments(), program)
    if not windows:
        raise _unread(observation)
    if as_json:
        told = [_object(window, program) for window in windows]
        typer.echo(json.dumps({"schema": SCHEMA, "windows": told}, allow_nan=False))
        return
    for line in _lines(windows, program):
        typer.echo(line)


def _unread(run: RunDirectory) -> RunDirectoryError:
    return RunDirectoryError(
        f"{run.path}: the server's host was not read; pgassay doctor says how it can be"
    )


def _object(window: HostWindow, program: Program) -> dict[str, object]:
    whole = asdict(window)
    return {name: whole[name] for name in ("start_ns", "end_ns", program.value)}


def _lines(windows: list[HostWindow], program: Program) -> Iterator[str]:
    """Columns as wide as their widest figure."""
    columns = COLUMNS[program]
    rows = [["time", *(["Device"] * (program == "iostat")), *(c.column for c in columns)]]
    for window in windows:
        at = datetime.fromtimestamp(window.end_ns / 1e9, UTC).strftime("%H:%M:%S")
        if program is Program.VMSTAT:
            rows.append([at, *_figures(window.vmstat, program)])
        else:
            rows += [[at, device, *_figures(f, program)] for device, f in window.iostat.items()]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        yield " ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))


def _figures(figures: Figures, program: Program) -> list[str]:
    values = ((figures[c.column], c.digits) for c in COLUMNS[program])
    return [_ABSENT if value is None else f"{value:.{digits}f}" for value, digits in values]
