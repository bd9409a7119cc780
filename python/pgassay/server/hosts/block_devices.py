"""Block devices below a path: through mounts, partitions, LVM and software RAID.

Enters: a host's mount table and sysfs tree. Leaves: a `Storage` for a path. Never: raises for what
it cannot follow; that is its `reason`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pgassay.server.hosts.host import Host, is_there, text_of

_SYS = Path("/sys")
_ESCAPED = re.compile(r"\\([0-7]{3})")
_DEEPEST = 16
"""Layers of devices below each other; past this a tree is taken for a loop."""
_QUEUE = ("scheduler", "read_ahead_kb", "rotational", "nr_requests", "write_cache")
_SECTOR = 512
_WITHOUT_DEVICES = {
    "tmpfs": "is in memory",
    "ramfs": "is in memory",
    "nfs": "is reached over the network",
    "nfs4": "is reached over the network",
    "cifs": "is reached over the network",
    "zfs": "has a pool, whose disks the kernel does not name",
}


@dataclass(frozen=True)
class Mount:
    """One mounted file system, as a line of /proc/self/mountinfo describes it."""

    number: str
    """MAJOR:MINOR."""
    point: Path
    options: str
    kind: str
    source: str
    super_options: str


@dataclass(frozen=True)
class Storage:
    """The file system that a path is on, and the block devices below it."""

    path: str
    mount: str = ""
    file_system: str = ""
    options: str = ""
    devices: tuple[str, ...] = ()
    """As /proc/diskstats names them: what is mounted first, what it is made of behind it."""
    disks: tuple[str, ...] = ()
    """Those of them that are made of no other."""
    reason: str = field(default="")
    """Why there are no devices; empty where there are."""


def storage_of(path: Path, host: Host, mounts: Sequence[Mount], sys: Path = _SYS) -> Storage:
    """Returns the file system and the devices below a path; links are followed."""
    try:
        real = host.resolve(path)
    except OSError as error:
        return Storage(str(path), reason=f"cannot be seen ({error.strerror})")
    mount = mount_of(real, mounts)
    if mount is None:
        return Storage(str(path), reason="is in no mount that this process can see")
    node = _node(mount, host, mounts, sys)
    chain = () if node is None else tuple(dict.fromkeys(_chain(node, host)))
    reason = ""
    if not chain:
        reason = f"{mount.kind} {_WITHOUT_DEVICES.get(mount.kind, 'names no block device')}"
    return Storage(
        path=str(path),
        mount=str(mount.point),
        file_system=mount.kind,
        options=mount.options,
        devices=tuple(name for name, _ in chain),
        disks=tuple(name for name, is_disk in chain if is_disk),
        reason=reason,
    )


def read_mounts(host: Host, pid: int | str = "self") -> tuple[Mount, ...]:
    """The mount table of a host, as one of its processes sees it; empty where it cannot be read."""
    return parse_mounts(text_of(host, Path(f"/proc/{pid}/mountinfo")) or "")


def parse_mounts(text: str) -> tuple[Mount, ...]:
    """Returns the mounts in the text of mountinfo (proc(5)); lines that are not as they should be
    are left out."""
    found = []
    for line in text.splitlines():
        before, dash, after = line.partition(" - ")
        own, rest = before.split(" "), after.split(" ", 2)
        if dash and len(own) >= 6 and len(rest) == 3:
            found.append(
                Mount(own[2], Path(_plain(own[4])), own[5], rest[0], _plain(rest[1]), rest[2])
            )
    return tuple(found)


def mount_of(path: Path, mounts: Sequence[Mount]) -> Mount | None:
    """The deepest mount above a path; of several on one point the last, which hides the others."""
    above = [m for m in mounts if m.point == path or m.point in path.parents]
    deepest = max((len(m.point.parts) for m in above), default=0)
    return next((m for m in reversed(above) if len(m.point.parts) == deepest), None)


def describe_device(name: str, host: Host, sys: Path = _SYS) -> dict[str, str | int]:
    """Returns what the kernel says of one device: its size and how its queue is set."""
    try:
        node = host.resolve(sys / "class" / "block" / name.replace("/", "!"))
    except OSError:
        return {}
    # A partition has the queue of its disk.
    queue = (node.parent if is_there(host, node / "partition") else node) / "queue"
    found: dict[str, str | int] = {}
    found |= {key: text for key in _QUEUE if (text := text_of(host, queue / key))}
    sectors = text_of(host, node / "size")
    if sectors is not None and sectors.isdigit():
        found["size_bytes"] = int(sectors) * _SECTOR
    model = text_of(host, node / "device" / "model")
    return found | ({"model": model} if model else {})


def _node(mount: Mount, host: Host, mounts: Sequence[Mount], sys: Path) -> Path | None:
    """The sysfs directory of what is mounted."""
    places = [sys / "dev" / "block" / mount.number]
    # btrfs and others count devices of their own, yet name a real one.
    if mount.source.startswith("/dev/"):
        try:
            real = host.resolve(Path(mount.source)).name
        except OSError:
            real = Path(mount.source).name
        places.append(sys / "class" / "block" / real)
    for place in places:
        try:
            return host.resolve(place)
        except OSError:
            continue
    upper = re.search(r"(?:^|,)upperdir=([^,]+)", mount.super_options)
    if mount.kind == "overlay" and upper is not None:
        below = mount_of(Path(upper[1]), [m for m in mounts if m.kind != "overlay"])
        return None if below is None else _node(below, host, (), sys)
    return None


def _chain(node: Path, host: Host, depth: int = 0) -> Iterator[tuple[str, bool]]:
    """A device and the devices it is made of, each with whether it is a disk."""
    below = [node.parent] if is_there(host, node / "partition") else []
    slaves = node / "slaves"
    if is_there(host, slaves):
        for name in sorted(host.names(slaves)):
            try:
                below.append(host.resolve(slaves / name))
            except OSError:
                continue
    yield node.name.replace("!", "/"), not below
    if depth < _DEEPEST:
        for lower in below:
            yield from _chain(lower, host, depth + 1)


def _plain(text: str) -> str:
    """mountinfo writes spaces and some others as octal numbers."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), text)
