"""The target is put back, whatever happens.

Enters: a target about to be opened. Leaves: the same target, closed and restored.
Never: lets an impatient second Ctrl-C break the restoring off half-way.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pgassay.target.protocol import Target
from pgassay.trials.observer import Observer

HELD_OFF = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def restored(target: Target, observer: Observer) -> Iterator[None]:
    """Close the target on the way out, with the user's signals held off meanwhile."""
    try:
        yield
    finally:
        with _signals_held_off(observer):
            with suppress(OSError):
                observer.preparing("restoring the server")
            target.close()


@contextmanager
def _signals_held_off(observer: Observer) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def wait(*_: object) -> None:
        with suppress(OSError):  # the terminal may be gone
            observer.warned("the server is being restored; a moment")

    before = {number: signal.signal(number, wait) for number in HELD_OFF}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
