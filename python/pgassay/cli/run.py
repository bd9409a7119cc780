"""`pgassay run SPEC`: the experiment, from file to report.

Enters: an experiment file. Leaves: a run directory and a summary (or one JSON object).
Never: leaves the target changed, also when interrupted.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from pgassay.cli.console import err
from pgassay.cli.progress import RunProgress
from pgassay.cli.summary import print_summary
from pgassay.pipeline import Outcome, run_experiment
from pgassay.report.contract import run_object
from pgassay.samples.run_directory import RunDirectory, default_run_path
from pgassay.spec.parse import Spec, load_spec


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)


def run(
    spec: Annotated[Path, typer.Argument(help="The experiment file.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Run directory to make [pgassay-runs/…].")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Overrules the file's design.seed.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run the experiment of a file and report."""
    checked = load_spec(spec, seed)
    conclude(follow(checked, out or default_run_path(spec.stem)), as_json=as_json)


def follow(spec: Spec, path: Path) -> Outcome:
    """Run with progress on stderr; say what is kept when it ends early."""
    run = RunDirectory.create(path)
    try:
        with RunProgress() as progress:
            return run_experiment(spec, run, progress)
    except BaseException:
        with suppress(OSError):
            if not run.discard_if_empty():
                _say_what_is_kept(run)
        raise


def _say_what_is_kept(run: RunDirectory) -> None:
    kept = sum(1 for _ in run.trials())
    where = quote(str(run.path))
    if kept:
        err.print(f"{kept} finished trials are kept; pgassay report {where}", markup=False)
    else:
        err.print(f"what was seen so far is in {where}", markup=False)


def conclude(outcome: Outcome, *, as_json: bool) -> None:
    """The result on stdout."""
    if as_json:
        typer.echo(json.dumps(run_object(str(outcome.run.path), outcome.context)))
    else:
        print_summary(outcome.context, outcome.report)
