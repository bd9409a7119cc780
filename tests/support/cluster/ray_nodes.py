"""A Ray cluster of several nodes on this machine.

Enters: what each node has. Leaves: its address while the block lasts, nodes that can be killed.
Never: joins it; leaves a process of it running.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Self

import pytest

from support.cluster.delayed_network import DelayedNetwork

_STORE_BYTES = 80 * 1024 * 1024
"""Ray's smallest object store."""


class RayNodes:
    """Ray's own test cluster: the first node is the head. In a `network` each has a place."""

    def __init__(
        self,
        cpus: Sequence[int],
        resources: Sequence[Mapping[str, float]],
        network: DelayedNetwork | None = None,
    ) -> None:
        # Ray's processes import what this one can, also from a tree that is not installed; programs
        # that later tests start must not.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
            patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
            # Ray gives way to every other process of the machine, to other tests, too.
            patch.setenv("RAY_worker_niceness", "0")
            patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
            from ray.cluster_utils import Cluster

            self._cluster: Any = Cluster()
            self.nodes: list[Any] = []
            for place, (count, own) in enumerate(zip(cpus, resources, strict=True)):
                at: dict[str, Any] = (
                    {} if network is None else {"node_ip_address": network.address(place)}
                )
                with nullcontext() if network is None else network.inside(place):
                    node = self._cluster.add_node(
                        num_cpus=count,
                        resources=dict(own),
                        object_store_memory=_STORE_BYTES,
                        include_dashboard=False,
                        include_log_monitor=False,
                        no_monitor=True,
                        **at,
                    )
                self.nodes.append(node)

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def kill(self, place: int) -> None:
        """As if its machine lost power."""
        self._cluster.remove_node(self.nodes[place], allow_graceful=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.shutdown()
