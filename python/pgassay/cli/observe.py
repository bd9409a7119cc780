"""`pgassay observe`: the recording of a trial on a running server, without a load.

Enters: connection options, how long. Leaves: a directory of samples and a report on it.
Never: changes the server, however it ends.
"""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from rich.table import Table

from pgassay.cli.connection import (
    Database,
    DatabaseName,
    Host,
    Port,
    Ssh,
    Sudo,
    User,
    connection_string,
    one_database,
)
from pgassay.cli.console import err, out, plain
from pgassay.cli.observe_progress import ObserveProgress
from pgassay.cli.summary import print_not_seen
from pgassay.errors import ExitCode, SpecError
from pgassay.interruption import SIGNALS
from pgassay.observation import Outcome, Request, observe
from pgassay.report.observation import summary_object
from pgassay.report.observation_tables import ObservationContext, doubts, event_rows, facts
from pgassay.samples.handover import held
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.samples.run_directory import default_run_path
from pgassay.spec.units import duration_s
from pgassay.trials.access_checks import target_table

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(kB|MB|GB|TB)\s*")
_BYTES = {"kB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_MOST_EVENTS = 8


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("observe")(observe_command)


def observe_command(
    database: Database = None,
    dbname: DatabaseName = None,
    host: Host = None,
    port: Port = None,
    user: User = None,
    ssh: Ssh = None,
    sudo: Sudo = False,
    duration: Annotated[
        str | None, typer.Option("--duration", help="Such as 90s or 1h [until Ctrl-C].")
    ] = None,
    path: Annotated[
        Path | None, typer.Option("--out", help="Directory to make [pgassay-runs/…].")
    ] = None,
    every: Annotated[
        str, typer.Option("--every", help="Between looks at the waits, 20ms to 60s.")
    ] = "100ms",
    segment: Annotated[
        str, typer.Option("--segment", help="Written to disk so often; a kill loses one.")
    ] = "10min",
    keep: Annotated[str, typer.Option("--keep", help="How far back samples are kept.")] = "24h",
    max_disk: Annotated[
        str, typer.Option("--max-disk", help="Room for samples; the oldest go first.")
    ] = "1GB",
    no_live: Annotated[bool, typer.Option("--plain", help="Lines instead of a live view.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Record what a running server does, without a load; it is only read."""
    dsn = connection_string(one_database(database, dbname), host, port, user)
    if ssh is not None or sudo:
        target_table({"dsn": dsn, "ssh": ssh, "sudo": sudo})
    request = Request(
        duration_s=None if duration is None else _seconds("--duration", duration, 1, 1e8),
        every_s=_seconds("--every", every, 0.02, 60),
        segment_s=_seconds("--segment", segment, 1, 86400),
        keep_s=_seconds("--keep", keep, 10, 1e8),
        max_disk_bytes=_bytes("--max-disk", max_disk),
        ssh=ssh,
        sudo=sudo,
    )
    directory = ObservationDirectory.create(path or default_run_path("observation"))
    outcome = _follow(dsn, request, directory, live=not no_live)
    if as_json:
        typer.echo(json.dumps(summary_object(str(directory.path), outcome.context)))
    else:
        print_observation(outcome.context, outcome.report)
    if request.duration_s is not None and outcome.context.described["ended_by"] == "stopped":
        raise typer.Exit(ExitCode.INTERRUPTED)


def _follow(dsn: str, request: Request, directory: ObservationDirectory, *, live: bool) -> Outcome:
    try:
        with (
            held(directory.path),
            _first_signal_ends() as is_stopped,
            ObserveProgress(live=live) as progress,
        ):
            return observe(dsn, request, directory, progress, is_stopped)
    except BaseException:
        with suppress(OSError):
            if not directory.discard_if_empty():
                err.print(f"what was seen is kept: pgassay report {directory.path}", markup=False)
        raise


@contextmanager
def _first_signal_ends() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C (or SIGTERM, SIGHUP) ends the recording in order, the second at once."""
    stopped = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        if stopped:
            raise KeyboardInterrupt
        stopped = True

    before = {name: signal.signal(name, stop) for name in SIGNALS}
    try:
        yield lambda: stopped
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def print_observation(context: ObservationContext, report: Path | None) -> None:
    """The few lines that need no browser."""
    out.print(f"[bold]{plain(context.title)}[/bold]")
    for name, value in facts(context):
        out.print(f"{name}: {plain(value)}")
    rows = event_rows(context.observed)
    if rows:
        table = Table(box=None, padding=(0, 2, 0, 0))
        table.add_column("wait event")
        sampled = ("by pg_wait_sampling",) if context.observed.sampled_waits else ()
        for title in ("active sessions", "per transaction", "share", *sampled):
            table.add_column(title, justify="right")
        for row in rows[:_MOST_EVENTS]:
            more = (row.sampled,) if sampled else ()
            table.add_row(plain(row.name), row.sessions, row.per_transaction, row.share, *more)
        out.print(table)
    for text in doubts(context):
        out.print(f"[yellow]note:[/yellow] {plain(text)}")
    print_not_seen(context.environment)
    if report is not None:
        out.print(f"Report: {plain(str(report))}")


def _seconds(option: str, text: str, least: float, most: float) -> float:
    try:
        seconds = duration_s(text)
    except ValueError as error:
        raise SpecError(str(error), key=option) from None
    if not least <= seconds <= most:
        raise SpecError(f"{text}: give {least:g} s to {most:g} s", key=option)
    return seconds


def _bytes(option: str, text: str) -> int:
    match = _SIZE.fullmatch(text)
    if match is None or float(match[1]) <= 0:
        raise SpecError(f"{text}: write a size such as 500MB or 2GB", key=option)
    return round(float(match[1]) * _BYTES[match[2]])
