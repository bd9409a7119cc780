"""`pgassay queries DIR`: the options of the command.

Enters: the command line. Leaves: a run of a query set, with the experiment file that it is.
Never: does more than that file says.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgassay.cli.terminal.options import (
    GatesOnly,
    GateTexts,
    GateUndecided,
    Json,
    Plain,
    Quiet,
    RunOut,
    option,
)


def queries(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with .sql files.")],
    vary: Annotated[
        list[str] | None,
        option(
            "--vary",
            "NAME=LEVEL,LEVEL: a setting, SQL, files of a query, version, bin; first baseline.",
        ),
    ] = None,
    against: Annotated[
        Path | None,
        option("--against", "The folder that is the baseline, such as that of main."),
    ] = None,
    dsn: Annotated[
        str | None, option("--dsn", "An existing server: libpq connection string.", "Server")
    ] = None,
    copy: Annotated[
        bool, option("--copy", "Run on a copy of that server, made on this host.", "Server")
    ] = False,
    accept: Annotated[
        list[str] | None,
        option("--accept", "A sign of production that may be there; repeatable.", "Server"),
    ] = None,
    workload: Annotated[
        str | None, option("--workload", "The data: a ready workload, or a folder.", "Data")
    ] = None,
    writes: Annotated[
        str | None,
        option("--writes", "A workload that runs after the queries of each trial.", "Data"),
    ] = None,
    scale: Annotated[int | None, option("--scale", "Size of the data [1].", "Data", min=1)] = None,
    repeats: Annotated[
        int | None,
        option("--repeats", "Executions of each query that count [by a trial].", min=1),
    ] = None,
    timeout: Annotated[
        str | None, option("--timeout", "The most that an execution may take [60s].")
    ] = None,
    clients: Annotated[
        int | None, option("--clients", "Sessions that run the set, and the writes [1].", min=1)
    ] = None,
    max_blocks: Annotated[
        int | None, option("--max-blocks", "Blocks after which the run ends [24].", min=2)
    ] = None,
    seed: Annotated[int | None, option("--seed", "Draw orders from this number.", min=0)] = None,
    out: RunOut = None,
    gate: GateTexts = None,
    gate_undecided: GateUndecided = "worse",
    gates_only: GatesOnly = False,
    no_live: Plain = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run a folder of queries under each arm: which get faster, which slower.

    The experiment file that the options make is spec.toml of the run directory.
    """
    from pgassay.cli.queries.file_text import Asked, file_text
    from pgassay.spec.parse import parse_spec

    asked = Asked(
        folder=folder,
        against=against,
        vary=vary or [],
        dsn=dsn,
        copies=copy,
        accept=accept,
        workload=workload,
        writes=writes,
        load={"repeats": repeats, "timeout": timeout, "clients": clients},
        scale=scale,
        max_blocks=max_blocks,
    )
    checked = parse_spec(file_text(asked), source="pgassay queries", beside=Path(), seed=seed)
    from pgassay.cli.run.execution import conclude, follow
    from pgassay.cli.terminal.gates import gates_of
    from pgassay.samples.directory import default_run_path

    path = out or default_run_path(folder.resolve().name)
    outcome = follow(
        checked,
        path,
        live=not no_live,
        quiet=quiet,
        gates=gates_of(gate, only=gates_only),
        gates_only=gates_only,
    )
    conclude(outcome, as_json=as_json, gate_undecided=gate_undecided)
