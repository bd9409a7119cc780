"""Where the files of tests lie: in memory, where there is room.

Leaves: a folder. Never: makes one.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import psutil

ON_DISK = Path("/var/tmp")  # noqa: S108 (nothing is written, but in a folder of its own)
"""A folder on a disk, wherever temporary files of the tests lie."""
ENOUGH_BYTES = 10 * 2**30
"""Eight servers and their copies take two or three, the processes of the tests four."""


def memory_folder() -> Path | None:
    """A file system in memory with room for servers and runs; None where there is none.

    Tests copy servers and sync runs, but measure no speed: on a disk that takes most of their time.
    """
    memory = Path("/dev/shm")  # noqa: S108 (whoever uses it makes a folder of its own)
    if not os.access(memory, os.W_OK):
        return None
    # Such a file system may be larger than the memory that is left.
    free = min(shutil.disk_usage(memory).free, psutil.virtual_memory().available)
    return memory if free >= ENOUGH_BYTES else None
