"""What tracing takes, and what of it is missing on this machine.

Enters: nothing. Leaves: the path of bpftrace, or one line that names the fix. Never: installs or
mounts anything.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from pgassay.refusals.refusal import SetupRefused

_TRY_S = 30.0
_HOST_PIDS = 0xEFFFFFFC
"""The inode of the first process namespace (include/linux/proc_ns.h, PROC_PID_INIT_INO)."""
_EVENTS = "uprobe_events"
_TRACEFS = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
_TYPES = Path("/sys/kernel/btf/vmlinux")


def find_bpftrace() -> str:
    """Returns the path of bpftrace. Raises SetupError where tracing cannot work."""
    lack = missing(tries=False)  # bpftrace will say itself what it is refused
    if lack is not None:
        raise SetupRefused(lack.code, "tracing", **lack.values)
    return str(shutil.which("bpftrace"))


def missing(*, tries: bool = True) -> SetupRefused | None:
    """Returns the first thing that tracing lacks, None where tracing works; `tries` it in the
    end."""
    program = shutil.which("bpftrace")
    if program is None:
        return SetupRefused("no-bpftrace")
    if os.geteuid() != 0:
        return SetupRefused("tracing-for-root-only")
    if Path("/proc/self/ns/pid").stat().st_ino != _HOST_PIDS:
        return SetupRefused("tracing-in-a-container")
    if not any((folder / _EVENTS).exists() for folder in _TRACEFS):
        return SetupRefused("no-uprobes", folder=_TRACEFS[0])
    if not _TYPES.exists():
        return SetupRefused("no-kernel-types", file=_TYPES)
    return _refused(program) if tries else None


def _refused(program: str) -> SetupRefused | None:
    """A program that does nothing: the kernel may forbid what the files promise."""
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
        return SetupRefused("bpftrace-does-not-run", why=error)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "without a word").splitlines()[-1]
        return SetupRefused("bpftrace-does-not-run", why=said)
    return None
