"""Whether a server can be what arms ask of it: connections, memory for their caches, settings
that go together.

Enters: demands, a session of the server. Leaves: a refusal for each thing that is lacking.
Never: changes anything; a limit that is not known refuses nothing.

PostgreSQL would refuse a connection in the middle of a trial, and memory as late as at a start. Of
each of several servers at once would be checked alone, and the kernel gives pages only as they are
touched: together they would run into swap or the OOM killer.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pgassay.plan.demands import Demand
from pgassay.refusals.refusal import Refusal, what
from pgassay.server.protocol import Connection, Context, Setting
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

    of: Literal["role", "database"]
    name: str
    most: int
    """Connections that it may have."""
    others: int
    """Connections that it has now, which are not ours."""


@dataclass(frozen=True)
class Capacity:
    """The connections and the memory that one server has for a load."""

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
    """Returns the most sessions that pgassay has beside a load: two samplers, one that looks on,
    and on an existing server the lock and, where nothing else reads its host, one for that."""
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
    limits = [] if of_role is None else [Limit("role", session.info.user, of_role, by_role)]
    if not in_own_database and of_database is not None:
        limits.append(Limit("database", session.info.dbname, of_database, in_database))
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


def lacking(arms: Sequence[tuple[Demand, Capacity]], *, side_by_side: bool) -> Iterator[Refusal]:
    """Yields what keeps arms from running as they are asked for; `side_by_side` says that all
    servers run at once."""
    problems: dict[Hashable, tuple[Refusal, list[str]]] = {}
    for demand, capacity in arms:
        for refusal in (
            *_lacking_connections(demand, capacity),
            *_lacking_memory(demand, capacity),
            *contradictions(demand, capacity.settings),
        ):
            problems.setdefault(what(refusal), (refusal, []))[1].append(demand.arm)
    for refusal, labels in problems.values():
        of = "" if len(labels) == len(arms) else f"{', '.join(labels)}: "
        yield Refusal(refusal.code, refusal.key, **{**refusal.values, "of": of})
    known = [capacity.memory for _, capacity in arms if capacity.memory is not None]
    caches = {demand.arm: _buffers(demand, capacity) for demand, capacity in arms}
    together = sum(caches.values())
    if side_by_side and known and not problems and together >= min(known):
        sizes = ", ".join(f"{label}: {size / _GIB:.1f} GiB" for label, size in caches.items())
        values = {"together": together / _GIB, "memory": min(known) / _GIB}
        yield Refusal("lacks-memory-together", sizes=sizes, **values)


def _lacking_memory(demand: Demand, capacity: Capacity) -> Iterator[Refusal]:
    size, key = _buffers(demand, capacity), demand.key_of(_BUFFERS)
    if capacity.memory is not None and size >= capacity.memory:
        sizes = {"asked": size / _GIB, "memory": capacity.memory / _GIB}
        yield Refusal("lacks-memory", key, of="", **sizes)
    elif capacity.limit is not None and size >= capacity.limit:
        limit = memory_text(capacity.limit)
        yield Refusal("lacks-memory-in-its-group", key, of="", asked=memory_text(size), limit=limit)


def _lacking_connections(demand: Demand, capacity: Capacity) -> Iterator[Refusal]:
    if demand.connections is None:
        return
    own = capacity.own + demand.reloads
    needed = demand.connections + own
    asked = {"of": "", "load": _counted(demand.connections), "own": own}
    most = _number(_MOST, demand, capacity)
    kept = 0
    if not capacity.superuser:
        kept = _number(_KEPT, demand, capacity)
        kept += 0 if capacity.uses_reserved else _number(_RESERVED, demand, capacity)
    wanted = needed + kept + capacity.others
    if wanted > most:
        those = [f"{kept} kept for others"] if kept else []
        those += [f"{capacity.others} open now"] if capacity.others else []
        beside = f", with {' and '.join(those)}," if those else ""
        others = {"kept": kept, "open": capacity.others}
        yield Refusal(
            "lacks-connections", **asked, **others, beside=beside, most=most, wanted=wanted
        )
    for limit in capacity.limits:
        if needed + limit.others > limit.most:
            beside = f", with {limit.others} open now," if limit.others else ""
            code = _OF_LIMITS[limit.of]
            of_limit = {"name": limit.name, "most": limit.most, "open": limit.others}
            yield Refusal(code, **asked, **of_limit, beside=beside)


_OF_LIMITS: Mapping[str, str] = {
    "role": "lacks-connections-of-a-role",
    "database": "lacks-connections-of-a-database",
}


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


MINIMAL_EXCLUDES = {"max_wal_senders": "0", "archive_mode": "off", "summarize_wal": "off"}
"""What each must be under wal_level = minimal."""
AS_MADE = {"wal_level": "replica", "max_wal_senders": "10", "archive_mode": "off"}
"""Of a server that initdb has just made."""
_OFF = frozenset({"off", "false", "no", "0", "f", "n"})


def contradictions(demand: Demand, has: Mapping[str, Setting]) -> Iterator[Refusal]:
    """Yields settings of an arm that together keep the server from starting."""
    wanted = demand.settings
    if not {"wal_level", *MINIMAL_EXCLUDES} & wanted.keys():
        return  # the server runs with what it has

    def value(name: str) -> str:
        found = has.get(name)
        return wanted.get(name, found.value if found else "").strip().lower()

    if value("wal_level") != "minimal":
        return
    for name, must in MINIMAL_EXCLUDES.items():
        shown = value(name)
        if shown and shown != must and not (must == "off" and shown in _OFF):
            values = {"of": "", "name": name, "must": must, "value": shown}
            yield Refusal("minimal-wal-level", demand.key_of("wal_level"), **values)
