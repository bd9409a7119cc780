"""Who used the host's processors: the server, pgassay, others, or the hypervisor.

Enters: a reading of the server's host. Leaves: processor times, and their split between two
moments. Never: fails where the host reports nothing; there is no split then.

Other programs are measured by user time alone: what the kernel does for the server (write-back,
interrupts) belongs to no process, and would be counted as theirs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgassay.trials.host.host_reading import HostReading

_USUAL_TICKS = 100
"""A second's ticks in /proc."""
_USER, _SYSTEM, _WAITED_USER, _WAITED_SYSTEM = 11, 12, 13, 14
"""Fields of /proc/PID/stat after the name."""


@dataclass(frozen=True)
class ProcessorTimes:
    """Processor time in seconds since the host started."""

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
    """How the processors' time was used between two moments, in seconds."""

    all_s: float
    busy_s: float
    server_s: float
    client_s: float
    """pgassay itself, samplers included, and the programs it ran."""
    foreign_user_s: float
    steal_s: float


def processor_times(reading: HostReading | None) -> ProcessorTimes | None:
    """Returns the processor times of a reading; None where it does not have the server's
    processes."""
    if reading is None or reading.postmaster is None:
        return None
    tick_s = 1 / (reading.number("ticks") or _USUAL_TICKS)
    try:
        words = reading.lines["/proc/stat"].split()[1:9]
        user, nice, system, idle, iowait, irq, softirq, steal = (int(w) * tick_s for w in words)
        server_user, server = _tree(reading, reading.postmaster, tick_s)
        client_user, client = _client() if reading.is_ours else (0.0, 0.0)
    except (KeyError, ValueError, IndexError):
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


def of_all_servers(times: Sequence[ProcessorTimes | None]) -> ProcessorTimes | None:
    """Adds up the times of several servers on one host; None where one has none."""
    known = [one for one in times if one is not None]
    if not known or len(known) < len(times):
        return None
    return replace(
        known[-1],
        server_s=sum(one.server_s for one in known),
        server_user_s=sum(one.server_user_s for one in known),
    )


def split_between(
    before: ProcessorTimes | None, after: ProcessorTimes | None
) -> ProcessorSplit | None:
    """Returns how the processors were used between two readings; None where a reading is missing,
    or the server's processes were replaced."""
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


def _tree(reading: HostReading, postmaster: int, tick_s: float) -> tuple[float, float]:
    """(user, all) of a server: its postmaster, its ended processes, those that live."""
    user = total = 0
    has_postmaster = False
    for pid, fields in reading.processes():
        has_postmaster |= pid == postmaster
        own = [int(fields[at]) for at in (_USER, _SYSTEM)]
        if pid == postmaster:
            own = [
                time + int(fields[at])
                for time, at in zip(own, (_WAITED_USER, _WAITED_SYSTEM), strict=True)
            ]
        user += own[0]
        total += sum(own)
    if not has_postmaster:
        raise KeyError(postmaster)
    return user * tick_s, total * tick_s


def _client() -> tuple[float, float]:
    """(user, all) of pgassay itself and the programs it has waited for."""
    times = os.times()
    user = times.user + times.children_user
    return user, user + times.system + times.children_system
