"""Paths that a server reports, believed only where they are the server's own.

Enters: paths that a server reports, the account that its process runs under. Leaves: an absolute
path of a file that belongs to that account, or nothing. Never: opens another user's file, a device
or a pipe because a server named it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path


def account_of(pid: int) -> int | None:
    """The user id a process of this machine runs under."""
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None


def own_directory(reported: str | None, owner: int | None) -> Path | None:
    """A directory the server reports, if it is here and the server's."""
    return _own(reported, owner, stat.S_ISDIR)


def own_readable_file(reported: str | None, beside: Path | None, owner: int | None) -> Path | None:
    """A file the server reports, perhaps relative to its data directory, that we may read."""
    if reported and beside is not None and not reported.startswith("/"):
        reported = str(beside / reported)
    path = _own(reported, owner, stat.S_ISREG)
    return path if path is not None and os.access(path, os.R_OK) else None


def _own(reported: str | None, owner: int | None, kind: Callable[[int], bool]) -> Path | None:
    if owner is None or not reported or not reported.startswith("/") or not reported.isprintable():
        return None
    try:
        path = Path(reported).resolve(strict=True)
        found = path.stat()
    except (OSError, RuntimeError):  # absent, out of reach, a loop of links
        return None
    return path if kind(found.st_mode) and found.st_uid == owner else None
