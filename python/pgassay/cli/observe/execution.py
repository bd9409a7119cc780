"""Carry out one `pgassay observe`: record a running server, without a load of ours.

Enters: what is asked. Leaves: a directory of samples and a report on it.
Never: changes the server, however it ends.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

import typer

from pgassay.cli.observe.progress import ObserveProgress
from pgassay.cli.terminal.console import err, silenced
from pgassay.cli.terminal.stopping import first_signal_ends
from pgassay.cli.terminal.summary import print_summary
from pgassay.errors import ExitCode
from pgassay.refusals.refusal import Refusal
from pgassay.report.context import ObservationContext
from pgassay.report.objects.observed import summary_object
from pgassay.samples.directory import default_run_path
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.samples.unfinished import locked
from pgassay.workflows.observation import Request, observe
from pgassay.workflows.reporting import Reported

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(kB|MB|GB|TB)\s*")
_BYTES = {"kB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}


def carry_out(
    dsn: str, request: Request, out: Path | None, *, live: bool, quiet: bool, as_json: bool
) -> None:
    """Records the server, reports and prints."""
    directory = ObservationDirectory.create(out or default_run_path("observation"))
    outcome = _follow(dsn, request, directory, live=live, quiet=quiet)
    if as_json:
        typer.echo(json.dumps(summary_object(str(directory.path), outcome.context)))
    else:
        print_summary(outcome.context, outcome.report)
    if request.duration_s is not None and outcome.context.described.ended_by == "stopped":
        raise typer.Exit(ExitCode.INTERRUPTED)


def _follow(
    dsn: str, request: Request, directory: ObservationDirectory, *, live: bool, quiet: bool
) -> Reported[ObservationDirectory, ObservationContext]:
    try:
        with (
            locked(directory.path),
            first_signal_ends() as is_stopped,
            silenced(quiet, err),
            ObserveProgress(live=live and not quiet) as progress,
        ):
            return observe(dsn, request, directory, progress, is_stopped)
    except BaseException:
        with suppress(OSError):
            if not directory.discard_if_empty():
                err.print(
                    f"samples so far are kept; `pgassay report {directory.path}` reports them",
                    markup=False,
                )
        raise


def bytes_of(option: str, text: str) -> int:
    """Returns the bytes that an option such as `500MB` or `2 GB` names."""
    match = _SIZE.fullmatch(text)
    if match is None or float(match[1]) <= 0:
        raise Refusal("size-form", option, text=text)
    return round(float(match[1]) * _BYTES[match[2]])
