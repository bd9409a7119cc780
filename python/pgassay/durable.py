"""Files and directories that survive a power failure.

Enters: paths and bytes. Leaves: files that are the old version or the new one, never a part of it;
directory entries that are on disk. Never: explains an error; the caller knows what it means.

A file's name is on disk when its directory is synced, not when the file is (fsync(2)).
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

OWNER_ONLY = 0o600


def write_atomically(path: Path, content: bytes) -> None:
    """Writes to a temporary file, syncs it, renames it and syncs its directory.

    The file is readable by its owner alone, whatever the umask. Raises OSError and then leaves no
    temporary file; temporary files of killed writers are removed too.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(aside, flags, OWNER_ONLY)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, OWNER_ONLY)  # a killed writer may have left it with another mode
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        aside.replace(path)
        sync_directory(path.parent)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    remove_partial_files(path)


def remove_partial_files(path: Path) -> None:
    """Removes the temporary files that killed writers of `path` left beside it.

    Those of a running process stay, and those that cannot be removed.
    """
    ours = re.compile(rf"\.{re.escape(path.name)}\.(\d+)\.part")
    with suppress(OSError):
        for entry in path.parent.iterdir():
            half = ours.fullmatch(entry.name)
            if half is not None and not _lives(int(half[1])):
                entry.unlink(missing_ok=True)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def make_directory(path: Path, *, parents: bool = False, exist_ok: bool = False) -> None:
    """Makes a directory for its owner alone, whatever the umask, and syncs its name to disk.

    A directory that exists keeps its mode. Raises OSError.
    """
    if exist_ok and path.is_dir():
        return
    if parents and not path.parent.exists():
        make_directory(path.parent, parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        # Two processes made the same one at once: both may use it.
        if not (exist_ok and path.is_dir()):
            raise
        return
    path.chmod(0o700)
    # A directory may be writable without being readable.
    with suppress(PermissionError):
        sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Syncs the names in a directory to disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
