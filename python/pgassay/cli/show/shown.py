"""A stored run on the terminal.

Enters: a run directory. Leaves: its summary and trials on stdout. Never: writes a file.
"""

from __future__ import annotations

import json
from pathlib import Path

import typer

from pgassay.analysis.reading.metrics import METRICS
from pgassay.cli.show import Program
from pgassay.cli.show.host_figures import show_host
from pgassay.cli.terminal.console import labelled, out, print_table
from pgassay.cli.terminal.summary import print_summary
from pgassay.findings.wording import quantity
from pgassay.refusals.refusal import SetupRefused
from pgassay.report.context import ReportContext
from pgassay.report.objects.observed import summary_object
from pgassay.report.objects.run import run_object
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.samples.run_directory import RunDirectory
from pgassay.stores.address import shown
from pgassay.stores.fetching import fetched
from pgassay.stores.wanted import EVERYTHING
from pgassay.workflows.reporting import analyse_run, observation_context

_CLOSED = {"latency_mean": "mean", "latency_p99": "p99"}
_OPEN = {"response_mean": "response", "response_p99": "resp. p99"}
_COSTS = {"wal_bytes_per_tx": "WAL/tx", "checkpoints_per_min": "checkpoints/min"}
"""Metric → its heading, short enough for 80 columns; the figures have their units."""


def show_run(run: Path, host: Program | None, trial: int | None, *, as_json: bool) -> None:
    """Prints a run, an observation, or with `host` the figures of the server's host."""
    run = fetched(run, EVERYTHING)
    observed = ObservationDirectory.is_at(run)
    if trial is not None and observed:
        raise SetupRefused("trial-of-an-observation", run=run)
    if host is not None:
        show_host(run, host, trial, as_json=as_json)
        return
    if trial is not None:
        raise SetupRefused("trial-without-host")
    report = run / "report.html" if (run / "report.html").is_file() else None
    if observed:
        observation = observation_context(ObservationDirectory.open(run))
        if as_json:
            typer.echo(json.dumps(summary_object(shown(run), observation)))
        else:
            print_summary(observation, report)
        return
    context = analyse_run(RunDirectory.open(run))
    if as_json:
        typer.echo(json.dumps(run_object(shown(run), context)))
    else:
        _print_trials(context)
        print_summary(context, report)


def _print_trials(context: ReportContext) -> None:
    for arm in context.plan.arms:
        labelled(f"arm {arm.id:<5} ", arm.label)
    out.print()
    trials = context.analysis.answer.trials
    is_open = any("response_mean" in trial.whole.values for trial in trials)
    columns = {"tps": "throughput", **(_OPEN if is_open else _CLOSED), **_COSTS}
    rows = []
    for trial in trials:
        values = trial.whole.values
        shown = (quantity(values[n], METRICS[n]) if n in values else "–" for n in columns)
        rows.append((str(trial.number), str(trial.block), *shown, trial.arm))
    print_table(("trial", "block", *columns.values(), "arm"), rows)
