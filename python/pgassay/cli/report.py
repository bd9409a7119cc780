"""`pgassay report RUN`: analyse a stored run or observation again, also an unfinished one.

Enters: a directory. Leaves: the report in the format asked for. Never: runs anything.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pgassay.cli.terminal.options import STDOUT, GateTexts, GateUndecided, Lang, Quiet, option
from pgassay.refusals.refusal import DirectoryRefused, SetupRefused

if TYPE_CHECKING:
    from pgassay.analysis.gates.model import GateResult
    from pgassay.plan.model import Gate
    from pgassay.report.context import StoredContext

_FORMATS = {
    ".html": "html",
    ".htm": "html",
    ".md": "md",
    ".json": "json",
    ".csv": "csv",
    ".xlsx": "xlsx",
    ".prom": "openmetrics",
    ".xml": "junit",
    ".txt": "brief",
}


def report(
    run: Annotated[
        Path, typer.Argument(help="Directory or URL of a run, an observation or a trace.")
    ],
    output_format: Annotated[
        Literal["html", "md", "json", "csv", "xlsx", "openmetrics", "junit", "brief"] | None,
        option(
            "--format",
            "Without --out, html (the default) and xlsx write RUN/report.html or .xlsx; the others"
            " go to stdout, csv with the raw trials only.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "--out",
            "File to write, its ending says the format; - is stdout. With --format csv a folder for"
            " all tables, or FILE.csv for the trials.",
        ),
    ] = None,
    pictures: Annotated[
        bool, option("--pictures", "With --format md and --out: its charts as SVG files beside it.")
    ] = False,
    prompt: Annotated[
        bool,
        option(
            "--prompt",
            "A brief that begins with a request to a language model, without paths, addresses and"
            " constants of statements.",
        ),
    ] = False,
    gate: GateTexts = None,
    gate_undecided: GateUndecided = "worse",
    lang: Lang = "en",
    quiet: Quiet = False,
) -> None:
    """Analyse a stored run again and write its report."""
    from pgassay.cli.terminal import console
    from pgassay.cli.terminal.gates import gates_of, settle
    from pgassay.cli.terminal.options import format_by_ending, require_words
    from pgassay.stores.fetching import written_back
    from pgassay.stores.wanted import TO_ANALYSE

    to_stdout = out == STDOUT
    out = None if to_stdout else out
    if prompt and output_format is None and out is None:
        output_format = "brief"
    written = format_by_ending(output_format, out, _FORMATS)
    if prompt and written != "brief":
        raise SetupRefused("prompt-of-another-format")
    if to_stdout and written == "xlsx" and sys.stdout.isatty():
        raise SetupRefused("binary-to-terminal", "--out -")
    require_words(lang, written)
    if out is not None and written != "csv" and not out.parent.is_dir():
        raise DirectoryRefused("folder-to-be-made", out.parent)
    if pictures and (written != "md" or out is None):
        raise SetupRefused("pictures-without-text")
    gates = gates_of(gate)
    with (
        console.silenced(quiet, console.out, console.err),
        written_back(
            run, TO_ANALYSE, lambda url: console.err.print(f"written: {url}", markup=False)
        ) as here,
    ):
        if out is None and not to_stdout:
            out = _beside(here, written, lang)
        form = "prompt" if prompt else written
        context = _reported(here, form, out, lang, gates, pictures=pictures)
    judged: tuple[GateResult, ...] = getattr(context, "gates", ()) if gates else ()
    settle(judged, gate_undecided)


def _beside(run: Path, output_format: str, lang: Lang) -> Path | None:
    """The file that is written without --out, or None where the report goes to stdout."""
    from pgassay.samples.layout import REPORT

    if output_format == "html":
        return run / (REPORT if lang == "en" else f"report.{lang}.html")
    return run / "report.xlsx" if output_format == "xlsx" else None


def _reported(
    run: Path,
    output_format: str,
    out: Path | None,
    lang: Lang,
    gates: Sequence[Gate],
    *,
    pictures: bool,
) -> StoredContext:
    """Write the report, and return what it says."""
    from pgassay.language import in_language
    from pgassay.samples.layout import REPORT
    from pgassay.workflows.reporting import context_of, directory_at

    if gates:
        _refuse_gates_without_comparison(gates, run)
    if (output_format, lang) == ("html", "en") and out == run / REPORT:
        return _report_beside(run, gates)
    with in_language(lang):
        context = context_of(directory_at(run), gates or None)
        _write_as(output_format, _linked(context, run, out), out, pictures=pictures)
    return context


def _refuse_gates_without_comparison(gates: Sequence[Gate], run: Path) -> None:
    """Gates are on comparisons, which observations and traces do not have."""
    from pgassay.cli.terminal.gates import refuse_without_comparison
    from pgassay.samples.run_directory import RunDirectory
    from pgassay.workflows.reporting import directory_at

    directory = directory_at(run)
    if not isinstance(directory, RunDirectory):
        raise SetupRefused("gate-of-no-experiment", str(run))
    refuse_without_comparison(gates, directory.plan(), run)


def _linked(context: StoredContext, run: Path, out: Path | None) -> StoredContext:
    """The context, with links to drawings that lead from the file's folder into the run's."""
    from pgassay.report.context import ReportContext
    from pgassay.report.flame_graphs import linked_from

    if out is None or not isinstance(context, ReportContext) or not context.flame_graphs:
        return context
    return replace(context, flame_graphs=linked_from(out, run, context.flame_graphs))


def _write_as(
    output_format: str, context: StoredContext, out: Path | None, *, pictures: bool
) -> None:
    """The report in this format, in a file or folder, or on stdout."""
    from pgassay.report.formats.markdown import illustrated_markdown
    from pgassay.report.formats.registry import rendered

    if pictures and out is not None:
        text, drawings = illustrated_markdown(context, out.stem)
        for name, drawing in drawings.items():
            _write(out.parent / name, drawing.encode())
        _write(out, text.encode())
        return

    if output_format == "csv" and out is not None and out.suffix != ".csv":
        _write_csv_files(context, out)
        return
    found = rendered(context, output_format)
    if out is not None:
        _write(out, found)
    else:
        typer.echo(found, nl=not found.endswith(b"\n"))


def _report_beside(run: Path, gates: Sequence[Gate]) -> StoredContext:
    """Write report.html into the directory, and print the summary."""
    from pgassay.cli.terminal.summary import print_summary
    from pgassay.workflows.reporting import context_of, directory_at, reported

    directory = directory_at(run)
    found = reported(directory, context_of(directory, gates or None))
    print_summary(found.context, found.report)
    return found.context


def _write_csv_files(context: StoredContext, folder: Path) -> None:
    """Every table as a file of the folder, which may hold an earlier export."""
    from pgassay.cli.terminal.console import err
    from pgassay.durable import make_directory
    from pgassay.report.data_tables.csv_files import csv_files
    from pgassay.samples.storage.files import clear_errors, write_atomically

    if folder.is_file():
        raise DirectoryRefused("file-for-a-folder", folder)
    with clear_errors(folder):
        make_directory(folder, parents=True, exist_ok=True)
    files = csv_files(context)
    for name, text in files.items():
        write_atomically(folder / name, text.encode())
    err.print(f"written: {len(files)} tables in {folder}", markup=False)


def _write(out: Path, content: bytes) -> None:
    from pgassay.cli.terminal.console import err
    from pgassay.samples.storage.files import write_atomically

    write_atomically(out, content)
    err.print(f"written: {out}", markup=False)
