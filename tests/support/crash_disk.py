"""A disk that loses power: what was not synced is gone, as it would be.

Enters: an empty folder, a kind of file system. Leaves: an image mounted there, whose power can be
cut; afterwards none. Never: mounts over anything; where mounting is not allowed the test is skipped
with a word.

The file system is told to stop all writing at once (EXT4_IOC_SHUTDOWN, of xfs the same number),
its own journal not flushed: how the kernel's people test the same (xfstests, src/godown.c).
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.servers import is_root, wait_until

SHUTDOWN = 0x8004587D
"""_IOR('X', 125, __u32)."""
WITHOUT_ITS_JOURNAL = struct.pack("I", 2)
MAKE = {"ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"]}


@dataclass(frozen=True)
class CrashDisk:
    """One image and where it is mounted."""

    image: Path
    folder: Path

    def mount(self) -> None:
        """As the host does at its start: the file system's journal is played again."""
        command = ["mount", "-o", "loop", str(self.image), str(self.folder)]
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
        if mounted.returncode:
            pytest.skip(f"mounting is not allowed here: {mounted.stderr.strip()}")

    def lose_power(self) -> None:
        """From here on nothing reaches the disk."""
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, WITHOUT_ITS_JOURNAL)
        finally:
            os.close(descriptor)

    def start_again(self) -> None:
        """Mounted anew, once nobody is left who has files of it open."""
        wait_until(self._unmounted, "a disk that nobody uses")
        self.mount()

    def _unmounted(self) -> bool:
        done = subprocess.run(["umount", str(self.folder)], capture_output=True, check=False)
        return done.returncode == 0


@contextmanager
def crash_disk(folder: Path, kind: str, size: int = 2**30) -> Iterator[CrashDisk]:
    """An image of so many bytes at most, mounted at a new folder."""
    if not is_root():
        pytest.skip("a disk can only be mounted by root")
    if shutil.which(MAKE[kind][0]) is None:
        pytest.skip(f"{MAKE[kind][0]} is not installed")
    folder.mkdir(mode=0o711)
    image = folder.with_name(f"{folder.name}.img")
    image.touch()
    os.truncate(image, size)
    subprocess.run([*MAKE[kind], str(image)], check=True, capture_output=True)
    disk = CrashDisk(image, folder)
    disk.mount()
    try:
        folder.chmod(0o711)
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()
        image.unlink()
