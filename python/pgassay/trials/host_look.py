"""One look at the server's host: the first lines of the files that tell its state, in one command.

Enters: a host, the data directory, a process of its server. Leaves: a `HostLook`, the same way for
this machine and for one behind ssh. Never: changes anything there, or judges what it sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from pgassay.errors import TargetError
from pgassay.target.account import last_line
from pgassay.target.host import Host
from pgassay.target.local_host import HERE

LIMIT_S = 20.0
BOOT = "/proc/sys/kernel/random/boot_id"
KERNEL = (
    "vm/dirty_ratio", "vm/dirty_bytes", "vm/dirty_background_ratio", "vm/dirty_background_bytes",
    "vm/dirty_expire_centisecs", "vm/dirty_writeback_centisecs", "vm/swappiness",
    "vm/vfs_cache_pressure", "vm/overcommit_memory", "vm/zone_reclaim_mode", "vm/nr_hugepages",
    "kernel/numa_balancing", "kernel/sched_autogroup_enabled",
    "kernel/sched_cfs_bandwidth_slice_us",
)  # fmt: skip
"""Below /proc/sys."""
_SHOWN = (
    "/proc/stat",
    BOOT,
    *(f"/proc/pressure/{name}" for name in ("cpu", "io", "memory")),
    *(f"/proc/sys/{name}" for name in KERNEL),
    *(f"/sys/kernel/mm/transparent_hugepage/{name}" for name in ("enabled", "defrag")),
)
_HEADER = re.compile(r"==> (.*) <==")


@dataclass(frozen=True)
class HostLook:
    """What a host said of itself."""

    lines: Mapping[str, str]
    """By file, or by what host_look.sh calls it: the first line; what is not there is absent."""
    is_ours: bool
    """Whether pgassay runs under the same kernel, so that its own work is in these figures."""

    @property
    def postmaster(self) -> int | None:
        return self.number("postmaster")

    def number(self, name: str) -> int | None:
        text = self.lines.get(name, "")
        return int(text) if text.isdigit() else None

    def named(self, ending: str) -> list[str]:
        """The lines of all files whose name ends so."""
        return [line for name, line in self.lines.items() if name.endswith(ending)]

    def processes(self) -> Iterator[tuple[int, list[str]]]:
        """Of the server: process id, fields of /proc/PID/stat after the name."""
        for name, line in self.lines.items():
            match = re.fullmatch(r"/proc/(\d+)/stat", name)
            if match is not None:
                yield int(match[1]), line.rpartition(")")[2].split()


def look_at(
    host: Host, data: Path | None, *, backend: int | None = None, postmaster: int | None = None
) -> HostLook:
    """One command, one round trip. The server's processes are found by either of the two ids.

    Raises TargetError where the host cannot be asked.
    """
    found = [str(word or "") for word in (data, backend, postmaster)]
    done = host.run(["sh", "-c", _script(), "sh", *found, *_SHOWN], limit_s=LIMIT_S)
    lines = lines_of(done.stdout)
    if "clock 1" not in lines:
        raise TargetError(f"{host.label} does not tell its state: {last_line(done)}")
    return HostLook(lines, is_ours=not host.name or lines.get(BOOT) == _own_boot())


def lines_of(text: str) -> dict[str, str]:
    """By header, the line that follows it, if any does."""
    found: dict[str, str] = {}
    name = None
    for line in text.splitlines():
        header = _HEADER.fullmatch(line)
        if header is not None:
            name = header[1]
        elif name is not None:
            if line.strip():
                found[name] = line.strip()
            name = None
    return found


@cache
def _script() -> str:
    return (files("pgassay.trials") / "host_look.sh").read_text("utf-8")


@cache
def _own_boot() -> str:
    try:
        return HERE.read(Path(BOOT)).decode().strip()
    except OSError:
        return "unknown"
