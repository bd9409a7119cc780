"""What tracing takes, and what of it is missing on this machine.

Enters: nothing. Leaves: the path of bpftrace, or one line that names the fix. Never: installs or
mounts anything.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pgassay.errors import SetupError

_TRY_S = 30.0
_HOST_PIDS = 0xEFFFFFFC
"""The inode of the first process namespace (include/linux/proc_ns.h, PROC_PID_INIT_INO)."""
_EVENTS = "uprobe_events"
_TRACEFS = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
_TYPES = Path("/sys/kernel/btf/vmlinux")


@dataclass(frozen=True)
class Lack:
    """What is missing, and how to get it."""

    what: str
    fix: str

    def __str__(self) -> str:
        return f"{self.what}; {self.fix}"


def find_bpftrace() -> str:
    """Returns the path of bpftrace. Raises SetupError where tracing cannot work."""
    lack = missing(tries=False)  # bpftrace will say itself what it is refused
    if lack is not None:
        raise SetupError(f"tracing: {lack}")
    return str(shutil.which("bpftrace"))


def missing(*, tries: bool = True) -> Lack | None:
    """Returns the first thing that tracing lacks, None where tracing works; `tries` it in the
    end."""
    program = shutil.which("bpftrace")
    if program is None:
        return Lack("bpftrace is not installed", "apt-get install bpftrace, dnf install bpftrace")
    if os.geteuid() != 0:
        return Lack("it takes the rights of root", "run pgassay trace by sudo")
    if Path("/proc/self/ns/pid").stat().st_ino != _HOST_PIDS:
        return Lack(
            "pgassay runs in a container, whose process numbers the kernel's probes do not know",
            "run pgassay trace on the host",
        )
    if not any((folder / _EVENTS).exists() for folder in _TRACEFS):
        return Lack(
            "tracefs is not mounted, or the kernel has no uprobes",
            f"mount -t tracefs tracefs {_TRACEFS[0]}",
        )
    if not _TYPES.exists():
        return Lack(f"the kernel has no {_TYPES}", "use a kernel with CONFIG_DEBUG_INFO_BTF")
    return _refused(program) if tries else None


def _refused(program: str) -> Lack | None:
    """A program that does nothing: the kernel may forbid what the files promise."""
    fix = "see its message; a locked-down kernel or container forbids BPF"
    try:
        done = subprocess.run(
            [program, "-e", "BEGIN { exit(); }"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TRY_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Lack(f"bpftrace does not run: {error}", fix)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "without a word").splitlines()[-1]
        return Lack(f"bpftrace does not run: {said}", fix)
    return None
