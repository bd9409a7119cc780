"""Small temporary disks: one in memory, and one that can fail.

Enters: an empty folder. Leaves: a file system mounted there, which can be filled and made
read-only and is unmounted afterwards. Never: hides other files; where mounting is not allowed the
test is skipped.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from support.servers.lab import is_root


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A disk in memory; `size` as mount takes it, such as 200k."""
    _mounted(folder, "-t", "tmpfs", "-o", f"size={size},mode=0711", "pgassay-test")
    try:
        yield folder
    finally:
        _taken_away(folder)


@contextmanager
def bound(source: Path, folder: Path) -> Iterator[None]:
    """A bind mount of an existing folder, at another place or at its own."""
    if not is_root():
        pytest.skip("only root can mount")
    words = ["mount", "--bind", str(source), str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"mounting is not allowed here: {done.stderr.strip()}")
    try:
        yield
    finally:
        _run("umount", "--lazy", folder)


def remount(folder: Path, how: str) -> None:
    """Remount; "ro" fails while a file is open for writing: see `FailingDisk`."""
    _run("mount", "-o", f"remount,{how}", folder)


def fill(path: Path) -> None:
    """One file fills the disk to its last block."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1 << 9):
            with suppress(OSError):
                while file.write(bytes(size)):
                    pass


class FailingDisk:
    """An ext4 file system that becomes read-only while it is used, as after errors of a disk."""

    def __init__(self, image: Path, folder: Path) -> None:
        self.image, self.folder = image, folder

    def fail(self) -> None:
        """Report an error, after which the kernel refuses writes."""
        device = _run("findmnt", "--noheadings", "--output=SOURCE", self.folder).strip()
        Path(f"/sys/fs/ext4/{Path(device).name}/trigger_fs_error").write_text("1")

    def repair(self) -> None:
        """Check and mount it again, as a boot does; no process may use it."""
        _run("umount", self.folder)
        done = subprocess.run(["e2fsck", "-p", self.image], check=False, capture_output=True)
        assert done.returncode in (0, 1), done.stdout
        self.mount()

    def mount(self) -> None:
        _mounted(self.folder, "-o", "loop,errors=remount-ro", str(self.image))


@contextmanager
def failing_disk(folder: Path, size: str) -> Iterator[FailingDisk]:
    """`size` as truncate takes it; its image lies beside the folder."""
    disk = FailingDisk(folder.with_name(f"{folder.name}.img"), folder)
    _run("truncate", f"--size={size}", disk.image)
    try:
        _run("mkfs.ext4", "-q", "-F", disk.image)
        disk.mount()
        try:
            if not Path("/sys/fs/ext4").is_dir():
                pytest.skip("this kernel has no way to make a file system fail")
            folder.chmod(0o711)
            yield disk
        finally:
            _taken_away(folder)
    finally:
        disk.image.unlink()


def _mounted(folder: Path, *words: str) -> None:
    if not is_root():
        pytest.skip("a small disk can only be mounted by root")
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(
        ["mount", *words, str(folder)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip(f"mounting is not allowed here: {mounted.stderr.strip()}")


def _taken_away(folder: Path) -> None:
    """Unmount lazily: open files stay usable."""
    _run("umount", "--lazy", folder)
    folder.rmdir()


def _run(*words: str | Path) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return done.stdout
