"""The target is put back, whatever happens.

Enters: a target about to be opened. Leaves: the same target, closed and restored.
Never: lets an impatient second Ctrl-C break the restoring off half-way; it is told what is left
to do and how. A third one gives up, with the same words.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from pgassay.errors import RestoreFailed
from pgassay.interruption import SIGNALS
from pgassay.target.protocol import Target
from pgassay.trials.observer import Observer


@contextmanager
def restored(target: Target, observer: Observer, left_to_do: Callable[[], str]) -> Iterator[None]:
    """Close the target on the way out, with the user's signals held off meanwhile."""
    try:
        yield
    finally:
        with _signals_held_off(observer, left_to_do):
            with _unheard():
                observer.preparing("restoring the server")
            try:
                target.close()
            except KeyboardInterrupt:
                raise RestoreFailed(f"stopped while restoring; {left_to_do()}") from None


def _unheard() -> AbstractContextManager[None]:
    """Whatever it is that keeps words from the user does not keep the server from being restored:
    the terminal may be gone, and a signal that comes while a line is being written finds the
    stream in use (RuntimeError: reentrant call)."""
    return suppress(Exception)


@contextmanager
def _signals_held_off(observer: Observer, left_to_do: Callable[[], str]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told = False

    def wait(number: int, *_: object) -> None:
        nonlocal told
        # A lost terminal may send several signals; only a person's Ctrl-C may give up.
        if told and number == signal.SIGINT:
            raise KeyboardInterrupt
        told = told or number == signal.SIGINT
        with _unheard():
            observer.warned(
                f"the server is being restored; {left_to_do()}; Ctrl-C once more leaves it so"
            )

    before = {number: signal.signal(number, wait) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
