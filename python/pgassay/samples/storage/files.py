"""Errors of the disk that holds a run, as messages that name the fix.

Enters: what is to be written. Leaves: it on disk (`durable.py`), or one line that names the fix.
Never: leaves a half-written file, shows a file to other users.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pgassay import durable
from pgassay.errors import RunDirectoryError
from pgassay.refusals.refusal import DirectoryRefused, TrialRefused

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_atomically(path: Path, content: bytes) -> None:
    """Writes `content` so that readers see the old file or the new one, also after a power cut."""
    with clear_errors(path):
        durable.write_atomically(path, content)


def append_line(path: Path, entry: Mapping[str, object]) -> None:
    """Adds one JSON object as a line of its own, on disk when this returns."""
    # A line cut short by a crash or a full disk must not swallow this one, so each begins afresh.
    line = "\n" + json.dumps(entry, ensure_ascii=False) + "\n"
    with clear_errors(path):
        new = not path.exists()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, durable.OWNER_ONLY)
        try:
            os.fchmod(descriptor, durable.OWNER_ONLY)
            # A file's name may be no UTF-8; JSON reads what stands for its bytes back.
            rest = line.encode("utf-8", "backslashreplace")
            while rest:  # a disk that is nearly full takes a part and complains the next time
                rest = rest[os.write(descriptor, rest) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if new:  # its first line would go with its name
            durable.sync_directory(path.parent)


def refuse_filled(path: Path) -> None:
    """Refuses a directory that holds anything, and what is no directory."""
    with clear_errors(path):
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise DirectoryRefused("already-exists", path)


def make_empty(path: Path) -> None:
    """Makes a new directory, or takes an empty one; refuses one that holds anything."""
    refuse_filled(path)
    with clear_errors(path):
        durable.make_directory(path, parents=True, exist_ok=True)


@contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """Turns the operating system's errors into one line that names the fix."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise TrialRefused("no-room-for-the-run", str(path)) from error
        raise DirectoryRefused("cannot-be-written", path, why=error.strerror) from error


@contextmanager
def lost_storage_is_a_trial_error() -> Iterator[None]:
    """Raises a TrialError, not one of the set-up, where a directory can no longer be used."""
    try:
        yield
    except RunDirectoryError as error:
        raise TrialRefused("run-directory-lost", why=error) from error
