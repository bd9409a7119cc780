"""`pgassay history RUN…`: runs of one experiment over weeks, and where their level changed.

Enters: run directories, or folders of them. Leaves: a table, a report, an exit status by gates on
the last runs. Never: runs anything, or writes into a run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from pgassay.cli.terminal.options import GateTexts, GateUndecided, Json, Lang, Quiet, option
from pgassay.cli.terminal.output import (
    BRIEF_FORMATS,
    REPORT_FORMAT,
    Prompt,
    ReportOut,
    give,
    output_of,
)
from pgassay.language import in_language
from pgassay.refusals.refusal import SetupRefused

_FORMATS = {**BRIEF_FORMATS, ".svg": "svg"}


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
        Literal["html", "md", "json", "svg", "brief"] | None, REPORT_FORMAT
    ] = None,
    out: ReportOut = None,
    prompt: Prompt = False,
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
    output = output_of(output_format, out, _FORMATS, as_json=as_json, lang=lang, prompt=prompt)
    if last < 1:
        raise SetupRefused("last-runs", f"--last {last}")
    from pgassay.analysis.history.series import Asked
    from pgassay.cli.terminal.gates import gates_of, settle
    from pgassay.stores.fetching import fetched
    from pgassay.stores.wanted import TO_ANALYSE
    from pgassay.workflows.history import stored_history

    asked = Asked(gates_of(gate), last)
    with in_language(lang):
        context = stored_history([fetched(run, TO_ANALYSE) for run in runs], asked)
    give(output, context, quiet=quiet)
    settle(context.gates, gate_undecided)
