"""Carry out one `pgassay observe`: record a running server, without a load of ours.

Enters: what is asked. Leaves: a directory of samples and a report on it.
Never: changes the server, however it ends.
"""

from __future__ import annotations

import re
from pathlib import Path

from pgassay.cli.observe.metrics import serving
from pgassay.cli.observe.progress import ObserveProgress
from pgassay.cli.terminal.console import err, plain, silenced
from pgassay.cli.terminal.recording import print_recording, recording
from pgassay.cli.terminal.summary import print_summary
from pgassay.refusals.refusal import Refusal
from pgassay.report.objects.observed import summary_object
from pgassay.samples.directory import default_run_path
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.workflows.observation import Request, observe

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(kB|MB|GB|TB)\s*")
_BYTES = {"kB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}


def carry_out(
    dsn: str,
    request: Request,
    out: Path | None,
    metrics: str | None,
    *,
    live: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Records the server, reports and prints."""
    progress = ObserveProgress(live=live and not quiet)
    # Before a directory is made: an address may be refused.
    with serving(metrics, progress) as listener:
        directory = ObservationDirectory.begin(out or default_run_path("observation"))
        with recording(directory) as is_stopped, silenced(quiet, err), progress:
            if directory.begun() is not None:
                err.print(f"goes on with the observation {plain(str(directory.path))}")
            outcome = observe(dsn, request, directory, listener, is_stopped)
    context, is_limited = outcome.context, request.duration_s is not None
    print_recording(
        lambda: summary_object(str(directory.path), context),
        lambda: print_summary(context, outcome.report),
        as_json=as_json,
        is_cut_short=is_limited and context.described.ended_by == "stopped",
    )


def bytes_of(option: str, text: str) -> int:
    """Returns the bytes that an option such as `500MB` or `2 GB` names."""
    match = _SIZE.fullmatch(text)
    if match is None or float(match[1]) <= 0:
        raise Refusal("size-form", option, text=text)
    return round(float(match[1]) * _BYTES[match[2]])
