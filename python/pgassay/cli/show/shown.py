"""A stored run on the terminal.

Enters: a run directory. Leaves: its summary and trials on stdout. Never: writes a file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import typer

from pgassay.analysis.reading.metrics import METRICS
from pgassay.cli.show import Program
from pgassay.cli.terminal.console import labelled, out, print_table
from pgassay.cli.terminal.summary import print_summary_of, summary_blocks
from pgassay.findings.wording import quantity
from pgassay.refusals.refusal import SetupRefused
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Block
from pgassay.report.objects.run import run_object
from pgassay.samples.layout import OBSERVATION, REPORT, TRACE
from pgassay.stores.address import shown
from pgassay.stores.fetching import fetched
from pgassay.stores.wanted import EVERYTHING
from pgassay.workflows.showing import made_of

_CLOSED = {"latency_mean": "mean", "latency_p99": "p99"}
_OPEN = {"response_mean": "response", "response_p99": "resp. p99"}
_COSTS = {"wal_bytes_per_tx": "WAL/tx", "checkpoints_per_min": "checkpoints/min"}
_QUERIES = {"queries_mean": "time of a query", "checkpoints_per_min": "checkpoints/min"}
"""Metric → its heading, short enough for 80 columns; the figures have their units."""


def show_run(run: Path, host: Program | None, trial: int | None, *, as_json: bool) -> None:
    """Prints a run, an observation, a trace, or with `host` the figures of the server's host."""
    run = fetched(run, EVERYTHING)
    observed, traced = (run / OBSERVATION).is_file(), (run / TRACE).is_file()
    if trial is not None and observed:
        raise SetupRefused("trial-of-an-observation", run=run)
    if host is not None:
        from pgassay.cli.show.host_figures import show_host  # reads tables, which takes pyarrow

        show_host(run, host, trial, as_json=as_json)
        return
    if trial is not None:
        raise SetupRefused("trial-without-host")
    report = run / REPORT if (run / REPORT).is_file() else None
    if observed:
        _show_observation(run, report, as_json=as_json)
    elif traced:
        _show_trace(run, report, as_json=as_json)
    elif as_json:
        typer.echo(made_of(run, lambda context: json.dumps(run_object(shown(run), context))))
    else:
        arms, trials, blocks = made_of(run, _parts)
        for arm in arms:
            labelled(*arm)
        out.print()
        print_table(*trials)
        print_summary_of(blocks, report)


def _show_observation(run: Path, report: Path | None, *, as_json: bool) -> None:
    from pgassay.report.objects.observed import summary_object
    from pgassay.samples.observation_directory import ObservationDirectory
    from pgassay.workflows.reporting import observation_context

    observation = observation_context(ObservationDirectory.open(run))
    if as_json:
        typer.echo(json.dumps(summary_object(shown(run), observation)))
    else:
        print_summary_of(summary_blocks(observation), report)


def _show_trace(run: Path, report: Path | None, *, as_json: bool) -> None:
    from pgassay.report.objects.traced import trace_object
    from pgassay.samples.trace_directory import TraceDirectory
    from pgassay.workflows.reporting import trace_context

    trace = trace_context(TraceDirectory.open(run))
    if as_json:
        typer.echo(json.dumps(trace_object(shown(run), trace)))
    else:
        print_summary_of(summary_blocks(trace), report)


_Table = tuple[Sequence[str], Sequence[Sequence[str]]]


def _parts(context: ReportContext) -> tuple[list[tuple[str, str]], _Table, list[Block | None]]:
    """The arms with their labels, the table of trials, and the summary."""
    arms = [(f"arm {arm.id:<5} ", arm.label) for arm in context.plan.arms]
    return arms, _trials(context), [*summary_blocks(context)]


def _trials(context: ReportContext) -> _Table:
    trials = context.analysis.answer.trials
    is_open = any("response_mean" in trial.whole.values for trial in trials)
    columns = {"tps": "throughput", **(_OPEN if is_open else _CLOSED), **_COSTS}
    columns = columns if context.plan.queries is None else _QUERIES
    rows = []
    for trial in trials:
        values = trial.whole.values
        shown = (quantity(values[n], METRICS[n]) if n in values else "–" for n in columns)
        rows.append((str(trial.number), str(trial.block), *shown, trial.arm))
    return ("trial", "block", *columns.values(), "arm"), rows
