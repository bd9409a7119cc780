"""`pgassay show RUN`: the options of the command.

Enters: the command line. Leaves: a stored run, observation or trace on stdout.
Never: writes a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgassay.cli.show import Program
from pgassay.cli.terminal.options import Json, option


def show(
    run: Annotated[
        Path, typer.Argument(help="Directory or URL of a run, an observation or a trace.")
    ],
    host: Annotated[
        Program | None,
        option("--host", "The server's host, second by second, as this program shows it."),
    ] = None,
    trial: Annotated[int | None, option("--trial", "With --host: only this trial.", min=1)] = None,
    as_json: Json = False,
) -> None:
    """Show a stored run: its trials, its verdict and why."""
    from pgassay.cli.show.shown import show_run

    show_run(run, host, trial, as_json=as_json)
