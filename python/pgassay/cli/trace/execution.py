"""Carry out one `pgassay trace`.

Enters: what is asked. Leaves: a directory of readings and a report on it.
Never: leaves a probe behind, however it ends.
"""

from __future__ import annotations

import time
from pathlib import Path

from pgassay.cli.terminal.console import err, labelled, plain
from pgassay.cli.terminal.recording import print_recording, recording
from pgassay.cli.terminal.summary import print_summary
from pgassay.quantities import clock
from pgassay.refusals.refusal import Refusal
from pgassay.report.objects.traced import trace_object
from pgassay.samples.directory import default_run_path
from pgassay.samples.trace_directory import TraceDirectory
from pgassay.trials.trace.programs import PARTS, Chosen, Program, titles
from pgassay.trials.trace.server import TracedServer
from pgassay.workflows.tracing import TraceRequest, trace

_LINE_EVERY_S = 10.0


def carry_out(
    dsn: str, request: TraceRequest, out: Path | None, *, has_duration: bool, as_json: bool
) -> None:
    """Traces the server, reports and prints; with a duration asked for, a stop exits as
    interrupted."""
    directory = TraceDirectory.create(out or default_run_path("trace"))
    with recording(directory) as is_stopped:
        outcome = trace(dsn, request, directory, TraceProgress(request), is_stopped)
    print_recording(
        lambda: trace_object(str(directory.path), outcome.context),
        lambda: print_summary(outcome.context, outcome.report),
        as_json=as_json,
        is_cut_short=has_duration and outcome.context.described.ended_by == "stopped",
    )


class TraceProgress:
    """Prints the progress of a trace on stderr."""

    def __init__(self, request: TraceRequest) -> None:
        self._request = request
        self._line_s = time.monotonic()

    def measures_cost(self, pair: int) -> None:
        """Prints that a pair of windows begins, of which one is traced."""
        pairs, window = self._request.cost_pairs, self._request.window_s
        err.print(f"cost: pair {pair} of {pairs}, windows of {window:g} s", markup=False)

    def attaches(self) -> None:
        """Prints that the probes are being set."""
        err.print("setting the probes; this takes some seconds")

    def detaches(self) -> None:
        """Prints that the probes are being taken off."""
        err.print("taking the probes off; this takes some seconds")

    def began(self, server: TracedServer, chosen: Chosen) -> None:
        """Prints that the probes are set, and what is not traced."""
        programs = ", ".join(map(_described, chosen.programs))
        err.print(
            f"tracing PostgreSQL {plain(server.version)}, process {server.postmaster} and its"
            f" children, for {clock(self._request.duration_s)} or until Ctrl-C: {programs}"
        )
        for line in chosen.missing:
            labelled("note: ", f"not traced: {line}", "yellow", console=err)
        self._line_s = time.monotonic()

    def traced(self, elapsed_s: float, pairs: int) -> None:
        """Prints a line every ten seconds."""
        if time.monotonic() - self._line_s >= _LINE_EVERY_S:
            self._line_s = time.monotonic()
            err.print(f"{clock(elapsed_s)}: {pairs:,} pairs of probes", markup=False)


def _described(program: Program) -> str:
    """Such as `LWLock (usdt)`."""
    return f"{titles().get(program.point, 'checkpoint phases')} ({program.way})"


def parts_of(text: str) -> tuple[str, ...]:
    """Returns the parts that a text such as `lwlocks, io` names, each once."""
    found = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    unknown = [word for word in found if word not in PARTS]
    if unknown or not found:
        raise Refusal("no-such-part", text=text, known=", ".join(PARTS))
    return found
