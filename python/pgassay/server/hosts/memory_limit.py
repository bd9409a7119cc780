"""How much memory a server may have.

Enters: its host, a process of it. Leaves: bytes: the host's, or less where its control group has a
limit. Never: fails; what the host does not say is None.
"""

from __future__ import annotations

import re
from pathlib import Path

from pgassay.server.hosts.block_devices import read_mounts
from pgassay.server.hosts.control_groups import memory_limit_files
from pgassay.server.hosts.host import Host, text_of


def memory_of(host: Host, pid: int) -> int | None:
    """The host's memory, or the tightest limit of the process's control groups."""
    match = re.search(r"MemTotal:\s*(\d+) kB", text_of(host, Path("/proc/meminfo")) or "")
    if match is None:
        return None
    limits = (text_of(host, path) for path in memory_limit_files(host, pid, read_mounts(host)))
    # Version 2 says "max" where there is none; version 1 a number beyond all memory.
    limits_b = [int(text) for text in limits if text is not None and text.strip().isdigit()]
    return min([int(match[1]) * 1024, *limits_b])
