"""Carry out a run, new or resumed, with its progress on stderr.

Enters: a checked spec, or the directory of a run. Leaves: a run directory and a summary (or one
JSON object). Never: ends without saying what was kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote

import typer

from pgassay.cli.run.progress import RunProgress
from pgassay.cli.terminal.consent import refuse_without_consent
from pgassay.cli.terminal.console import counted, err, plain, silenced, warn
from pgassay.cli.terminal.expectation import expectation_of, timed_here
from pgassay.cli.terminal.gates import refuse_other_gates, refuse_without_comparison, settle
from pgassay.cli.terminal.summary import print_ending
from pgassay.errors import PgassayError, RunDirectoryError, SetupError, SpecError
from pgassay.findings.noise.forecast import found_here
from pgassay.notes import Note
from pgassay.plan.design import make_plan
from pgassay.plan.model import Gate, Plan
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.report.objects.run import run_object
from pgassay.samples.address import local_path, url_of
from pgassay.samples.journal import open_changes
from pgassay.samples.layout import JOURNAL
from pgassay.samples.ownership.own_runs import refuse_others
from pgassay.samples.ownership.unfinished import locked, pending_undo
from pgassay.samples.run_directory import RunDirectory
from pgassay.server.comparison import ServerCompared
from pgassay.spec.experiment import Spec
from pgassay.workflows.pipeline import run_experiment
from pgassay.workflows.reporting import Outcome
from pgassay.workflows.resume import acts_of_resuming
from pgassay.workflows.resume import resume as resume_run

REFUSALS = (SpecError, SetupError, RunDirectoryError)
"""Errors that end a resumption before it has changed anything."""


def follow(
    spec: Spec,
    path: Path,
    *,
    calibrates: bool = False,
    live: bool = True,
    quiet: bool = False,
    gates: Sequence[Gate] = (),
    gates_only: bool = False,
    planned_by: str = "",
) -> Outcome:
    """Runs an experiment with progress on stderr; if it ends early, says what is kept.

    `planned_by` is the command that shows its plan, where there is one."""
    plan = make_plan(spec, calibrates=calibrates)
    refuse_without_comparison(gates, plan, Path(spec.source))
    run = _created(path, spec)

    def forecast(plan: Plan) -> tuple[Plan, Note | None]:
        plan = timed_here(spec, plan)
        return plan, None if calibrates else found_here(expectation_of(spec, plan))

    notes_in = planned_by or "in the report"
    progress = RunProgress(live=live and not quiet, forecast=forecast, notes_in=notes_in)
    with (
        locked(run.path),
        _saying_how_servers_were_left(progress),
        _saying_what_is_kept(run),
        silenced(quiet, err),
        progress,
    ):
        outcome = run_experiment(
            spec, run, progress, calibrates=calibrates, gates=gates, gates_only=gates_only
        )
        _finish(run)
    return replace(outcome, compared=tuple(progress.servers))


def go_on(
    given: Path,
    out: Path | None,
    accept: Sequence[str],
    *,
    yes: bool = False,
    live: bool = True,
    quiet: bool = False,
    gates: Sequence[Gate] = (),
) -> Outcome:
    """Resume a run; an experiment file given beside --out must be the one the run was made with."""
    path = out or given
    spec_path = None if path == given and (url_of(path) or path.is_dir()) else given
    run = _begun(path)
    refuse_others(run.path)
    refuse_other_gates(gates, run.plan(), path)
    progress = RunProgress(live=live and not quiet)
    with locked(run.path):
        refuse_without_consent(acts_of_resuming(run, spec_path), yes=yes, quiet=quiet)
        with (
            _saying_how_servers_were_left(progress),
            _saying_what_is_kept(run, REFUSALS),
            silenced(quiet, err),
            progress,
        ):
            outcome = resume_run(run, spec_path, accept, progress)
            _finish(run)
    return replace(outcome, compared=tuple(progress.servers))


def _created(path: Path, spec: Spec) -> RunDirectory:
    """A new run directory; for a URL, here too, and what is complete goes into the store."""
    url = url_of(path)
    if url is None:
        return RunDirectory.create(local_path(path))
    from pgassay.stores.mirrored_run import MirroredRun  # runs on this machine need none of it

    return MirroredRun.begin(url, spec.text, warn)


def _begun(path: Path) -> RunDirectory:
    """The directory of a run that is not finished."""
    url = url_of(path)
    if url is not None:
        from pgassay.stores.mirrored_run import MirroredRun

        return MirroredRun.again(url, warn)
    path = local_path(path)
    if not path.is_dir() and (path.parent / "plan.json").is_file():
        path = path.parent  # the run's own spec.toml
    elif not path.is_dir():
        raise DirectoryRefused("no-run-to-resume", path)
    return RunDirectory.open(path)


def _finish(run: RunDirectory) -> None:
    """Store what a run has for a store."""
    if stored := run.finish():
        err.print(stored, markup=False)


@contextmanager
def _saying_how_servers_were_left(progress: RunProgress) -> Iterator[None]:
    """Print it where the run ends early; a run that does not says it after its summary."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            _print_compared(progress.servers)
        raise


def _print_compared(servers: Iterable[ServerCompared]) -> None:
    for one in servers:
        err.print(plain(str(one)), style=None if one.comparison.is_identical else "yellow")


@contextmanager
def _saying_what_is_kept(
    run: RunDirectory, untouched: tuple[type[PgassayError], ...] = ()
) -> Iterator[None]:
    """Print what is kept if the run ends early; after an `untouched` error nothing new is."""
    try:
        yield
    except untouched:
        raise
    except BaseException:
        with suppress(OSError):
            if untouched or not run.discard_if_empty():
                _print_what_is_kept(run)
        raise


def _print_what_is_kept(run: RunDirectory) -> None:
    kept = sum(1 for _ in run.trials())
    where = quote(run.place)
    _finish(run)
    if kept:
        trials = counted(kept, "finished trial")
        err.print(f"{trials} kept; `pgassay report {where}` analyses the run so far", markup=False)
        err.print(f"`pgassay run --resume {where}` continues at the next trial", markup=False)
    else:
        err.print(f"no trial finished; the plan and the journal are in {where}", markup=False)
    if open_changes(run.path / JOURNAL):
        err.print(pending_undo(run.path), markup=False)


def conclude(outcome: Outcome, *, as_json: bool, gate_undecided: str = "worse") -> None:
    """Prints the result on stdout; raises the error of gates that do not hold."""
    if as_json:
        typer.echo(json.dumps(run_object(outcome.directory.place, outcome.context)))
    else:
        report = (
            outcome.report if outcome.report.exists() else f"{outcome.directory.place}/report.html"
        )
        print_ending(outcome.context, report, outcome.directory.place)
    _print_compared(outcome.compared)
    settle(outcome.context.gates, gate_undecided)
