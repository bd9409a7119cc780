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

from pgassay.errors import RunDirectoryError, StorageFull

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_whole(path: Path, content: bytes) -> None:
    """Write `content` so that readers see the old file or the new one, also after a power cut."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    with clear_errors(path):
        try:
            descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
            sync_directory(path.parent)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise


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
