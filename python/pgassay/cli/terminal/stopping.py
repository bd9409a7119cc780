"""Ending in order what would otherwise go on: the first signal asks, the second ends at once.

Enters: signals. Leaves: whether one has come. Never: ends anything by itself at the first.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from pgassay.interruption import SIGNALS, leave_lost_terminal


@contextmanager
def first_signal_ends() -> Iterator[Callable[[], bool]]:
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
