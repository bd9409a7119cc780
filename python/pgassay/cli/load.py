"""`pgassay load`: one load on one server, with pgbench's letters.

Enters: scripts, clients, a duration, libpq's connection settings. Leaves: a summary or the
`pgassay.load/1` object. Never: changes a setting or makes a table.
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import typer

from pgassay.cli import load_options as o
from pgassay.cli.connection import (
    Database,
    DatabaseName,
    Host,
    Port,
    User,
    connection_string,
    one_database,
)
from pgassay.cli.console import err
from pgassay.cli.load_choices import LoadChoices, request_of, scenarios_of
from pgassay.cli.load_intervals import check_intervals_file, write_intervals
from pgassay.cli.load_object import load_object, server_object
from pgassay.cli.load_progress import reporter, tell_opening
from pgassay.cli.load_report import print_load
from pgassay.cli.pgbench_command import PgbenchCommand
from pgassay.cli.search import probing, run_search, search_choices
from pgassay.errors import ExitCode
from pgassay.spec.redaction import redacted_value
from pgassay.spec.scripts import BUILTINS, builtin_script
from pgassay.target.pgbench_scale import pgbench_scale
from pgassay.target.pgbench_vacuum import vacuum_pgbench_tables
from pgassay.target.protocol import ConnectionParameters
from pgassay.target.session import resolve
from pgassay.trials.load import LoadRequest, interval_columns, open_load, run_load
from pgassay.trials.slices import with_variants


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("load", cls=PgbenchCommand)(load)


def load(
    database: Database = None,
    dbname: DatabaseName = None,
    host: Host = None,
    port: Port = None,
    user: User = None,
    files: o.Files = None,
    builtins: o.Builtins = None,
    select_only: o.SelectOnly = False,
    simple_update: o.SimpleUpdate = False,
    show_script: o.ShowScript = None,
    define: o.Define = None,
    scale: o.Scale = None,
    random_seed: o.RandomSeed = None,
    allow_shell: o.AllowShell = False,
    clients: o.Clients = None,
    threads: o.Threads = 1,
    duration: o.DurationS = None,
    transactions: o.Transactions = None,
    rate: o.Rate = None,
    latency_limit: o.LatencyLimitMs = None,
    max_tries: o.MaxTries = None,
    protocol: o.Protocol = "simple",
    connect: o.Connect = False,
    no_vacuum: o.NoVacuum = False,
    vacuum_all: o.VacuumAll = False,
    progress: o.ProgressS = None,
    progress_timestamp: o.ProgressTimestamp = False,
    report_per_command: o.PerCommand = False,
    failures_detailed: o.FailuresDetailed = False,
    exit_on_abort: o.ExitOnAbort = False,
    verbose_errors: o.VerboseErrors = False,
    log: o.Log = False,
    log_prefix: o.LogPrefix = None,
    sampling_rate: o.SamplingRate = None,
    aggregate_interval: o.AggregateIntervalS = None,
    steps: o.Steps = None,
    shuffle: o.Shuffle = False,
    warmup: o.WarmupS = None,
    arrivals: o.Arrivals = None,
    pool: o.Pool = None,
    think_time: o.ThinkTimeOption = None,
    reconnect: o.Reconnect = None,
    slices: o.Slices = None,
    interval: o.Interval = None,
    intervals: o.Intervals = None,
    transport: o.Transport = None,
    busy_poll: o.BusyPoll = None,
    search: o.Search = None,
    over: o.Over = None,
    lowest: o.From = None,
    highest: o.To = None,
    within: o.Within = None,
    confidence: o.Confidence = None,
    as_json: o.Json = False,
) -> None:
    """Put one load on a server, with pgbench's letters and scripts."""
    given = locals()
    if show_script is not None or "list" in (builtins or []):
        _print_builtins(show_script)
        return
    choices = LoadChoices(**{field.name: given[field.name] for field in fields(LoadChoices)})
    wanted = search_choices(search, over, lowest, highest, within, confidence)
    if wanted is not None:
        choices = probing(choices, wanted)
    request = request_of(choices, scenarios_of(choices))
    check_intervals_file(intervals)
    where = connection_string(one_database(database, dbname), host, port, user)
    parameters = resolve(where)
    request = _scaled(request, choices, parameters)
    if not no_vacuum:
        for refusal in vacuum_pgbench_tables(parameters, everything=vacuum_all):
            err.print(f"warning: {refusal}", style="yellow", markup=False)
    if wanted is not None:
        run_search(wanted, request, parameters, as_json=as_json)
        return
    server = server_object(parameters) if as_json else {}
    opened = open_load(request, parameters, tell_opening)
    result = run_load(opened, reporter(request, progress, with_timestamp=progress_timestamp))
    if intervals is not None:
        write_intervals(intervals, with_variants(interval_columns(opened), result))
    if as_json:
        columns = with_variants(interval_columns(opened), result)
        typer.echo(json.dumps(redacted_value(load_object(result, request, columns, server))))
    else:
        print_load(result, request, failures_detailed=failures_detailed)
    if result["lost_connections"] or not result["transactions"]:
        raise typer.Exit(ExitCode.TRIALS)


def _print_builtins(show: str | None) -> None:
    if show is None:
        typer.echo("\n".join(BUILTINS))
    else:
        typer.echo(builtin_script(show, "--show-script").script, nl=False)


def _scaled(
    request: LoadRequest, choices: LoadChoices, parameters: ConnectionParameters
) -> LoadRequest:
    """With a builtin script the tables give the scale, as in pgbench."""
    if not choices.uses_builtin:
        return request
    found = pgbench_scale(parameters)
    if choices.scale not in (None, found):
        err.print(f"-s is not used: pgbench_branches says {found}", style="yellow")
    scale: dict[str, Any] = {"scale": found}
    return replace(request, variables={**request.variables, **scale})
