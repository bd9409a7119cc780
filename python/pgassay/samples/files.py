"""Files that appear whole or not at all.

Enters: bytes and a path. Leaves: a file, written aside, synced and renamed.
Never: leaves a half-written file, shows a file to other users.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgassay.errors import RunDirectoryError, StorageFull, TrialError

OWNER_ONLY = 0o600
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_whole(path: Path, content: bytes) -> None:
    """Write `content` so that readers see the old file or the new one, also after a power cut."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    with clear_errors(path):
        try:
            descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY)
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(descriptor, OWNER_ONLY)  # whatever the umask, and whoever left it there
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
            sync_directory(path.parent)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise


def make_directory(path: Path, *, parents: bool = False, exist_ok: bool = False) -> None:
    """A directory of its owner's, whatever the umask; one that was there keeps its mode."""
    if not (exist_ok and path.is_dir()):
        path.mkdir(mode=0o700, parents=parents)
        path.chmod(0o700)


def sync_directory(path: Path) -> None:
    """Make the names in a directory survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """Turn the operating system's errors into one line that names the fix."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StorageFull(
                f"{path}: the disk is full; free some space or put the run elsewhere with --out;"
                " finished trials are kept"
            ) from error
        raise RunDirectoryError(f"{path}: cannot be written: {error.strerror}") from error


@contextmanager
def lost_storage_is_a_trial_error() -> Iterator[None]:
    """While trials run, a directory that can no longer be used ends them, not the set-up."""
    try:
        yield
    except RunDirectoryError as error:
        raise TrialError(f"{error}; finished trials are kept") from error
