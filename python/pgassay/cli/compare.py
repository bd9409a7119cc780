"""`pgassay compare RUN RUN…`: runs made apart, the first as the baseline.

Enters: run directories, or folders of them. Leaves: a table, a report, an exit status by gates.
Never: runs anything, or writes into a run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgassay.cli.terminal.options import GateTexts, GateUndecided, Json, Lang, Quiet, option
from pgassay.cli.terminal.output import ReportFormat, ReportOut, give, output_of
from pgassay.language import in_language
from pgassay.refusals.refusal import SetupRefused


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN",
            help="Two run directories or URLs or more, the baseline first; a folder of runs is one"
            " side.",
        ),
    ],
    output_format: ReportFormat = None,
    out: ReportOut = None,
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
    output = output_of(output_format, out, as_json=as_json, lang=lang)
    if pictures and (output.form != "md" or output.out is None):
        raise SetupRefused("pictures-without-folder")
    from pgassay.analysis.apart.compare import Question
    from pgassay.cli.terminal.gates import gates_of, settle
    from pgassay.stores.fetching import fetched
    from pgassay.stores.wanted import TO_ANALYSE
    from pgassay.workflows.comparing import compare_stored

    question = Question(_share(run_spread), force=force, gates=gates_of(gate))
    with in_language(lang):
        here = [fetched(run, TO_ANALYSE) for run in runs]
        context = compare_stored(here, question, has_charts=output.is_report)
    give(output, context, quiet=quiet, pictures=pictures)
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
