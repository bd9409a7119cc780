"""`pgassay show RUN`: a stored run on the terminal.

Enters: a run directory. Leaves: its summary and trials on stdout. Never: writes a file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from pgassay.analysis.metrics import METRICS
from pgassay.cli.console import out, plain
from pgassay.cli.host_figures import Program, show_host, show_observed_host
from pgassay.cli.observe import print_observation
from pgassay.cli.summary import print_summary
from pgassay.errors import SetupError
from pgassay.findings.wording import quantity
from pgassay.observation import read_context
from pgassay.pipeline import analyse_run
from pgassay.report.context import ReportContext
from pgassay.report.contract import run_object
from pgassay.report.observation import summary_object
from pgassay.samples.observation_directory import ObservationDirectory, is_observation
from pgassay.samples.run_directory import RunDirectory

_SHOWN = ("tps", "latency_mean", "latency_p99", "wal_bytes_per_tx", "checkpoints_per_min")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("show")(show)


def show(
    run: Annotated[Path, typer.Argument(help="A run directory.")],
    host: Annotated[
        Program | None,
        typer.Option(
            "--host", help="The server's host, second by second, in this program's columns."
        ),
    ] = None,
    trial: Annotated[
        int | None, typer.Option("--trial", min=1, help="With --host: only this trial.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show a run: its trials, its verdict and what explains it."""
    if is_observation(run):
        if trial is not None:
            raise SetupError(f"{run}: is an observation, which has no trials; leave out --trial")
        if host is not None:
            show_observed_host(ObservationDirectory.open(run), host, as_json=as_json)
            return
        _show_observation(run, as_json=as_json)
        return
    if host is not None:
        show_host(RunDirectory.open(run), host, trial, as_json=as_json)
        return
    if trial is not None:
        raise SetupError("--trial goes with --host vmstat or --host iostat")
    context = analyse_run(RunDirectory.open(run))
    if as_json:
        typer.echo(json.dumps(run_object(str(run), context)))
        return
    _print_trials(context)
    report = run / "report.html"
    print_summary(context, report if report.is_file() else None)


def _show_observation(run: Path, *, as_json: bool) -> None:
    context = read_context(ObservationDirectory.open(run))
    if as_json:
        typer.echo(json.dumps(summary_object(str(run), context)))
        return
    report = run / "report.html"
    print_observation(context, report if report.is_file() else None)


def _print_trials(context: ReportContext) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("trial", "block", *(METRICS[name].title for name in _SHOWN)):
        table.add_column(title, justify="right")
    table.add_column("arm")
    for trial in context.analysis.trials:
        values = [
            quantity(trial.whole.values[name], METRICS[name]) if name in trial.whole.values else "–"
            for name in _SHOWN
        ]
        label = context.plan.arm(trial.arm).label
        table.add_row(str(trial.number), str(trial.block), *values, plain(label))
    out.print(table)
