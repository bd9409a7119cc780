"""Opens the target of a run, and puts it back whatever happens.

Enters: a target. Leaves: the same target, closed and restored.
Never: stops restoring at a second Ctrl-C: that one prints what is still to be undone, and how. A
third one gives up, with the same words.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from pgassay.interruption import SIGNALS, leave_lost_terminal
from pgassay.refusals.refusal import RestoreRefused
from pgassay.server.comparison import ServerCompared
from pgassay.server.open import COPIED
from pgassay.server.protocol import ServerFacts, Target
from pgassay.trials.run.progress import ProgressListener

_UNPRINTABLE_IGNORED = suppress(Exception)
"""A message that cannot be printed must not keep the server from being restored: the terminal may
be gone, or a signal came while a line was being written (RuntimeError: reentrant call)."""


@contextmanager
def opened(
    target: Target,
    listener: ProgressListener,
    pending_undo: Callable[[], str],
    is_changed: Callable[[], bool],
) -> Iterator[ServerFacts]:
    """Opens the target and closes it on the way out, with the user's signals held off meanwhile.

    "Restoring the server" is said only where `is_changed` says that there is something to undo.
    """
    doing = (
        "connecting to the server" if target.kind.startswith("existing") else "starting a server"
    )
    if target.kind == COPIED:
        doing = (
            "looking at the server, then copying it by a base backup, which waits for a checkpoint"
        )
    try:
        listener.preparing(doing)
        yield target.open()
    finally:
        with signals_held_off(listener, pending_undo):
            with _UNPRINTABLE_IGNORED:
                if is_changed():
                    listener.preparing("restoring the server")
            try:
                target.close()
            except KeyboardInterrupt as stopped:
                left = pending_undo()
                refusal = RestoreRefused("restoring-stopped", left=left)
                if stopped.args:
                    code = "restoring-stopped-with-the-server-down"
                    refusal = RestoreRefused(code, down=stopped.args[0], left=left)
                raise refusal from None
            finally:
                comparison = target.compared()
                if comparison is not None:
                    listener.compared(ServerCompared("", comparison))


@contextmanager
def signals_held_off(listener: ProgressListener, pending_undo: Callable[[], str]) -> Iterator[None]:
    """Holds off signals while changes are undone: they only say what is left; a second Ctrl-C gives
    up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    was_warned = False

    def wait(number: int, *_: object) -> None:
        nonlocal was_warned
        leave_lost_terminal()
        # A lost terminal may send several signals; only a person's Ctrl-C may give up.
        if was_warned and number == signal.SIGINT:
            raise KeyboardInterrupt
        was_warned = was_warned or number == signal.SIGINT
        with _UNPRINTABLE_IGNORED:
            listener.warned(
                f"the server is being restored; {pending_undo()}; Ctrl-C once more leaves it so"
            )

    before = {number: signal.signal(number, wait) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
