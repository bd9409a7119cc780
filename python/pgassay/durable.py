"""Files and directories that outlast a power cut.

Enters: paths and bytes. Leaves: a file that is the old one or the new one, never a part; names that
are on disk. Never: explains an error; whoever asked knows what it means to the user.

A name is on disk when its directory is synced, not when its file is (fsync(2)).
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

OWNER_ONLY = 0o600


def write_whole(path: Path, content: bytes) -> None:
    """Written aside, synced, renamed, and the name synced; its owner's alone, whatever the umask.

    Raises OSError, and leaves nothing aside then; nor what a write of it that was killed has left.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(aside, flags, OWNER_ONLY)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, OWNER_ONLY)  # whoever left it there
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        aside.replace(path)
        sync_directory(path.parent)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    clear_aside(path)


def clear_aside(path: Path) -> None:
    """Remove what writes of a file that were killed have left beside it; that of a process that
    lives stays, and so does what cannot be removed."""
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
    """A directory of its owner's, whatever the umask, and its name on disk; one that was there
    keeps its mode. Raises OSError."""
    if exist_ok and path.is_dir():
        return
    if parents and not path.parent.exists():
        make_directory(path.parent, parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        # Two at once make the same one: both have it.
        if not (exist_ok and path.is_dir()):
            raise
        return
    path.chmod(0o700)
    # One may make a directory where one may not read.
    with suppress(PermissionError):
        sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make the names in a directory survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
