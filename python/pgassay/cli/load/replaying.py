"""Carry out `pgassay load --replay`.

Enters: the options. Leaves: the result of the replay on stdout, lines of progress on stderr.
Never: prints a text or a value of the trace.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import typer
from pydantic import ValidationError

from pgassay.cli.load.options import LoadOptions
from pgassay.cli.load.result import check_intervals_file, interval_objects, write_intervals
from pgassay.cli.terminal.console import err, out, warn
from pgassay.errors import ExitCode
from pgassay.plan.steps import Step
from pgassay.plan.whole_loads import Replayed
from pgassay.refusals.refusal import Refusal
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.load.replayed import as_step, trace_of
from pgassay.spec.load.table import LoadTable
from pgassay.spec.secrets.redaction import redacted_value
from pgassay.stored_notes import coded
from pgassay.trials.load.caveats import load_notes
from pgassay.trials.load.replay_load import ReplayLoad, ReplayRequest

_FITTING = frozenset(
    {"database", "dbname", "host", "port", "user", "replay", "speed", "progress", "as_json"}
    | {"interval", "intervals", "busy_poll", "no_vacuum", "continue_on_error"}
)
_FIGURES = ("mean", "p50", "p95", "p99", "max")


def replay_request(options: LoadOptions) -> ReplayRequest:
    """Returns what is asked of the engine; raises SpecError for options that do not fit a
    replay."""
    _refuse_others(options)
    check_intervals_file(options.intervals)
    written: dict[str, Any] = {"replay": str(options.replay)}
    for name in ("interval", "busy_poll"):
        if (value := getattr(options, name)) is not None:
            written[name] = value
    if options.speed is not None:
        written["speed"] = _speed(options.speed)
    try:
        load = LoadTable.model_validate(written)
    except ValidationError as error:
        key = f"--{'-'.join(str(error.errors()[0]['loc'][0]).split('_'))}"
        raise Refusal("replay-option-form", key) from None
    trace = trace_of(load, Path())
    load = as_step(load, trace.facts)
    return ReplayRequest(trace, load.speed, load.interval, load.time_limit, load.busy_poll)


def run_replay(
    options: LoadOptions,
    request: ReplayRequest,
    parameters: ConnectionParameters,
    server: Mapping[str, Any],
) -> None:
    """Replays the trace and prints what happened."""
    facts = request.trace.facts
    due = options.progress or 0.0

    def report(progress: Mapping[str, Any]) -> None:
        nonlocal due
        if options.progress is None or progress["elapsed_s"] < due:
            return
        while due <= progress["elapsed_s"]:
            due += options.progress
        done = progress["transactions"] + progress["failed"]
        err.print(
            f"progress: {progress['elapsed_s']:.1f} s, {done} of {facts.statements} statements,"
            f" {progress['tps']:.1f} a second, {progress['failed']} failed",
            markup=False,
        )

    load = ReplayLoad(request, parameters)
    result = load.run(report)
    columns = load.intervals()
    if options.intervals is not None:
        write_intervals(options.intervals, columns)
    seconds = facts.seconds / (request.speed or 1.0)
    notes = load_notes(result, [Step(facts.at_once, seconds, True, request.rate)], 1)
    if options.as_json:
        found = {**result, "server": dict(server), **coded("warnings", notes)}
        found["intervals"] = interval_objects(columns, is_open=request.rate is not None)
        typer.echo(json.dumps(redacted_value(found)))
    else:
        _print(request, result)
        for note in notes:
            warn(str(note))
    replay = result["replay"]
    failed = replay["failed_here_only"] or replay["failed_otherwise"]
    if (
        (failed and not options.continue_on_error)
        or result["lost_connections"]
        or not result["transactions"]
    ):
        raise typer.Exit(ExitCode.TRIALS)


def _print(request: ReplayRequest, result: Mapping[str, Any]) -> None:
    facts, replay = request.trace.facts, result["replay"]
    out.print(str(Replayed(facts.statements, facts.sessions, request.speed).described()))
    out.print(
        f"statements    {result['transactions']}, failed {result['failed']}"
        f" ({replay['failed_here_and_there']} of them at the source, too,"
        f" {sum(replay['failed_otherwise'].values())} of these by another error;"
        f" {replay['failed_there_only']} failed there only)"
    )
    out.print(
        f"time          {result['duration_s']:.2f} s of {facts.seconds / (request.speed or 1):.2f};"
        f" {result['tps']:.1f} statements a second, {replay['transactions']} transactions"
    )
    for title, key in (("latency", "latency_ms"), ("response", "response_ms")):
        found = result.get(key)
        if found and found["mean"] is not None:
            figures = ", ".join(f"{name} {found[name]:.3f}" for name in _FIGURES)
            out.print(f"{title:<13} {figures} ms")
    for title, key in (("late", "late_own"), ("behind", "late_predecessor")):
        late = replay[key]
        if late is not None:
            out.print(
                f"{title:<13} p99 {late['p99_ms']:.3f}, max {late['max_ms']:.3f} ms,"
                f" {late['share']:.3%} more than 5 ms"
            )


def _speed(written: str) -> float | str:
    try:
        return float(written)
    except ValueError:
        return written


def _refuse_others(options: LoadOptions) -> None:
    for one in fields(options):
        if one.name not in _FITTING and getattr(options, one.name) != one.default:
            hints = get_type_hints(LoadOptions, include_extras=True)
            name = hints[one.name].__metadata__[0].param_decls[0]
            raise Refusal("options-exclude-each-other", option=name, other="--replay")
