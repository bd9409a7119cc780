"""The children of a process of this machine.

Enters: the number of a process. Leaves: the numbers of its children; what /proc says of one.
Never: needs /proc/PID/task/PID/children, which kernels may be built without.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def fields_of(process: int) -> list[str]:
    """The fields of /proc/PID/stat after its name: state, parent … (proc(5)); OSError if gone."""
    # PID (COMM) STATE PPID …; a comm may hold anything, also a parenthesis.
    return Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()


def children_of(parent: int) -> list[int]:
    """Those that are there now, in the order of their numbers."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):  # it has ended meanwhile
            if entry.name.isdigit() and int(fields_of(int(entry.name))[1]) == parent:
                found.append(int(entry.name))
    return sorted(found)
