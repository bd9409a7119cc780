"""A memory control group for one server: made, limited, read and removed.

Enters: this host, a name, a limit in bytes. Leaves: a group below pgassay's own that a server is
started in, what the kernel counts for it, and no group after `remove`.
Never: moves pgassay itself, enables a controller, or removes a group that has processes.

The kernel charges to the group all memory of its processes, shared buffers included, and every page
of a file that they are the first to touch. It does not charge huge pages of vm.nr_hugepages, and
nothing that another process had brought into the host's page cache before.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pgassay.refusals.refusal import Refusal, SetupRefused, TargetRefused
from pgassay.server.hosts.block_devices import read_mounts
from pgassay.server.hosts.control_groups import MEMORY_LIMIT, memory_groups
from pgassay.server.hosts.host import Host, is_there, text_of
from pgassay.server.hosts.local import HERE
from pgassay.spec.server.placement import memory_text

PREFIX = "pgassay-"
ENTRANCE = "cgroup.procs"
REMOVE_LIMIT_S = 10.0
ENDING_LIMIT_S = 2.0
POLL_S = 0.05
_SWAPPINESS = Path("/proc/sys/vm/swappiness")
_NO_LIMIT = {"": "max", "memory": "-1"}
_BY_SYSTEMD = "run pgassay as root, or by `systemd-run --user --scope pgassay ...`"


@dataclass(frozen=True)
class MemoryUse:
    """The kernel's figures of a control group."""

    limit_bytes: int | None
    """None where there is none."""
    limit_reached: int
    """How often the limit was reached, so that pages had to be freed first."""
    oom_kills: int
    """Processes of the group that the kernel killed because nothing could be freed."""


@dataclass(frozen=True)
class MemoryGroup:
    """The group of one server."""

    path: Path
    controller: str
    """Empty in version 2, which has one tree for all controllers; else `memory`."""
    limit_bytes: int

    @property
    def entrance(self) -> Path:
        """The file through which a process enters."""
        return self.path / ENTRANCE

    def make(self) -> None:
        """Makes the control group, without a limit so far."""
        try:
            self.path.mkdir()
        except OSError as error:
            raise SetupRefused(
                "memory-group-not-made", path=self.path, why=error.strerror
            ) from None

    def limit(self, *, lifted: bool = False) -> None:
        """Puts the limit of the group in force, or lifts it."""
        self.take_swappiness()
        value = _NO_LIMIT[self.controller] if lifted else str(self.limit_bytes)
        self._write(MEMORY_LIMIT[self.controller], value)

    def take_swappiness(self) -> None:
        """Gives the group the host's swappiness: version 1 keeps one for each group."""
        if self.controller:
            self._write("memory.swappiness", text_of(HERE, _SWAPPINESS) or "60")

    def confirmed(self, tasks: Collection[int]) -> dict[str, str]:
        """Returns limit and group, read back; raises TargetError where one of these processes is in
        another group."""
        for task in tasks:
            if self._lacks(task):
                raise TargetRefused("memory-group-left", task=task, path=self.path)
        limit = self.use().limit_bytes
        page = os.sysconf("SC_PAGESIZE")
        if limit != self.limit_bytes // page * page:
            found = "no limit" if limit is None else memory_text(limit)
            raise TargetRefused(
                "memory-limit-not-taken",
                asked=memory_text(self.limit_bytes),
                path=self.path,
                found=found,
            )
        return {"memory": memory_text(self.limit_bytes), "memory_group": str(self.path)}

    def _lacks(self, task: int) -> bool:
        """Whether a process is elsewhere to stay; one that ends is, until it is gone."""
        deadline = time.monotonic() + ENDING_LIMIT_S
        while True:
            groups = text_of(HERE, Path(f"/proc/{task}/cgroup"))
            if groups is None or f"/{self.path.name}" in groups:
                return False
            if time.monotonic() > deadline:
                return True
            time.sleep(POLL_S)

    def use(self) -> MemoryUse:
        """Reads what the kernel counts now."""
        limit = self._read(MEMORY_LIMIT[self.controller])
        known = limit.isdigit() and int(limit) < 2**62  # version 1 writes none as a huge number
        events = _pairs(self._read("memory.oom_control" if self.controller else "memory.events"))
        if self.controller:
            events["max"] = self._read("memory.failcnt")
        return MemoryUse(
            limit_bytes=int(limit) if known else None,
            limit_reached=int(events.get("max", "0")),
            oom_kills=int(events.get("oom_kill", "0")),
        )

    def _read(self, name: str) -> str:
        try:
            return HERE.read(self.path / name).decode().strip()
        except OSError as error:
            raise TargetRefused(
                "memory-group-unreadable", file=self.path / name, why=error.strerror
            ) from None

    def _write(self, name: str, value: str) -> None:
        try:
            HERE.write(self.path / name, value)
        except OSError as error:
            is_used = error.errno == errno.EBUSY
            code = "memory-limit-exceeded-already" if is_used else "memory-limit-refused"
            raise TargetRefused(
                code, value=value, file=self.path / name, why=error.strerror
            ) from None


