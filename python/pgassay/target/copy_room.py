"""Room for the copies of an existing server's data directory, beside it.

Enters: the directory on its host. Leaves: what its copies take and what is free, or a TargetError
where they do not fit. Never: `room_for` writes anything; whether a file system shares blocks is
tried by a run alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgassay.errors import TargetError
from pgassay.target.account import last_line
from pgassay.target.data_place import DataPlace

COPIES = 2
"""Beside the user's directory: the frozen one, and the one the server runs on. Each variant of the
schema takes one more."""
SPARE = 1.05
SHARES_NO_BLOCKS = frozenset({"ext2/ext3", "tmpfs", "ramfs", "f2fs", "jfs", "reiserfs"})
"""As `stat -f` names them (ext2/ext3 is ext4 too). XFS can be made either way, and an overlay does
what lies under it, so what is not here may share blocks."""


@dataclass(frozen=True)
class Room:
    """What copies of a data directory as it is now would take; bytes."""

    folder: str
    """Where they go, with its host."""
    copies: int
    size: int
    """Of the directory, as it lies on disk."""
    free: int
    file_system: str

    @property
    def may_share(self) -> bool:
        """Whether copies may take next to nothing."""
        return self.file_system not in SHARES_NO_BLOCKS

    @property
    def taken(self) -> int:
        """By all of them, where they share nothing."""
        return self.copies * self.size

    @property
    def fits(self) -> bool:
        """Whether whole copies do."""
        return SPARE * self.taken <= self.free

    @property
    def lacking(self) -> str:
        """The words of an error."""
        return (
            f"{self.folder} has {sized(self.free)} free; copies of the data beside it"
            f" ({self.copies}) take {sized(self.taken)}; make room there, or take"
            " reset.level = 'template'"
        )

    def described(self) -> str:
        """For a plan."""
        shared = (
            f" (next to nothing where {self.file_system} shares blocks)" if self.may_share else ""
        )
        return (
            f"{self.copies} copies of the data directory, {sized(self.taken)}{shared} and as many"
            f" of the workload's data; {sized(self.free)} are free in {self.folder}"
        )


def room_for(place: DataPlace, copies: int = COPIES) -> Room:
    """A look at what is there; TargetError where it may not be had."""
    data, folder = place.data, place.data.parent
    # Files of a server at work go while they are counted, of which du complains.
    counted = place.try_run("du", "-s", "--block-size=1", data)
    if not counted.stdout.strip():
        raise TargetError(f"{place.host.label}: {last_line(counted)}")
    size = counted.stdout.split()[0]
    free = place.run("df", "-B1", "--output=avail", folder).stdout.split()[-1]
    kind = place.run("stat", "-f", "-c", "%T", folder).stdout.strip()
    return Room(f"{folder} of {place.host.label}", copies, int(size), int(free), kind)


def refuse_without_room(place: DataPlace, copies: int = COPIES) -> None:
    """TargetError where the file system takes no so many copies of the data as they are now."""
    room = room_for(place, copies)
    if not room.fits and not (room.may_share and place.clones()):
        raise TargetError(room.lacking)


def sized(count: float) -> str:
    """Bytes for people."""
    return f"{count / 2**30:.1f} GB" if count >= 2**30 else f"{count / 2**20:.0f} MB"
