"""Whether vm.swappiness can do anything to the server.

Enters: its host, whether pgassay starts the server and limits its memory, else a process of it.
Leaves: a note for each reason why it cannot. Never: fails; what the host does not say is no
reason.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from pgassay.notes import Note
from pgassay.server.hosts.block_devices import read_mounts
from pgassay.server.hosts.control_groups import memory_groups
from pgassay.server.hosts.host import Host, text_of

SWAPPINESS = "vm.swappiness"
_SWAPS = Path("/proc/swaps")


def without_effect(
    knobs: Collection[str],
    host: Host,
    *,
    starts_server: bool,
    limits_memory: bool,
    running: int | None = None,
) -> list[Note]:
    """Why that knob, if it is among those of an experiment, changes nothing.

    `running` is a process of a server that exists; None where that is unknown.
    """
    if SWAPPINESS not in knobs:
        return []
    found = []
    swaps = text_of(host, _SWAPS)
    if swaps is not None and len(swaps.splitlines()) < 2:
        found.append(Note("server/knobs/no-swap"))
    if starts_server and not limits_memory and _its_own(host, os.getpid()):
        found.append(Note("server/knobs/own-swappiness"))
    if not starts_server and running is not None and (file := _its_own(host, running)):
        found.append(Note("server/knobs/swappiness-of-group", {"file": str(file)}))
    return found


def _its_own(host: Host, process: int) -> Path | None:
    """The file with the value of a process's group below the root of a version 1 tree."""
    trees = memory_groups(host, process, read_mounts(host))
    below = (groups[0] for controller, groups in trees if controller and len(groups) > 1)
    return next((group / "memory.swappiness" for group in below), None)
