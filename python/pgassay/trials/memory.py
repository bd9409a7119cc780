"""Whether servers that are up at the same time have room for their caches.

Enters: what each arm sets, the settings of its server, the host. Leaves: bytes; a SetupError where
all together are more than the host has. Never: sets anything.

PostgreSQL itself refuses what one server cannot have. Of several each is told alone, and the kernel
gives pages only as they are touched: so together they would run into swap or the OOM killer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pgassay.errors import SetupError
from pgassay.spec.units import to_base
from pgassay.target.host import Host, text_of
from pgassay.target.protocol import Setting

_NAME = "shared_buffers"
_BLOCK = 8192
_GIB = 1024**3


def shared_buffers(asked: Mapping[str, str], known: Mapping[str, Setting]) -> int:
    """Bytes of a server that runs with these settings."""
    found = known[_NAME]
    unit_bytes = _bytes_of(found.unit)
    value = {name.lower(): value for name, value in asked.items()}.get(_NAME, found.value)
    return int(to_base(value, found.unit, found.vartype)) * unit_bytes


def refuse_more_than_memory(of_arms: Mapping[str, int], host: Host) -> None:
    """Whether the shared buffers of all arms fit into the memory of the host, if it tells it."""
    match = re.search(r"MemTotal:\s*(\d+) kB", text_of(host, Path("/proc/meminfo")) or "")
    if match is None:
        return
    memory, together = int(match[1]) * 1024, sum(of_arms.values())
    if together >= memory:
        told = ", ".join(f"{label}: {size / _GIB:.1f} GiB" for label, size in of_arms.items())
        raise SetupError(
            f"the servers of a duet run at the same time, and their shared_buffers ({told}) are"
            f" {together / _GIB:.1f} GiB of the host's {memory / _GIB:.1f} GiB; make them smaller,"
            ' or write design.mode = "blocks"'
        )


def _bytes_of(unit: str | None) -> int:
    """Of a unit such as 8kB."""
    match = re.fullmatch(r"(\d*)kB", unit or "")
    return int(match[1] or 1) * 1024 if match else _BLOCK
