"""The control group of a server: the files of its limits and its use, the memory it may have.

Enters: a host, a process of the server. Leaves: files for the sampler, of version 1 or 2; bytes of
memory, which are the host's, or fewer where a group has a limit; None where the host does not say.
Never: fails, or takes the whole host for a group; a server in the root group has no files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pgassay.server.hosts.block_devices import Mount, read_mounts
from pgassay.server.hosts.host import Host, is_there, text_of

SOURCE = "cgroup"
MEMORY_LIMIT = {"": "memory.max", "memory": "memory.limit_in_bytes"}
"""Controller → the file; version 2 has one tree for all."""
_VERSION_2 = (
    ("cpu.stat", "cpu", "pairs"),
    ("memory.current", "memory.current", "number"),
    ("memory.max", "memory.max", "number"),
    ("memory.swap.current", "memory.swap.current", "number"),
    ("memory.events", "memory.events", "pairs"),
    ("memory.stat", "memory.stat", "pairs"),
    ("io.stat", "io", "cgroup_io"),
)
_VERSION_1 = {
    "cpu": (("cpu.stat", "cpu", "pairs"),),
    "cpuacct": (("cpuacct.usage", "cpuacct.usage", "number"),),
    "memory": (
        ("memory.usage_in_bytes", "memory.usage_in_bytes", "number"),
        ("memory.limit_in_bytes", "memory.limit_in_bytes", "number"),
        ("memory.failcnt", "memory.failcnt", "number"),
        ("memory.oom_control", "memory.oom_control", "pairs"),
        ("memory.stat", "memory.stat", "pairs"),
    ),
    # By device, under version 2's names. Newer kernels count only where a limit is set.
    "blkio": (
        ("blkio.throttle.io_service_bytes", "io", "cgroup_bytes"),
        ("blkio.throttle.io_serviced", "io", "cgroup_operations"),
    ),
}


_BEYOND_ALL = 2**62


def control_group_files(host: Host, pid: int, mounts: Sequence[Mount]) -> list[dict[str, str]]:
    """The files of a process's groups that can be read, as the sampler's `files`."""
    found = []
    for controller, mount, directory in _groups(host, pid, mounts):
        files = _VERSION_1.get(controller, ()) if controller else _VERSION_2
        for name, label, form in files:
            path = directory / name
            if not is_there(host, path) or _is_whole_host(host, mount, directory):
                continue
            if name not in MEMORY_LIMIT.values() or _limits(text_of(host, path)):
                found.append({"path": str(path), "source": SOURCE, "object": label, "format": form})
    return found


def _limits(text: str | None) -> bool:
    """Whether the text of a limit is one: version 2 says "max" where there is none, version 1 a
    number beyond all memory."""
    return text is not None and text.strip().isdigit() and int(text) < _BEYOND_ALL


def memory_limit_files(host: Host, pid: int, mounts: Sequence[Mount]) -> Iterator[Path]:
    """The limit of each group that a process is in, up to the mount: the tightest holds."""
    for controller, groups in memory_groups(host, pid, mounts):
        yield from (one / MEMORY_LIMIT[controller] for one in groups)


def memory_groups(
    host: Host, pid: int, mounts: Sequence[Mount]
) -> Iterator[tuple[str, list[Path]]]:
    """Yields, with its controller (none in version 2), a process's control group and those above
    it, up to the mount."""
    for controller, mount, directory in _groups(host, pid, mounts):
        if controller in MEMORY_LIMIT:
            above = [one for one in directory.parents if one.is_relative_to(mount.point)]
            yield controller, [directory, *above]


def parse_groups(text: str) -> Iterator[tuple[str, str]]:
    """Yields the controllers of each tree (none in version 2) and the group in it, from the text of
    /proc/PID/cgroup."""
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        yield controllers, group


def _groups(host: Host, pid: int, mounts: Sequence[Mount]) -> Iterator[tuple[str, Mount, Path]]:
    """Controller (none in version 2), where its tree is mounted, the process's place in it."""
    for controllers, group in parse_groups(text_of(host, Path(f"/proc/{pid}/cgroup")) or ""):
        for controller in controllers.split(","):
            trees = [
                m
                for m in mounts
                if (
                    m.kind == "cgroup" and controller in m.super_options.split(",")
                    if controller
                    else m.kind == "cgroup2"
                )
            ]
            yield from ((controller, mount, _inside(host, mount, group)) for mount in trees[-1:])


def _is_whole_host(host: Host, mount: Mount, directory: Path) -> bool:
    """Whether a group is the kernel's root, whose figures are the host's and not the server's.

    Its name does not tell: a container sees its own group as /. What only the root has, or lacks,
    does (cgroup-v2.rst, cgroup.type; cgroup-v1/cgroups.rst, release_agent).
    """
    if mount.kind == "cgroup2":
        return not is_there(host, directory / "cgroup.type")
    return is_there(host, directory / "release_agent")


def _inside(host: Host, mount: Mount, group: str) -> Path:
    """A group's directory; in a container its own group may be the mount itself."""
    inside = mount.point / group.lstrip("/")
    return inside if is_there(host, inside) else mount.point


def memory_of(host: Host, pid: int) -> int | None:
    """Returns the host's memory in bytes, or the tightest limit of the process's control groups;
    None where the host does not say."""
    match = re.search(r"MemTotal:\s*(\d+) kB", text_of(host, Path("/proc/meminfo")) or "")
    if match is None:
        return None
    limits = (text_of(host, path) for path in memory_limit_files(host, pid, read_mounts(host)))
    # Version 2 says "max" where there is none; version 1 a number beyond all memory.
    limits_b = [int(text) for text in limits if text is not None and text.strip().isdigit()]
    return min([int(match[1]) * 1024, *limits_b])
