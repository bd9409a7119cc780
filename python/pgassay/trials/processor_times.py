"""Who had the host's processors: the server, pgassay, others, or the hypervisor.

Enters: /proc, the postmaster's process id. Leaves: processor times, and their split between two
moments. Never: fails where /proc tells nothing; there is no split then.

Others are told by user time alone: what the kernel does for the server (writing back, interrupts)
is nobody's process, and would be taken for theirs.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_PARENT, _USER, _SYSTEM, _WAITED_USER, _WAITED_SYSTEM = 1, 11, 12, 13, 14
"""Fields of /proc/PID/stat after the name."""


@dataclass(frozen=True)
class ProcessorTimes:
    """Seconds since the host started."""

    all_s: float
    """Of all processors, idle ones too."""
    busy_s: float
    user_s: float
    steal_s: float
    server_s: float
    server_user_s: float
    client_s: float
    client_user_s: float


@dataclass(frozen=True)
class ProcessorSplit:
    """What became of the processors' time between two moments, in seconds."""

    all_s: float
    busy_s: float
    server_s: float
    client_s: float
    """pgassay itself, samplers included, and the programs it ran."""
    foreign_user_s: float
    steal_s: float


def processor_times(postmaster: int | None) -> ProcessorTimes | None:
    """All times now; None where a server elsewhere, or a sparse /proc, has none."""
    if postmaster is None:
        return None
    try:
        words = (_PROC / "stat").read_text("utf-8").splitlines()[0].split()[1:9]
        user, nice, system, idle, iowait, irq, softirq, steal = (int(w) * _TICK_S for w in words)
        server_user, server = _tree(postmaster)
        client_user, client = _own(os.getpid())
    except (OSError, ValueError, IndexError):
        return None
    busy = user + nice + system + irq + softirq
    return ProcessorTimes(
        all_s=busy + idle + iowait + steal,
        busy_s=busy,
        user_s=user + nice,
        steal_s=steal,
        server_s=server,
        server_user_s=server_user,
        client_s=client,
        client_user_s=client_user,
    )


def split_between(
    before: ProcessorTimes | None, after: ProcessorTimes | None
) -> ProcessorSplit | None:
    """The split; None where either look had nothing, or the server's processes were replaced."""
    if before is None or after is None or after.server_s < before.server_s:
        return None
    ours = after.server_user_s - before.server_user_s + after.client_user_s - before.client_user_s
    return ProcessorSplit(
        all_s=after.all_s - before.all_s,
        busy_s=after.busy_s - before.busy_s,
        server_s=after.server_s - before.server_s,
        client_s=after.client_s - before.client_s,
        foreign_user_s=max(0.0, after.user_s - before.user_s - ours),
        steal_s=after.steal_s - before.steal_s,
    )


def parent_of(pid: int) -> int | None:
    """The parent of a process; that of a backend is its postmaster."""
    try:
        return int(_fields(pid)[_PARENT])
    except (OSError, ValueError, IndexError):
        return None


def _tree(pid: int) -> tuple[float, float]:
    """(user, all) of a server: its postmaster, its ended processes, those that live."""
    user, total = _own(pid)
    children = (_PROC / str(pid) / "task" / str(pid) / "children").read_text("utf-8").split()
    for child in children:
        try:
            fields = _fields(int(child))
        except OSError:
            continue  # it has ended meanwhile
        user += int(fields[_USER]) * _TICK_S
        total += (int(fields[_USER]) + int(fields[_SYSTEM])) * _TICK_S
    return user, total


def _own(pid: int) -> tuple[float, float]:
    """(user, all) of a process and the children it has waited for."""
    fields = _fields(pid)
    user = int(fields[_USER]) + int(fields[_WAITED_USER])
    system = int(fields[_SYSTEM]) + int(fields[_WAITED_SYSTEM])
    return user * _TICK_S, (user + system) * _TICK_S


def _fields(pid: int) -> list[str]:
    return (_PROC / str(pid) / "stat").read_text("utf-8").rpartition(")")[2].split()
