"""Removes copies of runs that nobody has read for a month.

Enters: the folder of all copies. Leaves: those that were read lately. Never: removes one that a
command is bringing up to date, looks more than once a day, or fails.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from pgassay.durable import make_directory

NOTES = ".fetched.json"
"""Beside the files of a copy: which versions they are. Its time is when the copy was last read."""
_DAY_S = 86_400
_KEPT_S = 30 * _DAY_S


def trim(copies: Path) -> None:
    """Remove what was not read for 30 days; it can be fetched again."""
    looked = copies / ".trimmed"
    with suppress(OSError):
        make_directory(copies, parents=True, exist_ok=True)
        if looked.exists() and _age_s(looked.stat()) < _DAY_S:
            return
        looked.touch()
        for folder, below, names in os.walk(copies):
            if NOTES in names:
                below.clear()
                _remove_unread(Path(folder))


def _remove_unread(copy: Path) -> None:
    with suppress(OSError), (copy / NOTES).open("rb") as notes:
        fcntl.flock(notes, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _age_s(os.fstat(notes.fileno())) > _KEPT_S:
            shutil.rmtree(copy, ignore_errors=True)


def _age_s(found: os.stat_result) -> float:
    return time.time() - found.st_mtime
