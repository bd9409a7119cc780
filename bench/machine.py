"""The machine that a benchmark runs on: its name, its processors, how busy it is.

Enters: /proc. Leaves: facts and processor times. Never: starts anything.
"""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_STAT = Path("/proc/stat")


@dataclass(frozen=True)
class Machine:
    """The facts that a page of figures names."""

    cpu: str
    processors: int
    memory_gb: float
    kernel: str

    def __str__(self) -> str:
        return f"{self.processors} × {self.cpu}, {self.memory_gb:.0f} GB, {self.kernel}"


def this_machine() -> Machine:
    """The facts of this machine."""
    found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text("utf-8"))
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return Machine(
        cpu=found[1].strip() if found else platform.machine(),
        processors=len(os.sched_getaffinity(0)),
        memory_gb=pages / 2**30,
        kernel=f"{platform.system()} {platform.release()}",
    )


def load_average() -> float:
    """The load average of the last minute."""
    return os.getloadavg()[0]


def busy_s() -> float:
    """Processor time of the whole machine so far, without idling."""
    words = _STAT.read_text("utf-8").splitlines()[0].split()[1:9]
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, words)
    return (user + nice + system + irq + softirq + steal) * _TICK_S


def process_tree_s(pid: int) -> float:
    """Processor time of a process, its children and those it has waited for."""
    return _times(pid, 4) + sum(_times(child, 2) for child in children(pid))


def process_s(pid: int) -> float:
    """Processor time of one process, to a hundredth of a second; 0 once it has ended."""
    return _times(pid, 2)


def children(pid: int) -> set[int]:
    """Process numbers of the children."""
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()))


def peak_memory_kb(pid: int) -> int:
    """The most memory that the program has had so far; 0 once it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(found[1]) if found else 0


def _times(pid: int, count: int) -> float:
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except OSError:  # it has ended meanwhile
        return 0.0
    fields = text.rpartition(")")[2].split()
    return sum(int(field) for field in fields[11 : 11 + count]) * _TICK_S


def wait_until(holds: Callable[[], bool], limit_s: float = 10.0) -> None:
    """Poll a condition until it holds or a limit has passed."""
    deadline = time.monotonic() + limit_s
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)


def wait_for_quiet(limit_s: float = 10.0, most: float = 0.10) -> None:
    """Wait, up to a limit, until other processes use less than `most` of a processor."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        before, began = busy_s(), time.monotonic()
        time.sleep(0.25)
        if busy_s() - before < most * (time.monotonic() - began):
            return


def memory_kb(pid: int | str = "self") -> int:
    """The memory that a program has now; 0 once it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return 0
    found = re.search(r"VmRSS:\s*(\d+) kB", status)
    return int(found[1]) if found else 0
