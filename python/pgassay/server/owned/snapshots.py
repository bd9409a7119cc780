"""The frozen copies of an owned server's data: as built, and one per variant of its schema.

Enters: a stopped cluster, names of variants. Leaves: copies that can be put back, also by another
cluster that can read them.
Never: makes a file name of a variant's name, or starts a copy that the disk has no room for.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.errors import TargetError
from pgassay.server.owned.cluster import Cluster
from pgassay.server.owned.workspace import free_bytes

AS_BUILT = ""


class Snapshots:
    """Frozen copies of a data directory by name; the first is that of the data as they were
    built."""

    def __init__(self) -> None:
        self._paths: dict[str, Path] = {}
        self._taken = 0

    def __contains__(self, name: str) -> bool:
        return name in self._paths

    def __bool__(self) -> bool:
        return bool(self._paths)

    def freeze(self, cluster: Cluster, name: str = AS_BUILT) -> None:
        """Keeps a copy of the data directory under a name."""
        number = 0 if name == AS_BUILT else len(self._paths)
        before = free_bytes(cluster.workspace.directory)
        path = cluster.freeze(number)
        # What a file system with reflinks takes for a copy is next to nothing.
        self._taken = max(self._taken, before - free_bytes(cluster.workspace.directory))
        self._paths[name] = path

    def thaw(self, cluster: Cluster, name: str = AS_BUILT) -> None:
        """Puts the copy of that name in the place of the data directory."""
        cluster.thaw(self._paths[name])

    def refuse_without_room(self, cluster: Cluster) -> None:
        """Raises an error if the disk has less room than an earlier copy took."""
        directory = cluster.workspace.directory
        free = free_bytes(directory)
        if self._taken > free:
            raise TargetError(
                f"{directory}: {free / 2**30:.1f} GB are free, and another variant of the data"
                f" takes {self._taken / 2**30:.1f} GB; PGASSAY_DATA names another disk"
            )
