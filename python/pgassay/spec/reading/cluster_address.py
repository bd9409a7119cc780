"""Addresses of a Ray cluster.

Enters: text of the file. Leaves: an address that `ray.init` joins. Never: one that makes Ray start
or reach another kind of cluster.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field

_HOST_AND_PORT = re.compile(r"[^\s/]+:\d{1,5}")


def _joined(address: str) -> str:
    if address != "auto" and not _HOST_AND_PORT.fullmatch(address):
        raise ValueError(
            "write 'auto' for the cluster that this machine is a node of, or HOST:PORT"
        )
    return address


def _joined_or_local(address: str) -> str:
    if address not in ("auto", "local") and not _HOST_AND_PORT.fullmatch(address):
        raise ValueError(
            "write 'auto' for the cluster that this machine is a node of, its HOST:PORT, or 'local'"
        )
    return address


_TEXT: Any = Field(max_length=255)
ClusterAddress = Annotated[str, _TEXT, AfterValidator(_joined)]
ClusterOrLocal = Annotated[str, _TEXT, AfterValidator(_joined_or_local)]
"""`local` is a cluster of this machine alone, which ends with the run."""
