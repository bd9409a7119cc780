"""What every actor of a cluster can say of its machine.

Enters: nothing. Leaves: the machine, and the pgassay on it. Never: knows what the actor is for.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import Any

from pgassay import __version__
from pgassay.commit import commit
from pgassay.errors import SetupError


class OnNode:
    """The base of classes whose objects are actors."""

    def about(self) -> dict[str, Any]:
        """Returns what environment.json says of this machine and of the pgassay on it."""
        return {
            "name": platform.node() or "node",
            "kernel": f"{platform.system()} {platform.release()}",
            "cpus": len(os.sched_getaffinity(0)),
            "pgassay": __version__,
            "pgassay_commit": commit(),
        }


def refuse_other_versions(nodes: Sequence[dict[str, Any]]) -> None:
    """Raises SetupError where a node has another version of pgassay, whose objects could not be
    read, or would mean something else."""
    own = OnNode().about()
    for one in nodes:
        if _version(one) != _version(own):
            raise SetupError(
                f"{one['name']} has pgassay {_version(one)}, this machine {_version(own)}; install"
                " the same on every node"
            )


def distinct(names: Sequence[str]) -> list[str]:
    """Makes a name for each node; several may share a machine."""
    return [
        name if place == names.index(name) else f"{name} ({names[: place + 1].count(name)})"
        for place, name in enumerate(names)
    ]


def _version(about: dict[str, Any]) -> str:
    return f"{about['pgassay']} {about['pgassay_commit']}".rstrip()
