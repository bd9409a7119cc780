"""Carry out one `pgassay load`, from its options to its result.

Enters: the values of the command's options, by their names. Leaves: the load's result on stdout.
Never: is imported before the options have been read: a load needs modules that its help does not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import typer

from pgassay.cli.connection import connection_string, one_database
from pgassay.cli.load.choices import LoadChoices, request_of, scenarios_of
from pgassay.cli.load.intervals import check_intervals_file, write_intervals
from pgassay.cli.load.progress import reporter, tell_opening
from pgassay.cli.load.result import load_object, server_object
from pgassay.cli.load.summary import print_load
from pgassay.cli.terminal.console import err
from pgassay.errors import ExitCode
from pgassay.server.connection.session import resolve
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.secrets.redaction import redacted_value
from pgassay.spec.workload.scripts import BUILTINS, builtin_script
from pgassay.trials.load.engine import (
    LoadRequest,
    interval_columns,
    open_load,
    parse_scripts,
    run_load,
)
from pgassay.trials.load.slices import with_variants
from pgassay.workloads.pgbench_tables.scale import pgbench_scale
from pgassay.workloads.pgbench_tables.vacuum import vacuum_pgbench_tables


def carry_out(given: Mapping[str, Any]) -> None:
    """Put the load on the server, print what it did; `given` is option → value."""
    asked = SimpleNamespace(**given)
    if asked.show_script is not None or "list" in (asked.builtins or []):
        _print_builtins(asked.show_script)
        return
    choices = LoadChoices(**{field.name: given[field.name] for field in fields(LoadChoices)})
    wanted = None
    found = ("search", "over", "lowest", "highest", "within", "confidence")
    if any(given[name] is not None for name in found):
        from pgassay.cli.load.search import probing, search_choices  # start-up time

        wanted = search_choices(*(given[name] for name in found))
        choices = choices if wanted is None else probing(choices, wanted)
    request = request_of(choices, scenarios_of(choices))
    # Before the connection, as pgbench does: a mistake in a script is the user's to mend first.
    parse_scripts(request.scenarios, allow_shell=asked.allow_shell)
    check_intervals_file(asked.intervals)
    where = connection_string(
        one_database(asked.database, asked.dbname), asked.host, asked.port, asked.user
    )
    parameters = resolve(where)
    request = _scaled(request, choices, parameters)
    if not asked.no_vacuum:
        for refusal in vacuum_pgbench_tables(parameters, everything=asked.vacuum_all):
            err.print(f"warning: {refusal}", style="yellow", markup=False)
    if wanted is not None:
        from pgassay.cli.load.search import run_search

        run_search(wanted, request, parameters, as_json=asked.as_json)
        return
    server = server_object(parameters) if asked.as_json else {}
    opened = open_load(request, parameters, tell_opening)
    result = run_load(
        opened, reporter(request, asked.progress, with_timestamp=asked.progress_timestamp)
    )
    if asked.intervals is not None:
        write_intervals(asked.intervals, with_variants(interval_columns(opened), result))
    if asked.as_json:
        columns = with_variants(interval_columns(opened), result)
        typer.echo(json.dumps(redacted_value(load_object(result, request, columns, server))))
    else:
        print_load(result, request, failures_detailed=asked.failures_detailed)
    if result["lost_connections"] or not (result["transactions"] or result["skipped"]):
        raise typer.Exit(ExitCode.TRIALS)


def _print_builtins(show: str | None) -> None:
    if show is None:
        typer.echo("\n".join(BUILTINS))
    else:
        typer.echo(builtin_script(show, "--show-script").script, nl=False)


def _scaled(
    request: LoadRequest, choices: LoadChoices, parameters: ConnectionParameters
) -> LoadRequest:
    """With a builtin script the scale is the count of pgbench_branches, as in pgbench."""
    if not choices.uses_builtin:
        return request
    found = pgbench_scale(parameters)
    if choices.scale is not None:
        err.print(
            f"warning: -s {choices.scale} is ignored: builtin scripts use the count of"
            f" pgbench_branches, {found}",
            style="yellow",
        )
    scale: dict[str, Any] = {"scale": found}
    return replace(request, variables={**request.variables, **scale})
