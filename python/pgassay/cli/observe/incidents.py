"""`pgassay observe incidents DIRECTORY`: when the server was unlike its usual self.

Enters: the directory of an observation. Leaves: a table, a report, an experiment file that tests
the first sign of the largest incident.
Never: touches a server, or writes into the directory.
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


def incidents(
    observation: Annotated[
        Path,
        typer.Argument(metavar="OBSERVATION", help="Directory or URL of an observation."),
    ],
    output_format: BriefFormat = None,
    out: ReportOut = None,
    prompt: Prompt = False,
    propose: Annotated[
        Path | None,
        option("--propose", "Write an experiment file that tests the first sign of an incident."),
    ] = None,
    number: Annotated[
        int | None,
        option("--incident", "The number of that incident in the list [the largest]."),
    ] = None,
    as_json: Json = False,
    lang: Lang = "en",
    quiet: Quiet = False,
) -> None:
    """Find incidents in an observation: when, how large, what began first."""
    output = output_of(output_format, out, BRIEF_FORMATS, as_json=as_json, lang=lang, prompt=prompt)
    if number is not None and propose is None:
        raise SetupRefused("incident-of-nothing")
    from pgassay.cli.observe.proposing import refuse_existing, write_proposal

    refuse_existing(propose)
    from pgassay.stores.fetching import fetched
    from pgassay.stores.wanted import TO_ANALYSE
    from pgassay.workflows.incidents import stored_incidents

    with in_language(lang):
        context = stored_incidents(fetched(observation, TO_ANALYSE))
    count = len(context.incidents.found)
    if number is not None and not 1 <= number <= count:
        raise SetupRefused("no-such-incident", f"--incident {number}", count=count)
    give(output, context, quiet=quiet)
    if propose is not None:
        from pgassay.findings.incidents.suspects import proposal_of
        from pgassay.findings.suspects import present_in

        present = present_in(context.environment)
        found = proposal_of(context.incidents, context.texts, present, number)
        write_proposal(found, propose, quiet=quiet)
