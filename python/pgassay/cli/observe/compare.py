"""`pgassay observe compare FIRST [SECOND]`: two observations, or two periods of one.

Enters: directories of observations, times. Leaves: a table, a report, an experiment file that tests
the first suspect. Never: touches a server, or writes into an observation.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from pgassay.cli.terminal.options import Json, Lang, Quiet, option
from pgassay.cli.terminal.output import REPORT_FORMAT, REPORT_FORMATS, ReportOut, give, output_of
from pgassay.language import in_language
from pgassay.refusals.refusal import SetupRefused

_FORMATS = {**REPORT_FORMATS, ".txt": "brief"}


def compare(
    first: Annotated[
        Path,
        typer.Argument(help="Directory of an observation, the baseline."),
    ],
    second: Annotated[
        Path | None,
        typer.Argument(help="Another one; without it, two periods of the first."),
    ] = None,
    begin: Annotated[
        str | None,
        option("--from", 'Begin of the period, such as 09:00 or "2026-11-27 09:00".'),
    ] = None,
    end: Annotated[
        str | None, option("--to", "Its end, likewise [the end of the recording].")
    ] = None,
    beside: Annotated[
        str | None,
        option(
            "--with",
            "What it is compared with: before, yesterday, last-week, or a begin [before].",
        ),
    ] = None,
    output_format: Annotated[Literal["html", "md", "json", "brief"] | None, REPORT_FORMAT] = None,
    out: ReportOut = None,
    prompt: Annotated[
        bool,
        option(
            "--prompt", "A brief that begins with a request to a language model, without paths."
        ),
    ] = False,
    propose: Annotated[
        Path | None,
        option("--propose", "Write an experiment file that tests the first suspect."),
    ] = None,
    as_json: Json = False,
    lang: Lang = "en",
    quiet: Quiet = False,
) -> None:
    """Compare two observations, or two periods of one: what differs by more than usual.

    Changes are ordered by what changed most against what usually varies between
    periods of the same length. Nothing was randomised, so a change is no cause.
    """
    if prompt and output_format is None and out is None:
        output_format = "brief"
    output = output_of(output_format, out, _FORMATS, as_json=as_json, lang=lang)
    if prompt and output.form != "brief":
        raise SetupRefused("prompt-of-another-format")
    output = replace(output, form="prompt") if prompt else output
    if propose is not None and propose.exists():
        raise SetupRefused("proposal-there-already", f"--propose {propose}")
    from pgassay.cli.observe.times import Asked, spans_of, words_of
    from pgassay.workflows.periods import compare_observations, compare_within

    asked = Asked(begin, end, beside)
    with in_language(lang):
        if second is not None:
            if asked.is_given:
                raise SetupRefused("times-of-two-observations")
            context = compare_observations(first, second)
        else:
            context = compare_within(first, lambda whole: spans_of(asked, whole), words_of)
    give(output, context, quiet=quiet)
    if propose is not None:
        from pgassay.cli.observe.proposing import write_proposal

        write_proposal(context, propose, quiet=quiet)
