"""Directories that a server reports, accepted only where they are the server's own.

Enters: the path that a server reports, the account that its process runs under. Leaves: an absolute
path of a directory that belongs to that account, or nothing. Never: opens anything.
"""

from __future__ import annotations

import stat
from pathlib import Path


def account_of(pid: int) -> int | None:
    """The user id a process of this machine runs under."""
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None


def own_directory(reported: str | None, owner: int | None) -> Path | None:
    """A directory the server reports, if it is here and the server's."""
    if owner is None or not reported or not reported.startswith("/") or not reported.isprintable():
        return None
    try:
        path = Path(reported).resolve(strict=True)
        found = path.stat()
    except (OSError, RuntimeError):  # absent, out of reach, a loop of links
        return None
    return path if stat.S_ISDIR(found.st_mode) and found.st_uid == owner else None
