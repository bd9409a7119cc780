"""`pgassay list`: the runs of a folder.

Enters: a folder. Leaves: one line per run on stdout. Never: analyses, cuts a path.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from pgassay.cli.terminal.console import err, one_line, out
from pgassay.cli.terminal.options import Json
from pgassay.errors import RunDirectoryError
from pgassay.samples.overview import RunOverview, State, runs_in

RUNS_FOLDER = "pgassay-runs"
_GAP = "  "
_SHORTEST_QUESTION = 24
"""Columns; with fewer left, the question is not shown."""


def list_runs(
    folder: Annotated[Path, typer.Argument(help="A folder that holds run directories.")] = Path(
        RUNS_FOLDER
    ),
    as_json: Json = False,
) -> None:
    """List the runs in a folder: date, state, verdict and effect."""
    if not folder.is_dir():
        raise RunDirectoryError(
            f"{folder}: there is no such folder; name the folder that holds your runs"
        )
    runs = runs_in(folder)
    if as_json:
        found = [_object(run) for run in runs]
        typer.echo(json.dumps({"schema": "pgassay.list/1", "runs": found}))
        return
    if not runs:
        err.print(f"no runs in {folder}", markup=False)
        return
    for line in lines(runs, out.width):
        out.print(line, markup=False, overflow="ignore", no_wrap=True, crop=False)
    for run in runs:
        if run.state is State.CHANGES_LEFT:
            err.print(
                f"{run.path}: its run was killed and left changes on its server;"
                f" `pgassay recover {run.path}` undoes them",
                markup=False,
            )


def lines(runs: list[RunOverview], width: int) -> list[str]:
    """One line per run below a line of headings; the path comes last and is never cut."""
    rows = [("started", "result", "effect", "trials"), *(_cells(run) for run in runs)]
    widths = [max(len(row[at]) for row in rows) for at in range(4)]
    paths = ["run", *(one_line(str(run.path)) for run in runs)]
    questions = ["question", *(one_line(run.question) for run in runs)]
    taken = sum(widths) + 5 * len(_GAP) + max(map(len, paths))
    longest = max(map(len, questions))
    room = min(longest, width - taken)
    found = []
    for row, question, path in zip(rows, questions, paths, strict=True):
        cells = [
            cell.rjust(size) if at >= 2 else cell.ljust(size)
            for at, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        if room >= min(_SHORTEST_QUESTION, longest):
            cells.append(question if len(question) <= room else question[: room - 1] + "…")
            cells[-1] = cells[-1].ljust(room)
        found.append(_GAP.join([*cells, path]))
    return found


def _cells(run: RunOverview) -> tuple[str, str, str, str]:
    started = "" if run.started is None else f"{run.started.astimezone():%Y-%m-%d %H:%M}"
    result = run.state.value if run.state is not State.FINISHED else run.badge or run.state.value
    if run.more_verdicts and run.state is State.FINISHED:
        result += f", {run.more_verdicts} more"
    effect = "" if run.effect_pct is None else f"{run.effect_pct:+.1f} %".replace("-", "−")
    return started, result, effect, "" if run.verdict == "observation" else str(run.trials)


def _object(run: RunOverview) -> dict[str, Any]:
    verdict = run.verdict or (
        State.UNREADABLE if run.state is State.UNREADABLE else State.UNFINISHED
    )
    return {
        "run": str(run.path),
        "question": run.question,
        "trials": run.trials,
        "verdict": verdict,
        "state": run.state,
        "started": None if run.started is None else run.started.isoformat(),
        "effect_pct": run.effect_pct,
        "more_verdicts": run.more_verdicts,
    }
