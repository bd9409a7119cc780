"""`pgassay sql "select …" [FOLDER]`: any question to all runs of a folder.

Enters: the command line. Leaves: the answer on stdout or in a file. Never: lets SQL read or write
anything but the runs' tables (`runs/database.py`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pgassay.cli.sql import Format
from pgassay.cli.terminal.options import option
from pgassay.samples.layout import RUNS_FOLDER


def sql(
    query: Annotated[
        str | None,
        typer.Argument(help="A query; - reads it from stdin. Without one, the tables are listed."),
    ] = None,
    folder: Annotated[
        Path, typer.Argument(help="A folder of runs, or one run; a path or URL.")
    ] = Path(RUNS_FOLDER),
    output_format: Annotated[Format, option("--format", "How to print the answer.")] = "table",
    out: Annotated[Path | None, option("--out", "File to write.")] = None,
) -> None:
    """Ask stored runs by SQL: verdicts, trials, metrics, waits, counters, settings."""
    from pgassay.cli.sql.answer import print_answer, print_tables

    if query is None:
        print_tables()
        return
    print_answer(sys.stdin.read() if query == "-" else query, folder, output_format, out)
