"""Whether a server has room for what arms ask of it: connections, and memory for their caches.

Enters: demands, a session of the server. Leaves: what is lacking, in words.
Never: changes anything; a limit that is not known refuses nothing.

PostgreSQL would refuse a connection in the middle of a trial, and memory as late as at a start. Of
several servers at once each would be told alone, and the kernel gives pages only as they are
touched: together they would run into swap or the OOM killer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pgassay.errors import SetupError
from pgassay.plan.demands import Demand
from pgassay.spec.units import to_base
from pgassay.target.host import Host
from pgassay.target.memory import memory_of
from pgassay.target.protocol import Connection, Context, Setting
from pgassay.target.statements import statement

OWN_SESSIONS = 4
"""At most beside a load: control, reloads, two samplers."""
_BUFFERS, _MOST = "shared_buffers", "max_connections"
_KEPT, _RESERVED = "superuser_reserved_connections", "reserved_connections"
_GIB = 1024**3
Known = Mapping[str, Setting]


@dataclass(frozen=True)
class Limit:
    """What bounds the sessions of one role or one database."""

    of: str
    most: int
    others: int


@dataclass(frozen=True)
class Capacity:
    """What one server has."""

    settings: Known
    memory: int | None = None
    """Bytes of its host, or of its control group."""
    superuser: bool = True
    uses_reserved: bool = True
    others: int = 0
    """Sessions that are not ours."""
    limits: tuple[Limit, ...] = ()


def capacity_of(session: Connection, settings: Known, host: Host | None) -> Capacity:
    """Of the server of a session; the load's sessions are of the same role and database."""
    memory = None if host is None else memory_of(host, session.info.backend_pid)
    row = session.execute(statement("connection_room")).fetchone()
    if row is None:
        return Capacity(settings, memory)
    superuser, uses_reserved, others, of_role, by_role, of_database, in_database = row
    bounds = (
        (f"role {session.info.user}", of_role, by_role),
        (f"database {session.info.dbname}", of_database, in_database),
    )
    limits = [Limit(of, most, count) for of, most, count in bounds if most is not None]
    return Capacity(
        settings, memory, superuser, uses_reserved, others, () if superuser else tuple(limits)
    )


def capacity_of_a_new_server(memory: int | None) -> Capacity:
    """Of one that is still to be made: what initdb writes where it can."""
    as_made = {_BUFFERS: ("16384", "8kB"), _MOST: ("100", None)}
    return Capacity(
        {
            name: Setting(
                name, value, unit, Context.POSTMASTER, "integer", (), None, None, None, "", False
            )
            for name, (value, unit) in as_made.items()
        },
        memory,
    )


def refuse_lacking(arms: Sequence[tuple[Demand, Capacity]], *, side_by_side: bool) -> None:
    """SetupError with the first thing that is lacking."""
    for problem in lacking(arms, side_by_side=side_by_side):
        raise SetupError(problem)


def lacking(arms: Sequence[tuple[Demand, Capacity]], *, side_by_side: bool) -> Iterator[str]:
    """What keeps arms from running as they are asked for; `side_by_side` is all at once."""
    for demand, capacity in arms:
        yield from _lacking_connections(demand, capacity)
    caches = {demand.arm: _buffers(demand, capacity) for demand, capacity in arms}
    known = [capacity.memory for _, capacity in arms if capacity.memory is not None]
    if not known:
        return
    memory = min(known)
    for arm, size in caches.items():
        if size >= memory:
            yield (
                f"{_of(arm)}shared_buffers of {size / _GIB:.1f} GiB are more than the server's host"
                f" lets it have, which is {memory / _GIB:.1f} GiB; make them smaller"
            )
    if side_by_side and max(caches.values()) < memory <= sum(caches.values()):
        told = ", ".join(f"{label}: {size / _GIB:.1f} GiB" for label, size in caches.items())
        yield (
            f"the servers of a duet run at the same time, and their shared_buffers ({told}) are"
            f" {sum(caches.values()) / _GIB:.1f} GiB of the host's {memory / _GIB:.1f} GiB; make"
            ' them smaller, or write design.mode = "blocks"'
        )


def _lacking_connections(demand: Demand, capacity: Capacity) -> Iterator[str]:
    if demand.connections is None:
        return
    needed = demand.connections + OWN_SESSIONS
    told = (
        f"{_of(demand.arm)}the load's {_counted(demand.connections)} and up to {OWN_SESSIONS} of"
        " pgassay's own"
    )
    most = _number(_MOST, demand, capacity)
    kept = 0
    if not capacity.superuser:
        kept = _number(_KEPT, demand, capacity)
        kept += 0 if capacity.uses_reserved else _number(_RESERVED, demand, capacity)
    if needed + kept + capacity.others > most:
        beside = [f"{kept} kept for others"] if kept else []
        beside += [f"{capacity.others} open now"] if capacity.others else []
        and_those = f", with {' and '.join(beside)}," if beside else ""
        yield (
            f"{told}{and_those} are more than max_connections = {most}; make it"
            f" {needed + kept + capacity.others} or more, or lower load.clients"
        )
    for limit in capacity.limits:
        if needed + limit.others > limit.most:
            beside = [f", with {limit.others} open now,"] if limit.others else [""]
            yield (
                f"{told}{beside[0]} are more than the connection limit of {limit.of}, which is"
                f" {limit.most}; raise it with ALTER {limit.of.partition(' ')[0].upper()}, or lower"
                " load.clients"
            )


def _of(arm: str) -> str:
    return f"{arm}: " if arm else ""


def _counted(connections: int) -> str:
    return f"{connections} connection{'' if connections == 1 else 's'}"


def _number(name: str, demand: Demand, capacity: Capacity) -> int:
    """In its own unit; 0 where this version has no such setting."""
    found = capacity.settings.get(name)
    if found is None:
        return 0
    try:
        return int(to_base(demand.settings.get(name, found.value), found.unit, found.vartype))
    except ValueError:
        # What is no value at all is refused by the server, in its own words.
        return int(found.value)


def _buffers(demand: Demand, capacity: Capacity) -> int:
    """Bytes."""
    match = re.fullmatch(r"(\d*)kB", capacity.settings[_BUFFERS].unit or "")
    unit = int(match[1] or 1) * 1024 if match else 8192
    return _number(_BUFFERS, demand, capacity) * unit
