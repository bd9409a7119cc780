"""A disk with a limit on bytes written per second, as cloud volumes have.

Enters: a folder on the disk, a rate, processes (this one where none is named). Leaves: while the
context lasts, these processes and those that they start write no faster.
Never: needs more than root and a kernel with the blkio controller of cgroup version 1.

The kernel charges a write to the process that asks for it: with fsync that is the checkpointer or
the session that commits, so both wait in one queue. What the kernel writes back by itself is not
limited.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup/blkio")
_LIMIT = "blkio.throttle.write_bps_device"


def can_be_slowed(folder: Path) -> bool:
    """Whether this process may limit the disk of a folder."""
    return os.access(_ROOT / _LIMIT, os.W_OK) and _disk_of(folder) is not None


@contextmanager
def slow_disk(folder: Path, bytes_per_s: int, pids: Sequence[int] = ()) -> Iterator[None]:
    """The processes in a group of their own with that limit; afterwards in that of this process."""
    group = _ROOT / f"slow-disk-{os.getpid()}"
    before = _group_of_this_process()
    group.mkdir()
    try:
        (group / _LIMIT).write_text(f"{_disk_of(folder)} {bytes_per_s}\n", "ascii")
        _enter(group, pids)
        yield
    finally:
        for left in (group / "cgroup.procs").read_text("ascii").split():
            _enter(before, [int(left)])
        group.rmdir()


def _enter(group: Path, pids: Sequence[int]) -> None:
    for pid in pids or [os.getpid()]:
        with suppress(ProcessLookupError):  # a session that has just ended
            (group / "cgroup.procs").write_text(str(pid), "ascii")


def _group_of_this_process() -> Path:
    for line in Path("/proc/self/cgroup").read_text("ascii").splitlines():
        _, controllers, path = line.split(":", 2)
        if "blkio" in controllers.split(","):
            return _ROOT / path.strip("/")
    return _ROOT


def _disk_of(folder: Path) -> str | None:
    """MAJOR:MINOR of the disk; limits are on whole disks, not on partitions."""
    number = folder.stat().st_dev
    device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not device.exists():
        return None
    if (device / "partition").exists():
        return (device.resolve().parent / "dev").read_text("ascii").strip()
    return f"{os.major(number)}:{os.minor(number)}"
