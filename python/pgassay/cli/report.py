"""`pgassay report RUN`: analyse a stored run or observation again, also an unfinished one.

Enters: a directory. Leaves: the report in the format asked for. Never: runs anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from pgassay.cli.terminal.options import option


def report(
    run: Annotated[Path, typer.Argument(help="Directory of a run, an observation or a trace.")],
    output_format: Annotated[
        Literal["html", "md", "json"],
        option("--format", "html writes RUN/report.html; md and json go to stdout without --out."),
    ] = "html",
    out: Annotated[Path | None, option("--out", "File to write.")] = None,
) -> None:
    """Analyse a stored run again and write its report."""
    from pgassay.cli.terminal.console import err
    from pgassay.cli.terminal.summary import print_observation, print_summary, print_trace
    from pgassay.observation import read_context, report_observation
    from pgassay.report.analysis_object import render_json
    from pgassay.report.html import render_html
    from pgassay.report.markdown import render_markdown
    from pgassay.report.observed_object import render_object
    from pgassay.report.traced_object import render_trace_object
    from pgassay.reporting import analyse_run, report_run
    from pgassay.samples.files import write_atomically
    from pgassay.samples.observation_directory import ObservationDirectory, is_observation
    from pgassay.samples.run_directory import RunDirectory
    from pgassay.samples.trace_directory import TraceDirectory, is_trace
    from pgassay.tracing import read_trace_context, report_trace

    observed = is_observation(run)
    if output_format == "html" and out is None:
        if is_trace(run):
            traced = report_trace(TraceDirectory(run))
            print_trace(traced.context, traced.report)
        elif observed:
            observation = report_observation(ObservationDirectory.open(run))
            print_observation(observation.context, observation.report)
        else:
            outcome = report_run(RunDirectory.open(run))
            print_summary(outcome.context, outcome.report)
        return
    render = {"html": render_html, "md": render_markdown}.get(output_format)
    if is_trace(run):
        text = (render or render_trace_object)(read_trace_context(TraceDirectory(run)))
    elif observed:
        text = (render or render_object)(read_context(ObservationDirectory.open(run)))
    else:
        text = (render or render_json)(analyse_run(RunDirectory.open(run)))
    if out is None:
        typer.echo(text, nl=not text.endswith("\n"))
    else:
        write_atomically(out, text.encode())
        err.print(f"written: {out}", markup=False)
