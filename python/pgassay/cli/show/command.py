"""`pgassay show RUN`: the options of the command.

Enters: the command line. Leaves: a stored run or observation on stdout. Never: writes a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Program = Literal["vmstat", "iostat"]
"""The program whose columns are shown."""


def show(
    run: Annotated[Path, typer.Argument(help="Directory of a run or an observation.")],
    host: Annotated[
        Program | None,
        typer.Option(
            "--host", help="The server's host, second by second, as this program shows it."
        ),
    ] = None,
    trial: Annotated[
        int | None, typer.Option("--trial", min=1, help="With --host: only this trial.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show a stored run: its trials, its verdict and why."""
    from pgassay.cli.show.shown import show_run

    show_run(run, host, trial, as_json=as_json)
