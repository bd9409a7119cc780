"""`pgassay new FILE`: the options of the command, one for every question.

Enters: the command line. Leaves: an experiment file, and on stdout what to do with it.
Never: overwrites a file without --force, or changes anything on a server.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgassay.cli.terminal.options import option


def new(
    file: Annotated[
        Path | None, typer.Argument(help="The file to write [experiment.toml].")
    ] = None,
    dsn: Annotated[
        str | None, option("--dsn", "An existing server: libpq connection string.", "Server")
    ] = None,
    postgres: Annotated[
        str | None, option("--postgres", "The embedded server of this version, 16 or 18.", "Server")
    ] = None,
    connect: Annotated[
        bool | None,
        option(
            "--connect/--no-connect",
            "Connect to it, read-only: check it, and check settings against its own.",
            "Server",
        ),
    ] = None,
    allow_changes: Annotated[
        bool | None,
        option(
            "--allow-changes/--no-changes",
            "Whether a run may change settings of an existing server.",
            "Server",
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        option("--vary", "NAME=VALUE,VALUE of a setting, first the baseline; repeatable."),
    ] = None,
    workload: Annotated[
        str | None, option("--workload", "A ready workload, or a folder [payments-write].")
    ] = None,
    scale: Annotated[str | None, option("--scale", "Size of the data [10].")] = None,
    clients: Annotated[
        str | None, option("--clients", "Connections at the same time [8]; 4,8 makes steps.")
    ] = None,
    step: Annotated[str | None, option("--step", "Measured time of a trial [60s].")] = None,
    smallest_effect: Annotated[
        str | None, option("--smallest-effect", "Smallest difference that matters [2%].")
    ] = None,
    question: Annotated[
        str | None, option("--question", "The question that the report answers.")
    ] = None,
    yes: Annotated[bool, option("-y --yes", "Ask nothing: flags and defaults.")] = False,
    force: Annotated[bool, option("--force", "Replace a file that is there.")] = False,
) -> None:
    """Write an experiment file, by a few questions or by flags.

    Each question has a flag; what a flag says is not asked. Without a terminal,
    and with --yes, nothing is asked: what no flag says has its default.
    """
    from pgassay.cli.new.execution import Given, write_experiment

    given = Given(
        dsn=dsn,
        postgres=postgres,
        connect=connect,
        allow_changes=allow_changes,
        vary=vary or [],
        workload=workload,
        scale=scale,
        clients=clients,
        step=step,
        effect=smallest_effect,
        question=question,
    )
    write_experiment(file, given, asks=not yes, force=force)
