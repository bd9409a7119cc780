"""`pgassay report RUN`: analyse a stored run or observation again, also an unfinished one.

Enters: a directory. Leaves: the report in the format asked for. Never: runs anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def report(
    run: Annotated[Path, typer.Argument(help="Directory of a run or an observation.")],
    output_format: Annotated[
        Literal["html", "md", "json"],
        typer.Option(
            "--format", help="html writes RUN/report.html; md and json go to stdout without --out."
        ),
    ] = "html",
    out: Annotated[Path | None, typer.Option("--out", help="File to write.")] = None,
) -> None:
    """Analyse a stored run again and write its report."""
    from pgassay.cli.terminal.console import err
    from pgassay.cli.terminal.summary import print_observation, print_summary
    from pgassay.observation import report_observation
    from pgassay.pipeline import report_run
    from pgassay.samples.files import write_atomically
    from pgassay.samples.observation_directory import ObservationDirectory, is_observation
    from pgassay.samples.run_directory import RunDirectory

    if out is not None:
        write_atomically(out, _rendered(run, output_format).encode())
        err.print(f"written: {out}", markup=False)
    elif output_format != "html":
        text = _rendered(run, output_format)
        typer.echo(text, nl=not text.endswith("\n"))
    elif is_observation(run):
        observed = report_observation(ObservationDirectory.open(run))
        print_observation(observed.context, observed.report)
    else:
        outcome = report_run(RunDirectory.open(run))
        print_summary(outcome.context, outcome.report)


def _rendered(run: Path, output_format: str) -> str:
    from pgassay.observation import read_context
    from pgassay.pipeline import analyse_run
    from pgassay.report.analysis_object import render_json
    from pgassay.report.html import render_html
    from pgassay.report.markdown import render_markdown
    from pgassay.report.observed_object import render_object
    from pgassay.samples.observation_directory import ObservationDirectory, is_observation
    from pgassay.samples.run_directory import RunDirectory

    render = {"html": render_html, "md": render_markdown}.get(output_format)
    if is_observation(run):
        return (render or render_object)(read_context(ObservationDirectory.open(run)))
    return (render or render_json)(analyse_run(RunDirectory.open(run)))
