"""Requests to stop (SIGINT, SIGTERM, SIGHUP) that are not lost.

Enters: signals. Leaves: KeyboardInterrupt where the signal arrives, and again at the next call of
`raise_if_interrupted`. Never: decides what is put back on the way out.

Python discards what a signal handler raises while a weak reference's callback or a `__del__` runs
and prints "Exception ignored in"; importing modules runs many of these. So the request is
remembered, code that is about to start something long asks for it, and nothing is printed.

A child process that starts must be known before anything is raised, or nobody ends it: code that
starts one does so inside `interruptions_deferred`.
"""

from __future__ import annotations

import os
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""SIGHUP too: when the terminal is lost, the server must still be restored."""
_interrupted = threading.Event()
_deferring = 0
_deferred = False
_lock = threading.Lock()


def handle_signals() -> None:
    """Takes each of `SIGNALS` as a request to stop from now on."""
    _interrupted.clear()
    sys.unraisablehook = _print_unless_interrupted
    for number in SIGNALS:
        signal.signal(number, _interrupt)


def leave_lost_terminal() -> None:
    """Lets what is written from now on go nowhere, where the terminal is gone: an error of writing
    would otherwise take the place of the request to stop."""
    for stream in (1, 2):
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(stream).st_mode) and not os.isatty(stream):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream)
                os.close(nowhere)


def request_stop() -> None:
    """Requests a stop, as a signal would, on behalf of another process."""
    _interrupted.set()


def forget_request() -> None:
    """Forgets a request to stop that was met, so that what is put back now is not broken off."""
    _interrupted.clear()


def raise_if_interrupted() -> None:
    """Raises KeyboardInterrupt if a request has come, even if its exception was discarded."""
    if _interrupted.is_set():
        raise KeyboardInterrupt


@contextmanager
def interruptions_deferred() -> Iterator[None]:
    """Defers KeyboardInterrupt to the end of this block, for work that takes milliseconds.

    Only for a request that comes during the block: on the way out of an interrupted run, programs
    are started too. Threads may be in such blocks at the same time; the last one raises.
    """
    global _deferring, _deferred
    with _lock:
        _deferring += 1
    try:
        yield
    finally:
        with _lock:
            _deferring -= 1
            raised = _deferred and _deferring == 0
            _deferred = _deferred and not raised
    if raised:
        raise KeyboardInterrupt


def _interrupt(*_: object) -> None:
    global _deferred
    _interrupted.set()
    leave_lost_terminal()
    if _deferring == 0:
        raise KeyboardInterrupt
    _deferred = True


def _print_unless_interrupted(discarded: sys.UnraisableHookArgs) -> None:
    if not (_interrupted.is_set() and issubclass(discarded.exc_type, KeyboardInterrupt)):
        sys.__unraisablehook__(discarded)
