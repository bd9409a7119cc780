"""`pgassay compare RUN RUN…`: runs made apart, the first as the baseline.

Enters: run directories, or folders of them. Leaves: a table, a report, an exit status by gates.
Never: runs anything, or writes into a run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from pgassay.cli.terminal.options import (
    STDOUT,
    GateTexts,
    GateUndecided,
    Json,
    Lang,
    Quiet,
    format_by_ending,
    option,
    require_words,
)
from pgassay.language import in_language
from pgassay.refusals.refusal import SetupRefused

_FORMATS = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN",
            help="Two run directories or URLs or more, the baseline first; a folder of runs is one"
            " side.",
        ),
    ],
    output_format: Annotated[
        Literal["html", "md", "json"] | None,
        option("--format", "Print the report instead of a table; with --out, its format."),
    ] = None,
    out: Annotated[
        Path | None,
        option("--out", "File to write the report to; its ending says the format. - is stdout."),
    ] = None,
    pictures: Annotated[
        bool, option("--pictures", "With --out FILE.md: its charts as SVG files beside it.")
    ] = False,
    force: Annotated[
        bool, option("--force", "Compare although workload, load, metric or arms differ.")
    ] = False,
    run_spread: Annotated[
        str | None,
        option("--run-spread", "Standard deviation between runs of the same thing, such as 3%."),
    ] = None,
    gate: GateTexts = None,
    gate_undecided: GateUndecided = "worse",
    as_json: Json = False,
    lang: Lang = "en",
    quiet: Quiet = False,
) -> None:
    """Compare stored runs that were made apart, not randomised together."""
    if out == STDOUT:
        out, output_format = None, output_format or "html"
    written = format_by_ending(output_format, out, _FORMATS)
    is_printed = as_json or (output_format is not None and out is None)
    require_words(lang, "json" if as_json else written if is_printed or out else "the table")
    if out is not None and not out.parent.is_dir():
        raise SetupRefused("no-folder-to-write-to", f"--out {out}", folder=out.parent)
    if pictures and (written != "md" or out is None):
        raise SetupRefused("pictures-without-folder")
    from pgassay.analysis.apart.compare import Question
    from pgassay.cli.terminal import console
    from pgassay.cli.terminal.gates import gates_of, settle
    from pgassay.cli.terminal.summary import print_summary
    from pgassay.report.formats.markdown import illustrated_markdown
    from pgassay.report.formats.registry import rendered
    from pgassay.samples.storage.files import write_atomically
    from pgassay.stores.fetching import fetched
    from pgassay.stores.wanted import TO_ANALYSE
    from pgassay.workflows.comparing import compare_stored

    question = Question(_share(run_spread), force=force, gates=gates_of(gate))
    with in_language(lang):
        has_charts = written != "json" and (output_format is not None or out is not None)
        here = [fetched(run, TO_ANALYSE) for run in runs]
        context = compare_stored(here, question, has_charts=has_charts)
    with in_language(lang):
        if pictures and out is not None:
            page, drawings = illustrated_markdown(context, out.stem)
            for name, drawing in drawings.items():
                write_atomically(out.parent / name, drawing.encode())
            write_atomically(out, page.encode())
        elif out is not None:
            write_atomically(out, rendered(context, written))
        text = rendered(context, "json" if as_json else written) if is_printed else b""
    with console.silenced(quiet, console.out, console.err):
        if is_printed:
            typer.echo(text, nl=not text.endswith(b"\n"))
        else:
            print_summary(context, None)
        if out is not None:
            console.err.print(f"written: {out}", markup=False)
    settle(context.gates, gate_undecided)


def _share(text: str | None) -> float | None:
    """A share above zero, written in per cent."""
    if text is None:
        return None
    try:
        share = float(text.strip().removesuffix("%").strip()) / 100.0
    except ValueError:
        share = 0.0
    if not 0.0 < share <= 1.0:
        raise SetupRefused("run-spread-form", f"--run-spread {text!r}")
    return share
