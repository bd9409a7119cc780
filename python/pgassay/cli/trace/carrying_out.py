"""Carry out one `pgassay trace`.

Enters: option → value. Leaves: a directory of readings and a report on it.
Never: leaves a probe behind, however it ends.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import typer

from pgassay.cli.connection import connection_string
from pgassay.cli.terminal.console import err, labelled, plain
from pgassay.cli.terminal.durations import seconds_of
from pgassay.cli.terminal.stopping import first_signal_ends
from pgassay.cli.terminal.summary import print_trace
from pgassay.errors import ExitCode, SpecError
from pgassay.report.objects.traced import trace_object
from pgassay.samples.run_directory import default_run_path
from pgassay.samples.trace_directory import TraceDirectory
from pgassay.spec.reading.units import clock
from pgassay.stores.address import refuse_url
from pgassay.tracing import DEFAULT_S, MOST_S, TraceRequest, trace
from pgassay.trials.trace.points import titles
from pgassay.trials.trace.programs import PARTS, Chosen, Program
from pgassay.trials.trace.server import TracedServer

_LINE_EVERY_S = 10.0


def carry_out(given: Mapping[str, Any]) -> None:
    """Trace, report and print; `given` is option → value."""
    asked = SimpleNamespace(**given)
    refuse_url(asked.out, "trace")
    dsn = connection_string(asked.database, asked.host, asked.port, asked.user, asked.dbname)
    request = TraceRequest(
        parts=_parts(asked.what),
        duration_s=DEFAULT_S
        if asked.duration is None
        else seconds_of("--duration", asked.duration, 1, MOST_S),
        cost_pairs=asked.measure_cost or 0,
        window_s=seconds_of("--window", asked.window, 1, 600),
    )
    directory = TraceDirectory.create(asked.out or default_run_path("trace"))
    try:
        with first_signal_ends() as is_stopped:
            outcome = trace(dsn, request, directory, TraceProgress(request), is_stopped)
    except BaseException:
        directory.discard_if_empty()
        raise
    if asked.as_json:
        typer.echo(json.dumps(trace_object(str(directory.path), outcome.context)))
    else:
        print_trace(outcome.context, outcome.report)
    if asked.duration is not None and outcome.context.described["ended_by"] == "stopped":
        raise typer.Exit(ExitCode.INTERRUPTED)


class TraceProgress:
    """Says on stderr what goes on."""

    def __init__(self, request: TraceRequest) -> None:
        self._request = request
        self._line_s = time.monotonic()

    def measures_cost(self, pair: int) -> None:
        """A pair of windows begins."""
        pairs, window = self._request.cost_pairs, self._request.window_s
        err.print(f"cost: pair {pair} of {pairs}, windows of {window:g} s", markup=False)

    def attaches(self) -> None:
        """The probes are being set."""
        err.print("setting the probes; this takes some seconds")

    def detaches(self) -> None:
        """The probes are being taken off."""
        err.print("taking the probes off; this takes some seconds")

    def began(self, server: TracedServer, chosen: Chosen) -> None:
        """The probes are set."""
        programs = ", ".join(map(_described, chosen.programs))
        err.print(
            f"tracing PostgreSQL {plain(server.version)}, process {server.postmaster} and its"
            f" children, for {clock(self._request.duration_s)} or until Ctrl-C: {programs}"
        )
        for line in chosen.missing:
            labelled("note: ", f"not traced: {line}", "yellow", console=err)
        self._line_s = time.monotonic()

    def traced(self, elapsed_s: float, pairs: int) -> None:
        """Every ten seconds a line."""
        if time.monotonic() - self._line_s >= _LINE_EVERY_S:
            self._line_s = time.monotonic()
            err.print(f"{clock(elapsed_s)}: {pairs:,} pairs of probes", markup=False)


def _described(program: Program) -> str:
    """Such as `LWLock (usdt)`."""
    return f"{titles().get(program.point, 'checkpoint phases')} ({program.way})"


def _parts(text: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    unknown = [word for word in found if word not in PARTS]
    if unknown or not found:
        raise SpecError(f"{text}: name some of {', '.join(PARTS)}", key="--what")
    return found
