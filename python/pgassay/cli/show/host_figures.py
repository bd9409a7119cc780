"""The figures of a run's host, interval by interval, in the columns of vmstat or iostat.

Enters: the directory of a run or an observation. Leaves: the program's own table on stdout, or
one JSON object. Never: computes a figure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import typer

from pgassay.analysis.host.columns import COLUMNS
from pgassay.analysis.host.windows import finest_windows
from pgassay.analysis.model import Figures, HostWindow
from pgassay.cli.show import Program
from pgassay.cli.terminal.console import print_table
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.samples.run_directory import RunDirectory

SCHEMA = "pgassay.host/1"
_ABSENT = "-"


def show_host(run: Path, program: Program, trial: int | None, *, as_json: bool) -> None:
    """Prints the host's figures in every interval of an observation, of one trial or of all
    trials."""
    if ObservationDirectory.is_at(run):
        segments = ObservationDirectory.open(run).segments()
        shown: dict[int | None, list[HostWindow]] = {None: finest_windows(segments, program)}
    else:
        shown = _windows_of_trials(RunDirectory.open(run), program, trial)
    if not any(shown.values()):
        raise DirectoryRefused("no-host-figures", run)
    if as_json:
        objects = {n: [_object(one, program) for one in found] for n, found in shown.items()}
        found = (
            {"windows": objects[None]}
            if None in objects
            else {"trials": [{"number": n, "windows": some} for n, some in objects.items()]}
        )
        typer.echo(json.dumps({"schema": SCHEMA, **found}, allow_nan=False))
        return
    for number, windows in shown.items():
        if number is not None:
            typer.echo(f"trial {number}")
        device = ["Device"] if program == "iostat" else []
        titles = ["time", *device, *(column.column for column in COLUMNS[program])]
        print_table(titles, _rows(windows, program))


def _windows_of_trials(
    run: RunDirectory, program: Program, trial: int | None
) -> dict[int | None, list[HostWindow]]:
    numbers = run.finished()
    if trial is not None and trial not in numbers:
        known = ", ".join(map(str, numbers)) or "none"
        raise DirectoryRefused("no-such-trial", run.path, trial=trial, known=known)
    chosen = [run.trial(number) for number in numbers if trial in (None, number)]
    return {int(s.folder.name): finest_windows([s], program) for s in chosen}


def _object(window: HostWindow, program: Program) -> dict[str, object]:
    whole = asdict(window)
    return {name: whole[name] for name in ("start_ns", "end_ns", program)}


def _rows(windows: list[HostWindow], program: Program) -> Iterator[list[str]]:
    for window in windows:
        at = datetime.fromtimestamp(window.end_ns / 1e9, UTC).strftime("%H:%M:%S")
        if program == "vmstat":
            yield [at, *_figures(window.vmstat, program)]
        else:
            for device, figures in window.iostat.items():
                yield [at, device, *_figures(figures, program)]


def _figures(figures: Figures, program: Program) -> list[str]:
    values = ((figures[c.column], c.digits) for c in COLUMNS[program])
    return [_ABSENT if value is None else f"{value:.{digits}f}" for value, digits in values]
