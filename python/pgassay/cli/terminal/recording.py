"""What the commands share that record a running server: `observe`, `trace` and `profile`.

Enters: a new directory, signals. Leaves: whether a signal has come; what was recorded, printed.
Never: ends anything by itself at the first signal, or leaves a directory that holds nothing.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import typer

from pgassay.cli.terminal.console import err
from pgassay.errors import ExitCode
from pgassay.interruption import SIGNALS, leave_lost_terminal
from pgassay.samples.directory import StoredDirectory
from pgassay.samples.ownership.unfinished import locked


@contextmanager
def recording(directory: StoredDirectory) -> Iterator[Callable[[], bool]]:
    """Yields whether a signal asks to end; where the recording fails, says what is kept of it."""
    # What another process records into a locked directory is its own.
    with locked(directory.path):
        try:
            with _first_signal_ends() as is_stopped:
                yield is_stopped
        except BaseException:
            with suppress(OSError):
                if not directory.discard_if_empty():
                    err.print(
                        f"samples so far are kept; `pgassay report {directory.path}` reports them",
                        markup=False,
                    )
            raise


def print_recording(
    as_object: Callable[[], Mapping[str, Any]],
    print_all: Callable[[], None],
    *,
    as_json: bool,
    is_cut_short: bool,
) -> None:
    """Prints a recording as one JSON object, or else in words; one that is shorter than was asked
    for exits as interrupted."""
    if as_json:
        typer.echo(json.dumps(as_object()))
    else:
        print_all()
    if is_cut_short:
        raise typer.Exit(ExitCode.INTERRUPTED)


@contextmanager
def _first_signal_ends() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C (or SIGTERM, SIGHUP) ends the recording in order, the second at once."""
    stopped = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        leave_lost_terminal()
        if stopped:
            raise KeyboardInterrupt
        stopped = True

    before = {name: signal.signal(name, stop) for name in SIGNALS}
    try:
        yield lambda: stopped
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
