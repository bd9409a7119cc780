"""All processes of a host at one moment, and what each has used between two moments.

Enters: a host. Leaves: a `ProcessReading` by one command, here or over ssh; times and bytes by
process between two of them. Never: reads the arguments of a program, which are the user's data.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from pgassay.server.hosts.host import Host, text_of
from pgassay.server.hosts.local import HERE
from pgassay.trials.host.disk_names import whole_disks
from pgassay.trials.host.host_reading import LIMIT_S

_PARENT, _USER, _SYSTEM, _WAITED_USER, _WAITED_SYSTEM, _STARTED, _PAGES = 1, 11, 12, 13, 14, 19, 21
"""Fields of /proc/PID/stat after the name."""
_IO = ("read_bytes: ", "write_bytes: ")
_SECTOR = 512


@dataclass(frozen=True)
class Process:
    """One process, with the children that it has waited for."""

    name: str
    """As the kernel calls it, in at most 15 characters, without those that a terminal obeys."""
    parent: int
    started: int
    """In ticks since the host started: it tells a process from another of the same number."""
    user_s: float
    all_s: float
    """User and system time."""
    resident_bytes: int
    io_bytes: int | None
    """Read from disks and written to them; None where our account may not know."""


@dataclass(frozen=True)
class ProcessReading:
    """What one reading of a host's processes returned."""

    processes: Mapping[int, Process]
    reader: int
    """The process that asked: pgassay, or its session over ssh."""
    is_ours: bool
    """Whether pgassay runs under the same kernel, so that it is among these processes."""
    uptime_s: float
    processors_s: Mapping[str, float]
    """Time of all processors since the host started by kind, such as `user` or `idle`."""
    disk_bytes: int | None
    """Read from and written to whole disks; None where the host does not count it."""

    def below(self, roots: Collection[int]) -> set[int]:
        """Returns these processes that are there, with all their descendants."""
        found = set(roots) & self.processes.keys()
        children: dict[int, list[int]] = {}
        for pid, process in self.processes.items():
            children.setdefault(process.parent, []).append(pid)
        open_ = list(found)
        while open_:
            new = [pid for pid in children.get(open_.pop(), ()) if pid not in found]
            found.update(new)
            open_ += new
        return found

    @property
    def own(self) -> set[int]:
        """Returns the processes of pgassay: its own and what it has started."""
        return self.below({self.reader, os.getpid()} if self.is_ours else {self.reader})


@dataclass(frozen=True)
class Grown:
    """What a process has used between two readings, with the children that ended meanwhile."""

    user_s: float
    all_s: float
    io_bytes: int | None


def read_processes(host: Host) -> ProcessReading | None:
    """Reads all processes of a host in one round trip; None where it says nothing of them.

    Raises TargetError where the host cannot be asked.
    """
    said = host.run(["sh", "-c", _script()], limit_s=LIMIT_S).stdout
    try:
        return processes_in(said, is_here=not host.name)
    except (KeyError, ValueError, IndexError):
        return None


def processes_in(said: str, *, is_here: bool) -> ProcessReading:
    """Returns the reading of the script's output. Raises ValueError, KeyError or IndexError where
    it lacks what every Linux says."""
    lines: dict[str, list[str]] = {}
    # Not by splitlines: names of processes may have other characters that it takes for ends.
    for line in said.split("\n"):
        path, colon, rest = line.partition(":")
        if colon:
            lines.setdefault(path, []).append(rest)
    tick_s, page_bytes = 1 / int(lines["ticks"][0]), int(lines["page_bytes"][0])
    kinds = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    counted = lines["cpu"][0].split()[1:]
    processes = {
        int(pid): _process("\n".join(of), lines.get(f"/proc/{pid}/io", ()), tick_s, page_bytes)
        for path, of in lines.items()
        if path.endswith("/stat") and (pid := path.split("/")[2]).isdigit()
    }
    return ProcessReading(
        processes=processes,
        reader=int(lines["reader"][0]),
        is_ours=is_here or lines["boot"][0] == _own_boot(),
        uptime_s=float(lines["uptime"][0].split()[0]),
        processors_s={
            kind: int(ticks) * tick_s for kind, ticks in zip(kinds, counted[:8], strict=True)
        },
        disk_bytes=_disk_bytes(lines.get("/proc/diskstats", ())),
    )


def grown_between(before: ProcessReading, after: ProcessReading) -> dict[int, Grown]:
    """Returns what each process that still lives has used between two readings.

    A child that ended is in its parent's times, as soon as that has waited for it; of these, what
    it had used before the first reading does not count.
    """
    known = {pid: one for pid, one in before.processes.items() if _lives(pid, one, after)}
    ended: dict[int, list[Process]] = {}
    for pid, one in before.processes.items():
        if pid not in known:
            ended.setdefault(one.parent, []).append(one)
    found = {}
    for pid, one in after.processes.items():
        old = [known[pid], *ended.get(pid, ())] if pid in known else []
        found[pid] = Grown(
            user_s=max(0.0, one.user_s - sum(was.user_s for was in old)),
            all_s=max(0.0, one.all_s - sum(was.all_s for was in old)),
            io_bytes=None
            if one.io_bytes is None
            else max(0, one.io_bytes - sum(was.io_bytes or 0 for was in old)),
        )
    return found


def _lives(pid: int, process: Process, after: ProcessReading) -> bool:
    now = after.processes.get(pid)
    return now is not None and now.started == process.started


def _process(stat: str, io: Collection[str], tick_s: float, page_bytes: int) -> Process:
    # A name may have brackets, spaces and, of some kernels, line ends itself.
    before, _, after = stat.rpartition(")")
    fields = after.split()
    user, system, waited_user, waited_system = (
        int(fields[at]) * tick_s for at in (_USER, _SYSTEM, _WAITED_USER, _WAITED_SYSTEM)
    )
    bytes_ = [int(line.removeprefix(name)) for name in _IO for line in io if line.startswith(name)]
    return Process(
        name="".join(one if one.isprintable() else " " for one in before.partition("(")[2]),
        parent=int(fields[_PARENT]),
        started=int(fields[_STARTED]),
        user_s=user + waited_user,
        all_s=user + system + waited_user + waited_system,
        resident_bytes=int(fields[_PAGES]) * page_bytes,
        io_bytes=sum(bytes_) if len(bytes_) == len(_IO) else None,
    )


def _disk_bytes(lines: Collection[str]) -> int | None:
    """By the kernel's iostats.rst: sectors read and written are the fourth and eighth number."""
    disks = {words[2]: words for line in lines if len(words := line.split()) >= 10}
    whole = whole_disks(disks.keys())
    return sum(int(disks[n][at]) for n in whole for at in (5, 9)) * _SECTOR if whole else None


@cache
def _script() -> str:
    return (files(__package__) / "processes.sh").read_text("utf-8")


@cache
def _own_boot() -> str | None:
    return text_of(HERE, Path("/proc/sys/kernel/random/boot_id"))
