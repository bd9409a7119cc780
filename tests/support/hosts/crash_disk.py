"""A disk whose power can be cut: data that was not synced is lost.

Enters: an empty folder, a kind of file system. Leaves: an image mounted there, whose power can be
cut, and which is unmounted afterwards. Never: mounts over another file system; where mounting is
not allowed the test is skipped.

The file system stops all writing at once (EXT4_IOC_SHUTDOWN; xfs has the same number) without
flushing its journal, as in the kernel's own tests (xfstests, src/godown.c).
"""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.packages import needs
from support.servers.lab import is_root, wait_until

SHUTDOWN = 0x8004587D
"""_IOR('X', 125, __u32)."""
WITHOUT_ITS_JOURNAL = struct.pack("I", 2)
MAKE = {"ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"]}


@dataclass(frozen=True)
class CrashDisk:
    """An image and its mount point."""

    image: Path
    folder: Path

    def mount(self) -> None:
        """Mount it as a host does when it starts: the journal of the file system is replayed."""
        command = ["mount", "-o", "loop", str(self.image), str(self.folder)]
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
        if mounted.returncode:
            pytest.skip(f"mounting is not allowed here: {mounted.stderr.strip()}")

    def lose_power(self) -> None:
        """From now on no write reaches the disk."""
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, WITHOUT_ITS_JOURNAL)
        finally:
            os.close(descriptor)

    def start_again(self) -> None:
        """Mount it again, once no process has a file open there."""
        wait_until(self._unmounted, "no process uses the disk")
        self.mount()

    def _unmounted(self) -> bool:
        done = subprocess.run(["umount", str(self.folder)], capture_output=True, check=False)
        return done.returncode == 0


@contextmanager
def crash_disk(folder: Path, kind: str, size: int = 2**30) -> Iterator[CrashDisk]:
    """An image of so many bytes at most, mounted at a new folder."""
    if not is_root():
        pytest.skip("a disk can only be mounted by root")
    if kind == "xfs":
        needs("xfsprogs")
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
