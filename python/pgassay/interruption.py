"""A request to stop that is not lost.

Enters: SIGINT, SIGTERM, SIGHUP. Leaves: KeyboardInterrupt where it found the program, and at every
look from then on. Never: decides what is put back on the way out.

Python throws away what a handler raises while a weak reference's callback or a `__del__` runs, and
prints "Exception ignored in"; modules being imported run many of the former. So the request is
remembered, and whoever is about to begin something long looks for it.
"""

from __future__ import annotations

import signal
import threading
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""A lost terminal, or the end of a session, must not lose the restoring."""
_asked = threading.Event()


def heed_signals() -> None:
    """From now on each of them is a request to stop."""
    _asked.clear()
    for number in SIGNALS:
        signal.signal(number, _ask)


def raise_if_asked() -> None:
    """KeyboardInterrupt where a request has come, heard before or not."""
    if _asked.is_set():
        raise KeyboardInterrupt


def _ask(*_: object) -> NoReturn:
    _asked.set()
    raise KeyboardInterrupt
