"""`pgassay run SPEC`: the experiment, from file to report.

Enters: an experiment file. Leaves: a run directory and a summary (or one JSON object).
Never: leaves the target changed, also when interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from pgassay.cli.console import err
from pgassay.cli.plan_outlook import expectation_of, print_expectation
from pgassay.cli.progress import RunProgress
from pgassay.cli.summary import print_summary
from pgassay.errors import PgassayError, RunDirectoryError, SetupError, SpecError
from pgassay.pipeline import Outcome, run_experiment
from pgassay.plan.design import make_plan
from pgassay.report.contract import run_object
from pgassay.resume import resume as resume_run
from pgassay.samples.handover import held, left_to_do
from pgassay.samples.journal import JOURNAL, open_changes
from pgassay.samples.run_directory import RunDirectory, default_run_path
from pgassay.spec.mode import Mode
from pgassay.spec.parse import Spec, load_spec

REFUSALS = (SpecError, SetupError, RunDirectoryError)
"""What ends a resumption before it has done anything."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)


def run(
    spec: Annotated[
        Path, typer.Argument(help="The experiment file; with --resume, the run directory.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="Run directory to make [pgassay-runs/…].")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Overrules the file's design.seed.")
    ] = None,
    mode: Annotated[
        Mode | None, typer.Option("--mode", help="Overrules the file's design.mode.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that broke off, at its next trial.")
    ] = False,
    accept: Annotated[
        list[str] | None,
        typer.Option("--accept", help="With --resume: a difference of the server to accept."),
    ] = None,
    aa: Annotated[
        bool, typer.Option("--aa", help="Calibrate: run the baseline against itself.")
    ] = False,
    no_live: Annotated[bool, typer.Option("--plain", help="Lines instead of a live view.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run the experiment of a file and report."""
    if resume:
        if seed is not None:
            raise SetupError("--resume keeps the plan of the run, and so its seed; drop --seed")
        if aa:
            raise SetupError("--resume keeps the plan of the run, A/A or not; drop --aa")
        if mode is not None:
            raise SetupError("--resume keeps the plan of the run, and so its mode; drop --mode")
        conclude(go_on(spec, out, accept or [], live=not no_live), as_json=as_json)
        return
    if accept:
        raise SetupError("--accept belongs to --resume; drop it")
    checked = load_spec(spec, seed, mode)
    path = out or default_run_path(f"{spec.stem}-aa" if aa else spec.stem)
    conclude(follow(checked, path, calibrates=aa, live=not no_live), as_json=as_json)


def follow(spec: Spec, path: Path, *, calibrates: bool = False, live: bool = True) -> Outcome:
    """Run with progress on stderr; say what is kept when it ends early."""
    plan = make_plan(spec, calibrates=calibrates)
    if not calibrates:
        print_expectation(err, expectation_of(spec, plan), plan)
    run = RunDirectory.create(path)
    with held(run.path), _kept_is_told(run), RunProgress(live=live) as progress:
        return run_experiment(spec, run, progress, calibrates=calibrates)


def go_on(given: Path, out: Path | None, accept: Sequence[str], *, live: bool = True) -> Outcome:
    """Resume the run of a directory; an experiment file beside --out must be the run's own."""
    path = out or given
    spec_path = None if path.is_dir() and path == given else given
    if not path.is_dir() and (path.parent / "plan.json").is_file():
        path = path.parent  # the run's own spec.toml
    elif not path.is_dir():
        raise RunDirectoryError(
            f"{path}: is not a run directory; write pgassay run --resume RUN with the folder that"
            " holds plan.json"
        )
    run = RunDirectory.open(path)
    with held(run.path), _kept_is_told(run, REFUSALS), RunProgress(live=live) as progress:
        return resume_run(run, spec_path, accept, progress)


@contextmanager
def _kept_is_told(
    run: RunDirectory, untouched: tuple[type[PgassayError], ...] = ()
) -> Iterator[None]:
    """Say what a run has when it ends early; after an `untouched` error there is nothing new."""
    try:
        yield
    except untouched:
        raise
    except BaseException:
        with suppress(OSError):
            if untouched or not run.discard_if_empty():
                _say_what_is_kept(run)
        raise


def _say_what_is_kept(run: RunDirectory) -> None:
    kept = sum(1 for _ in run.trials())
    where = quote(str(run.path))
    if kept:
        err.print(f"{kept} finished trials are kept; pgassay report {where}", markup=False)
        err.print(f"pgassay run --resume {where} goes on at the next trial", markup=False)
    else:
        err.print(f"what was seen so far is in {where}", markup=False)
    if open_changes(run.path / JOURNAL):
        err.print(left_to_do(run.path), markup=False)


def conclude(outcome: Outcome, *, as_json: bool) -> None:
    """The result on stdout."""
    if as_json:
        typer.echo(json.dumps(run_object(str(outcome.run.path), outcome.context)))
    else:
        print_summary(outcome.context, outcome.report)
