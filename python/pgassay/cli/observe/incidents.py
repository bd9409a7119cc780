"""`pgassay observe incidents DIRECTORY`: when the server was unlike its usual self.

Enters: the directory of an observation. Leaves: a table, a report.
Never: touches a server, or writes into the directory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgassay.cli.terminal.options import Json, Lang, Quiet
from pgassay.cli.terminal.output import ReportFormat, ReportOut, give, output_of
from pgassay.language import in_language


def incidents(
    observation: Annotated[
        Path,
        typer.Argument(metavar="OBSERVATION", help="Directory or URL of an observation."),
    ],
    output_format: ReportFormat = None,
    out: ReportOut = None,
    as_json: Json = False,
    lang: Lang = "en",
    quiet: Quiet = False,
) -> None:
    """Find incidents in an observation: when, how large, what began first."""
    output = output_of(output_format, out, as_json=as_json, lang=lang)
    from pgassay.stores.fetching import fetched
    from pgassay.stores.wanted import TO_ANALYSE
    from pgassay.workflows.incidents import stored_incidents

    with in_language(lang):
        context = stored_incidents(fetched(observation, TO_ANALYSE))
    give(output, context, quiet=quiet)
