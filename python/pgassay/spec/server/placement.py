"""The `[placement]` table: the CPUs of server, client and samplers, the memory of the server.

Enters: the table that tomllib made. Leaves: the checked table, CPU lists in one spelling.
Never: knows which CPUs, or how much memory, a host has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.reading.values import MemorySize, Table

_PART = re.compile(r"(\d+)(?:-(\d+))?")
_NODE = re.compile(r"node:(\d+)")
_MOST_CPUS = 8192


def _cpu_list(value: Any) -> str:
    text = str(value).replace(" ", "") if isinstance(value, str | int) else ""
    if isinstance(value, bool) or not (_NODE.fullmatch(text) or cpus_in(text)):
        raise UnfitValue("place-form")
    return text


def cpus_in(text: str) -> frozenset[int]:
    """Returns the numbers of the CPUs in a list such as `0-3,8`; empty if it is no list."""
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            return frozenset()
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last >= _MOST_CPUS:
            return frozenset()
        found |= set(range(first, last + 1))
    return frozenset(found)


def node_in(text: str) -> int | None:
    """Returns the number of the NUMA node that `node:1` names; None for another text."""
    match = _NODE.fullmatch(text)
    return None if match is None else int(match[1])


def as_list(cpus: Iterable[int]) -> str:
    """Returns CPUs as a list such as `0-3,8`, as the kernel writes it."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and runs[-1][1] == cpu - 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


def memory_text(size: int) -> str:
    """Returns a number of bytes as PostgreSQL writes it, such as `1536MB`."""
    for unit, factor in (("GB", 2**30), ("MB", 2**20), ("kB", 2**10)):
        if size % factor == 0 and size:
            return f"{size // factor}{unit}"
    return f"{size}B"


CpuList = Annotated[
    str,
    BeforeValidator(_cpu_list),
    WithJsonSchema({"type": ["string", "integer"], "description": "'0-3,8' or 'node:1'"}),
]
Niceness = Annotated[int, Field(ge=-20, le=19)]


class PlacementTable(Table):
    """The `[placement]` table: CPUs and niceness of server, load and sampler, and the server's
    memory; left out, the kernel decides."""

    server: CpuList | None = Field(None, description="CPUs of the server that pgassay starts")
    client: CpuList | None = Field(None, description="CPUs of the load")
    sampler: CpuList | None = Field(None, description="CPUs of the samplers")
    server_nice: Niceness | None = Field(None, description="niceness of that server")
    client_nice: Niceness | None = Field(None, description="niceness of the load")
    sampler_nice: Niceness | None = Field(None, description="niceness of the samplers")
    server_memory: MemorySize | None = Field(
        None, description="most memory of that server, its share of the page cache included"
    )
