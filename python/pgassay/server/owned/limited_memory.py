"""Whether this host can limit the memory of a server that pgassay starts.

Enters: the limit, in bytes. Leaves: nothing, or a SetupError that names the fix.
Never: makes a group or a directory.
"""

from __future__ import annotations

import os

from pgassay.errors import SetupError
from pgassay.server.hosts.account import server_account
from pgassay.server.hosts.block_devices import read_mounts, storage_of
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.memory_group import parent_group
from pgassay.server.hosts.memory_limit import memory_of
from pgassay.server.owned.workspace import DATA_VARIABLE, disk_of_workspaces
from pgassay.spec.server.placement import memory_text

_IN_MEMORY = ("tmpfs", "ramfs")


def check_server_memory(limit: int) -> None:
    """Refuse a limit that cannot be put in force here, or that would limit nothing."""
    parent_group()
    memory = memory_of(HERE, os.getpid())
    if memory is not None and limit >= memory:
        raise SetupError(
            f"{memory_text(limit)} limits nothing: a server has at most {memory / 2**30:.1f} GiB"
            " on this host; make it smaller, or leave it out"
        )
    disk = disk_of_workspaces(server_account())
    storage = storage_of(disk, HERE, read_mounts(HERE))
    if storage.file_system in _IN_MEMORY:
        raise SetupError(
            f"{disk} is in memory ({storage.file_system}), so the data would stay there whatever"
            f" the limit; name a directory on a disk in {DATA_VARIABLE}"
        )
