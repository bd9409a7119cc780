"""`pgassay report RUN`: a stored run, analysed anew.

Enters: a run directory, also an unfinished one. Leaves: the report in the format asked for.
Never: runs anything.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from pgassay.cli.console import err
from pgassay.cli.observe import print_observation
from pgassay.cli.summary import print_summary
from pgassay.observation import read_context, report_observation
from pgassay.pipeline import analyse_run, report_run
from pgassay.report.context import ReportContext
from pgassay.report.html import render_html
from pgassay.report.machine import render_json
from pgassay.report.markdown import render_markdown
from pgassay.report.observation import render_object, render_observation
from pgassay.samples.files import write_whole
from pgassay.samples.observation_directory import ObservationDirectory, is_observation
from pgassay.samples.run_directory import RunDirectory


class Format(StrEnum):
    """What a report is written as."""

    HTML = "html"
    MARKDOWN = "md"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)


def report(
    run: Annotated[Path, typer.Argument(help="A run directory.")],
    output_format: Annotated[
        Format, typer.Option("--format", help="Markdown and JSON go to stdout without --out.")
    ] = Format.HTML,
    out: Annotated[Path | None, typer.Option("--out", help="File to write.")] = None,
) -> None:
    """Report a run or an observation: HTML, Markdown or JSON."""
    if is_observation(run):
        _report_observation(ObservationDirectory.open(run), output_format, out)
        return
    directory = RunDirectory.open(run)
    if output_format is Format.HTML and out is None:
        outcome = report_run(directory)
        print_summary(outcome.context, outcome.report)
        return
    _write(_render(analyse_run(directory), output_format), out)


def _report_observation(
    directory: ObservationDirectory, output_format: Format, out: Path | None
) -> None:
    if output_format is Format.HTML and out is None:
        outcome = report_observation(directory)
        print_observation(outcome.context, outcome.report)
        return
    context = read_context(directory)
    if output_format is Format.JSON:
        _write(render_object(context), out)
    else:
        form: Literal["html", "md"] = "md" if output_format is Format.MARKDOWN else "html"
        _write(render_observation(context, form), out)


def _write(text: str, out: Path | None) -> None:
    if out is None:
        typer.echo(text, nl=not text.endswith("\n"))
    else:
        write_whole(out, text.encode())
        err.print(f"written: {out}", markup=False)


def _render(context: ReportContext, output_format: Format) -> str:
    match output_format:
        case Format.HTML:
            return render_html(context)
        case Format.MARKDOWN:
            return render_markdown(context)
        case Format.JSON:
            return render_json(context)
