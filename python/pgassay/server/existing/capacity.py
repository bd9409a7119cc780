"""Whether a server can be what arms ask of it: connections, memory for their caches, settings
that go together.

Enters: demands, a session of the server. Leaves: what is lacking, in words.
Never: changes anything; a limit that is not known refuses nothing.

PostgreSQL would refuse a connection in the middle of a trial, and memory as late as at a start. Of
each of several servers at once would be checked alone, and the kernel gives pages only as they are
touched: together they would run into swap or the OOM killer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pgassay.errors import SetupError
from pgassay.plan.demands import Demand
from pgassay.server.protocol import Connection, Context, Setting
from pgassay.server.settings.contradictions import AS_MADE, contradictions
from pgassay.server.statements import statement
from pgassay.spec.reading.units import to_base
from pgassay.spec.server.placement import memory_text

_BUFFERS, _MOST = "shared_buffers", "max_connections"
_KEPT, _RESERVED = "superuser_reserved_connections", "reserved_connections"
_GIB = 1024**3
Known = Mapping[str, Setting]


@dataclass(frozen=True)
class Limit:
    """The connection limit of one role or one database."""

    of: str
    most: int
    others: int


@dataclass(frozen=True)
class Capacity:
    """Connections and memory of one server."""

    settings: Known
    memory: int | None = None
    """Bytes of its host, or of its control group."""
    limit: int | None = None
    """Bytes of the control group that pgassay starts it in, if it does."""
    superuser: bool = True
    uses_reserved: bool = True
    others: int = 0
    """Sessions that are not ours."""
    limits: tuple[Limit, ...] = ()
    own: int = 3
    """Sessions of pgassay's beside a load, at most."""


def own_sessions(*, is_ours: bool, sees_host: bool) -> int:
    """Two samplers, and one that looks on; on an existing server one that holds its lock, and one
    that reads its host where nothing else does."""
    return 3 + (not is_ours) + (not sees_host)


def capacity_of(
    session: Connection,
    settings: Known,
    memory: int | None,
    own: int,
    *,
    in_own_database: bool = False,
    limit: int | None = None,
) -> Capacity:
    """The capacity of a session's server; the load's sessions are of the same role, and of the same
    database unless it runs in one of pgassay's own."""
    row = session.execute(statement("existing/connection_room")).fetchone()
    if row is None:
        return Capacity(settings, memory, limit, own=own)
    superuser, uses_reserved, others, of_role, by_role, of_database, in_database = row
    bounds = [(f"role {session.info.user}", of_role, by_role)]
    if not in_own_database:
        bounds.append((f"database {session.info.dbname}", of_database, in_database))
    limits = [Limit(of, most, count) for of, most, count in bounds if most is not None]
    return Capacity(
        settings,
        memory,
        limit,
        superuser,
        uses_reserved,
        others,
        () if superuser else tuple(limits),
        own,
    )


def capacity_of_a_new_server(memory: int | None, limit: int | None = None) -> Capacity:
    """The capacity of a server that is still to be made: what initdb writes by default."""
    as_made = {
        _BUFFERS: ("16384", "8kB"),
        _MOST: ("100", None),
        **{name: (value, None) for name, value in AS_MADE.items()},
    }
    return Capacity(
        {
            name: Setting(
                name, value, unit, Context.POSTMASTER, "integer", (), None, None, None, "", False
            )
            for name, (value, unit) in as_made.items()
        },
        memory,
        limit,
    )


def refuse_lacking(arms: Sequence[tuple[Demand, Capacity]], *, side_by_side: bool) -> None:
    """SetupError where a server lacks something that an arm needs."""
    for problem in lacking(arms, side_by_side=side_by_side):
        raise SetupError(problem)


def lacking(arms: Sequence[tuple[Demand, Capacity]], *, side_by_side: bool) -> Iterator[str]:
    """What keeps arms from running as they are asked for; `side_by_side` is all at once."""
    problems: dict[str, list[str]] = {}
    for demand, capacity in arms:
        for problem in (
            *_lacking_connections(demand, capacity),
            *_lacking_memory(demand, capacity),
            *contradictions(demand.settings, capacity.settings),
        ):
            problems.setdefault(problem, []).append(demand.arm)
    for problem, labels in problems.items():
        named = "" if len(labels) == len(arms) else f"{', '.join(labels)}: "
        yield f"{named}{problem}"
    known = [capacity.memory for _, capacity in arms if capacity.memory is not None]
    caches = {demand.arm: _buffers(demand, capacity) for demand, capacity in arms}
    together = sum(caches.values())
    if side_by_side and known and not problems and together >= min(known):
        sizes = ", ".join(f"{label}: {size / _GIB:.1f} GiB" for label, size in caches.items())
        yield (
            f"the servers of a duet run at the same time, and their shared_buffers ({sizes}) are"
            f" {together / _GIB:.1f} GiB of the host's {min(known) / _GIB:.1f} GiB; make them"
            ' smaller, or write design.mode = "blocks"'
        )


def _lacking_memory(demand: Demand, capacity: Capacity) -> Iterator[str]:
    size = _buffers(demand, capacity)
    if capacity.memory is not None and size >= capacity.memory:
        yield (
            f"shared_buffers of {size / _GIB:.1f} GiB are more than the server's host lets it have,"
            f" which is {capacity.memory / _GIB:.1f} GiB; make them smaller"
        )
    elif capacity.limit is not None and size >= capacity.limit:
        yield (
            f"shared_buffers of {memory_text(size)} do not fit into placement.server_memory ="
            f" {memory_text(capacity.limit)}; make them smaller, or raise it"
        )


def _lacking_connections(demand: Demand, capacity: Capacity) -> Iterator[str]:
    if demand.connections is None:
        return
    own = capacity.own + demand.reloads
    needed = demand.connections + own
    asked = f"the load's {_counted(demand.connections)} and up to {own} of pgassay's own"
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
            f"{asked}{and_those} are more than max_connections = {most}; make it"
            f" {needed + kept + capacity.others} or more, or lower load.clients"
        )
    for limit in capacity.limits:
        if needed + limit.others > limit.most:
            and_those = f", with {limit.others} open now," if limit.others else ""
            yield (
                f"{asked}{and_those} are more than the connection limit of {limit.of}, which is"
                f" {limit.most}; raise it with ALTER {limit.of.partition(' ')[0].upper()}, or lower"
                " load.clients"
            )


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
    """shared_buffers in bytes."""
    match = re.fullmatch(r"(\d*)kB", capacity.settings[_BUFFERS].unit or "")
    unit = int(match[1] or 1) * 1024 if match else 8192
    return _number(_BUFFERS, demand, capacity) * unit
