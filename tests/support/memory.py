"""Where the files of tests lie: in memory, where there is room.

Leaves: a folder. Never: makes one.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ENOUGH_BYTES = 4 * 2**30
"""Eight servers and their copies take one or two."""


def memory_folder() -> Path | None:
    """A file system in memory with room for servers and runs; None where there is none.

    Tests copy servers and sync runs, but measure no speed: on a disk that takes most of their time.
    """
    memory = Path("/dev/shm")  # noqa: S108 (whoever uses it makes a folder of its own)
    if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= ENOUGH_BYTES:
        return memory
    return None
