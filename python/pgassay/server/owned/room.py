"""The disk space that servers of our own take, and that there is.

Enters: the size of data, and how many copies of it there will be. Leaves: a `Room`; sizes for
people. Never: makes or removes anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pgassay.server.hosts.account import Account, server_account
from pgassay.server.owned.workspace import disk_of_workspaces, free_bytes

SPARE = 1.05
SHARES_BLOCKS = frozenset({"xfs", "btrfs", "bcachefs"})
"""File systems, as `stat -f` names them, on which copies may take next to no room."""


@dataclass(frozen=True)
class Room:
    """The disk space that copies of a server take, and that there is, in bytes."""

    folder: Path
    size: int
    copies: int
    free: int
    shares: bool
    """Whether copies on this file system may share blocks."""

    @property
    def needed(self) -> int:
        """Bytes that all copies need; of the first alone where the others share its blocks."""
        return int(SPARE * self.size * (1 if self.shares else self.copies))

    def described(self) -> str:
        """Returns the line of a plan about the disk space."""
        sharing = ", less where the file system shares blocks" if self.shares else ""
        return (
            f"{self.copies} copies of {sized(self.size)}{sharing}, each with the workload's data"
            f" beside it, in {self.folder}, where {sized(self.free)} are free"
        )


def room_for(size: int, copies: int) -> Room:
    """Looks at the disk that servers of pgassay's own are on."""
    folder = disk_of_workspaces(server_account())
    kind = Account("", -1, -1, switches=False).run(["stat", "-f", "-c", "%T", folder], limit_s=20)
    return Room(folder, size, copies, free_bytes(folder), kind.stdout.strip() in SHARES_BLOCKS)


def sized(count: float) -> str:
    """Returns a number of bytes for people, such as `1.5 GB`."""
    return f"{count / 2**30:.1f} GB" if count >= 2**30 else f"{count / 2**20:.0f} MB"
