"""`pgassay list`: the runs of a folder.

Enters: a folder. Leaves: one line per run on stdout. Never: analyses.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from pgassay.cli.console import err, out, plain
from pgassay.errors import RunDirectoryError
from pgassay.samples.observation_directory import (
    OBSERVATION,
    ObservationDirectory,
    is_observation,
)
from pgassay.samples.run_directory import RUNS_FOLDER, RunDirectory


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("list")(list_runs)


def list_runs(
    folder: Annotated[Path, typer.Argument(help="Folder of run directories.")] = Path(RUNS_FOLDER),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the runs of a folder, oldest first."""
    kinds = ("plan.json", OBSERVATION)
    found = sorted(path for kind in kinds for path in folder.glob(f"*/{kind}"))
    runs = [_line(path.parent) for path in found]
    if as_json:
        typer.echo(json.dumps({"schema": "pgassay.list/1", "runs": runs}))
        return
    if not runs:
        err.print(f"no runs in {folder}", markup=False)
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("run", "trials", "verdict", "question"):
        table.add_column(title, justify="right" if title == "trials" else "left")
    for run in runs:
        table.add_row(plain(run["run"]), str(run["trials"]), run["verdict"], plain(run["question"]))
    out.print(table)


def _line(path: Path) -> dict[str, Any]:
    """One row; a damaged run must not hide the others."""
    try:
        if is_observation(path):
            return _observation_line(ObservationDirectory.open(path))
        run = RunDirectory.open(path)
        question = str(run.read_json("plan.json").get("question", ""))
        trials = sum(1 for _ in run.trials())
        return {"run": str(path), "question": question, "trials": trials, "verdict": _verdict(run)}
    except (RunDirectoryError, OSError):
        return {"run": str(path), "question": "", "trials": 0, "verdict": "unreadable"}


def _observation_line(run: ObservationDirectory) -> dict[str, Any]:
    server = run.read_json(OBSERVATION).get("server", "")
    what = f"observed {server}"
    return {"run": str(run.path), "question": what, "trials": 0, "verdict": "observation"}


def _verdict(run: RunDirectory) -> str:
    """From analysis.json, the first verdict; a run without one is unfinished."""
    if not run.has("analysis.json"):
        return "unfinished"
    try:
        findings = run.read_json("analysis.json")["findings"]
        return str(next(f["title"] for f in findings if f["kind"] == "verdict"))
    except (RunDirectoryError, KeyError, StopIteration):
        return "unreadable"
