"""A disk of a known small size, for as long as a test lasts.

Enters: an empty folder. Leaves: a file system in memory mounted there; afterwards none.
Never: mounts over anything; where mounting is not allowed the test is skipped with a word.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.servers import is_root


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """`size` as mount takes it, such as 200k."""
    if not is_root():
        pytest.skip("a small disk can only be mounted by root")
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0711", "pgassay-test", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"mounting is not allowed here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