def group_named(name: str, limit_bytes: int) -> MemoryGroup:
    """The group that a server of that name gets; not made yet."""
    parent, controller = parent_group()
    return MemoryGroup(parent / f"{PREFIX}{name}", controller, limit_bytes)


def parent_group(host: Host = HERE) -> tuple[Path, str]:
    """Returns the group that others can be made in, and its controller; raises Refusal.

    It is pgassay's own or, where that cannot have any, the nearest above it: in version 2 a group
    with processes gives its children no controllers.
    """
    seen: list[Path] = []
    for controller, groups in memory_groups(host, os.getpid(), read_mounts(host)):
        fitting = [one for one in groups if controller or _gives_memory(host, one)]
        for group in fitting:
            if _may_make_in(host, group):
                return group, controller
        seen += fitting or groups
        if fitting:
            raise Refusal("memory-group-not-writable", group=fitting[0])
    roots = [one for one in seen if "memory" in (text_of(host, one / "cgroup.controllers") or "")]
    if not roots:
        raise Refusal("memory-groups-missing")
    # Only the kernel's root may have processes beside groups with controllers, and it has no type.
    control = roots[-1] / "cgroup.subtree_control"
    if is_there(host, roots[-1] / "cgroup.type"):
        raise Refusal("memory-controller-not-given-in-a-container", control=control)
    raise Refusal("memory-controller-not-given", control=control)


def is_group_of(path: Path, name: str) -> bool:
    """Whether a path is that of the group that a server of that name gets."""
    points = [one.point for one in read_mounts(HERE) if one.kind in ("cgroup", "cgroup2")]
    below = ".." not in path.parts and any(path.is_relative_to(point) for point in points)
    return below and path.name == f"{PREFIX}{name}"


def remove_group(path: Path) -> None:
    """Remove a group whose processes have ended; one that is gone is fine."""
    end = time.monotonic() + REMOVE_LIMIT_S
    while True:
        try:
            path.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError as error:
            # A process that was just killed leaves its group a moment later.
            if error.errno != errno.EBUSY or time.monotonic() > end:
                raise TargetRefused(
                    "memory-group-left-over", path=path, why=error.strerror
                ) from None
        time.sleep(POLL_S)


def _gives_memory(host: Host, group: Path) -> bool:
    return "memory" in (text_of(host, group / "cgroup.subtree_control") or "").split()


def _may_make_in(host: Host, group: Path) -> bool:
    try:
        host.check_writable(group / ENTRANCE)  # who enters a group below needs it too
    except OSError:
        return False
    return os.access(group, os.W_OK | os.X_OK)


def _pairs(text: str) -> dict[str, str]:
    """Lines of a name and a number."""
    found = (line.split() for line in text.splitlines())
    return {words[0]: words[1] for words in found if len(words) == 2}
