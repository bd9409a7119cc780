"""`pgassay observe compare FIRST [SECOND]`: two observations, or two periods of one.

Enters: directories of observations, times. Leaves: a table, a report, an experiment file that tests
the first suspect. Never: touches a server, or writes into an observation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgassay.cli.terminal.options import Json, Lang, Quiet, option
from pgassay.cli.terminal.output import (
    BRIEF_FORMATS,
    BriefFormat,
    Prompt,
    ReportOut,
    give,
    output_of,
)
from pgassay.language import in_language
from pgassay.refusals.refusal import SetupRefused


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
    output_format: BriefFormat = None,
    out: ReportOut = None,
    prompt: Prompt = False,
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
    output = output_of(output_format, out, BRIEF_FORMATS, as_json=as_json, lang=lang, prompt=prompt)
    from pgassay.cli.observe.proposing import refuse_existing, write_proposal

    refuse_existing(propose)
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
        from pgassay.findings.observation.suspects import proposal_of
        from pgassay.findings.suspects import present_in

        found = proposal_of(context.analysis, present_in(context.environment))
        write_proposal(found, propose, quiet=quiet)
