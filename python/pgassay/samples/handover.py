"""A run directory between two processes: one that broke off, and one that goes on or tidies up.

Enters: a run directory. Leaves: a lock that dies with its owner, a directory without the pieces
of a trial that never ended, words on what is left to undo. Never: removes a finished trial.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from pgassay.errors import RunDirectoryError
from pgassay.samples.files import clear_errors
from pgassay.samples.journal import JOURNAL, open_changes


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a run directory: whoever comes second is refused, and a dead owner holds nothing."""
    with clear_errors(path):
        # The directory itself: nothing is written, so a full or read-only disk will do.
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunDirectoryError(
                f"{path}: its run is alive; wait for it to end, or end it"
            ) from None
        except OSError:
            pass  # a file system without locks; the target has a lock of its own
        yield
    finally:
        os.close(descriptor)


def clear_unfinished(path: Path) -> None:
    """Remove what a trial or a file that was never finished has left."""
    trials = path / "trials"
    with clear_errors(path):
        trials.mkdir(mode=0o700, exist_ok=True)
        for left in (*path.glob(".*.part"), *trials.glob(".*.part"), *trials.glob("output-*")):
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left)
            else:
                left.unlink(missing_ok=True)


def left_to_do(path: Path) -> str:
    """What a run still has changed on its target, and what undoes it, in one line."""
    changes = open_changes(path / JOURNAL)
    if not changes:
        return "nothing is left to undo"
    left = "; ".join(dict.fromkeys(change.what for change in reversed(changes)))
    return f"left to undo: {left}; pgassay recover {quote(str(path))} does it"
