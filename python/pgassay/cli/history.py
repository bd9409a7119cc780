"""`pgassay history RUN…`: runs of one experiment over weeks, and where their level changed.

Enters: run directories, or folders of them. Leaves: a table, a report, an exit status by gates on
the last runs. Never: runs anything, or writes into a run.
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

_FORMATS = {".html": "html", ".htm": "html", ".md": "md", ".json": "json", ".svg": "svg"}


def history(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN",
            help="Run directories or URLs, or folders of runs, of one experiment; the order does"
            " not matter.",
        ),
    ],
    output_format: Annotated[
        Literal["html", "md", "json", "svg"] | None,
        option("--format", "Print the report instead of a table; with --out, its format."),
    ] = None,
    out: Annotated[
        Path | None,
        option("--out", "File to write the report to; its ending says the format. - is stdout."),
    ] = None,
    last: Annotated[
        int,
        option("--last", "How many of the last runs the gates judge, against those before them."),
    ] = 1,
    gate: GateTexts = None,
    gate_undecided: GateUndecided = "worse",
    as_json: Json = False,
    lang: Lang = "en",
    quiet: Quiet = False,
) -> None:
    """Show how runs of one experiment changed over weeks, and since when."""
    if out == STDOUT:
        out, output_format = None, output_format or "html"
    written = format_by_ending(output_format, out, _FORMATS)
    is_printed = as_json or (output_format is not None and out is None)
    require_words(lang, "json" if as_json else written if is_printed or out else "the table")
    if out is not None and not out.parent.is_dir():
        raise SetupRefused("no-folder-to-write-to", f"--out {out}", folder=out.parent)
    if last < 1:
        raise SetupRefused("last-runs", f"--last {last}")
    from pgassay.analysis.history.series import Asked
    from pgassay.cli.terminal import console
    from pgassay.cli.terminal.gates import gates_of, settle
    from pgassay.cli.terminal.summary import print_summary
    from pgassay.report.formats.registry import rendered
    from pgassay.samples.storage.files import write_atomically
    from pgassay.stores.fetching import fetched
    from pgassay.stores.wanted import TO_ANALYSE
    from pgassay.workflows.history import stored_history

    asked = Asked(gates_of(gate), last)
    with in_language(lang):
        context = stored_history([fetched(run, TO_ANALYSE) for run in runs], asked)
        if out is not None:
            write_atomically(out, rendered(context, written))
        text = rendered(context, "json" if as_json else written) if is_printed else b""
    with console.silenced(quiet, console.out, console.err):
        if is_printed:
            typer.echo(text, nl=not text.endswith(b"\n"))
        else:
            with in_language(lang):
                print_summary(context, None)
        if out is not None:
            console.err.print(f"written: {out}", markup=False)
    settle(context.gates, gate_undecided)
