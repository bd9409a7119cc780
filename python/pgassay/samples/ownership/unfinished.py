"""Run directories of unfinished runs: one process at a time, and no pieces of unfinished trials.

Enters: a run directory. Leaves: a lock that ends with its process, a directory without unfinished
trials, a line about changes that are still to be undone. Never: removes a finished trial.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.journal import open_changes
from pgassay.samples.layout import JOURNAL, TRIALS
from pgassay.samples.storage.files import clear_errors


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Locks a run directory against a second process; the lock of a killed one is gone."""
    with clear_errors(path):
        # The directory itself: nothing is written, so a full or read-only disk will do.
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DirectoryRefused("is-alive", path) from None
        except OSError:
            pass  # a file system without locks; the target is locked too
        yield
    finally:
        os.close(descriptor)


def clear_unfinished(path: Path, parts: str = TRIALS) -> None:
    """Removes the pieces of unfinished trials (or other parts) and files."""
    trials = path / parts
    with clear_errors(path):
        trials.mkdir(mode=0o700, exist_ok=True)
        for left in (*path.glob(".*.part"), *trials.glob(".*.part"), *trials.glob("output-*")):
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left)
            else:
                left.unlink(missing_ok=True)


def pending_undo(path: Path) -> str:
    """Names the changes of a run that are still to be undone, and the command for it, in one
    line."""
    changes = open_changes(path / JOURNAL)
    if not changes:
        return "nothing is left to undo"
    left = "; ".join(dict.fromkeys(change.what for change in reversed(changes)))
    return f"left to undo: {left}; pgassay recover {quote(str(path))} does it"
