"""Carry out one `pgassay load`, from its options to its result.

Enters: the options. Leaves: the load's result on stdout, pgbench's lines of progress on stderr.
Never: is imported for the help, which needs none of its modules.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import typer

from pgassay.cli.connection import connection_string, warn_of_killed_runs
from pgassay.cli.load.options import LoadOptions
from pgassay.cli.load.request import request_of, scenarios_of
from pgassay.cli.load.result import (
    check_intervals_file,
    failures_by_kind,
    load_object,
    server_object,
    write_intervals,
)
from pgassay.cli.load.summary import print_load
from pgassay.cli.terminal.console import err, warn
from pgassay.commit import version_line
from pgassay.errors import ExitCode
from pgassay.server.connection.session import resolve
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.secrets.redaction import redacted_value
from pgassay.spec.workload.scripts import BUILTINS, builtin_script
from pgassay.trials.load.engine import COUNTS, LoadRequest
from pgassay.trials.load.engine_load import EngineLoad
from pgassay.trials.load.group import OnThisMachine
from pgassay.trials.load.scripts import parse_scripts
from pgassay.workloads.pgbench_tables.init import pgbench_scale, vacuum_pgbench_tables


def carry_out(options: LoadOptions) -> None:
    """Puts the load on the server and prints what it did."""
    if options.version:
        typer.echo(version_line())
        return
    if options.show_script is not None or "list" in (options.builtins or []):
        _print_builtins(options.show_script)
        return
    if options.replay is not None:
        _replay(options)
        return
    choices = None
    if options.search is not None:
        from pgassay.cli.load.search import probe_options, search_choices  # start-up time

        choices = search_choices(options)
        options = probe_options(options, choices)
    request = request_of(options, scenarios_of(options))
    # Before the connection, as pgbench does: a mistake in a script is the user's to mend first.
    parse_scripts(request.scenarios, allow_shell=options.allow_shell, protocol=request.protocol)
    check_intervals_file(options.intervals)
    parameters = _server(options)
    request = _scaled(request, options, parameters)
    if not options.no_vacuum:
        for refusal in vacuum_pgbench_tables(parameters, everything=options.vacuum_all):
            warn(refusal)
    if choices is not None:
        from pgassay.cli.load.search import run_search  # start-up time

        run_search(choices, request, parameters, as_json=options.as_json)
    else:
        _run(options, request, parameters)


def _replay(options: LoadOptions) -> None:
    from pgassay.cli.load.replaying import replay_request, run_replay  # start-up time

    request = replay_request(options)
    parameters = _server(options)
    server = server_object(parameters) if options.as_json else {}
    run_replay(options, request, parameters, server)


def _server(options: LoadOptions) -> ConnectionParameters:
    parameters = resolve(
        connection_string(
            options.database, options.host, options.port, options.user, options.dbname
        )
    )
    warn_of_killed_runs(parameters)
    return parameters


def _run(options: LoadOptions, request: LoadRequest, parameters: ConnectionParameters) -> None:
    server = server_object(parameters) if options.as_json else {}
    load = EngineLoad(request, parameters, OnThisMachine(), tell=print_opening)
    result = load.run(
        reporter(request, options.progress, with_timestamp=options.progress_timestamp)
    )
    if options.intervals is not None:
        write_intervals(options.intervals, load.intervals())
    if options.as_json:
        columns = load.intervals()
        typer.echo(json.dumps(redacted_value(load_object(result, request, columns, server))))
    else:
        print_load(result, request, failures_detailed=options.failures_detailed)
    # pgbench aborts a client at any other failure than these two kinds, and exits with 2 then.
    aborts = failures_by_kind(result["scenarios"])["other"] and not options.continue_on_error
    succeeded = result["transactions"] or result["skipped"]
    if aborts or result["lost_connections"] or not succeeded:
        raise typer.Exit(ExitCode.TRIALS)


def _print_builtins(show: str | None) -> None:
    if show is None:
        typer.echo("\n".join(BUILTINS))
    else:
        typer.echo(builtin_script(show, "--show-script").script, nl=False)


def _scaled(
    request: LoadRequest, options: LoadOptions, parameters: ConnectionParameters
) -> LoadRequest:
    """With a builtin script the scale is the count of pgbench_branches, as in pgbench."""
    if not options.uses_builtin:
        return request
    scale = pgbench_scale(parameters)
    if options.scale is not None:
        warn(
            f"-s {options.scale} is ignored: builtin scripts use the count of pgbench_branches,"
            f" {scale}"
        )
    return replace(request, variables={**request.variables, "scale": scale})


_COUNTS = ("elapsed_s", *COUNTS)


def print_opening(connections: int, since_s: float) -> None:
    """Prints a line while slow connections are being opened."""
    err.print(f"opening {connections} connections: {since_s:.0f} s so far", markup=False)


def reporter(
    request: LoadRequest, every_s: float | None, *, with_timestamp: bool
) -> Callable[[Mapping[str, Any]], None]:
    """A function that prints a line each `every_s` seconds, of what has happened since the last
    one. With a rate, latency counts from the intended start, as in pgbench."""
    due = every_s or 0.0
    before: Mapping[str, Any] = dict.fromkeys(_COUNTS, 0)

    def report(progress: Mapping[str, Any]) -> None:
        nonlocal due, before
        if every_s is None or progress["elapsed_s"] < due:
            return
        while due <= progress["elapsed_s"]:
            due += every_s
        since = {name: progress[name] - before[name] for name in _COUNTS}
        before = progress
        at = f"{time.time():.3f}" if with_timestamp else f"{progress['elapsed_s']:.1f}"
        parts = [f"progress: {at} s", *_figures(since)]
        step = request.steps[progress["step"]]
        if step.rate is not None:
            parts.append(f"lag {_mean(since, 'lag_ms'):.3f} ms")
            if request.latency_limit_ms is not None:
                parts.append(f"{since['skipped']} skipped")
        if request.max_tries not in (None, 1):
            parts.append(f"{since['retried']} retried, {since['retries']} retries")
        if len(request.steps) > 1:
            parts.append(f"{progress['clients']} clients")
        if not progress["measured"]:
            parts.append("warm-up")
        err.print(", ".join(parts), markup=False)

    return report


def _figures(since: Mapping[str, Any]) -> list[str]:
    mean = _mean(since, "latency_ms")
    # Rounding may bring equal latencies below 0.
    spread = math.sqrt(max(_mean(since, "latency_ms2") - mean * mean, 0.0))
    return [
        f"{since['transactions'] / since['elapsed_s']:.1f} tps",
        f"lat {mean:.3f} ms stddev {spread:.3f}",
        f"{since['failed']} failed",
    ]


def _mean(since: Mapping[str, Any], name: str) -> float:
    return since[name] / since["transactions"] if since["transactions"] else 0.0
