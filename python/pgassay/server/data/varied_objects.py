"""Indexes and extended statistics of several levels in one database, and a transaction without
those of others.

Enters: a session of the workload's user, the SQL of each level. Leaves: all objects made, what each
level has made of them; SQL that drops some in a transaction that is rolled back. Never: drops one
for good.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pgassay.server.connection.session import as_target_error
from pgassay.server.data.schema_variants import run_parts
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement

_KINDS = ("INDEX", "STATISTICS")


@dataclass(frozen=True)
class VariedObject:
    """An index, or extended statistics."""

    kind: str
    """As DROP names it."""
    name: str
    """Qualified, and quoted where it takes that."""
    oid: int
    bytes: int
    analysed: str | None
    """The table whose ANALYZE fills what the planner reads of it."""


@dataclass(frozen=True)
class MadeLevel:
    """What the SQL of one level has made."""

    took_s: float
    objects: tuple[VariedObject, ...]

    @property
    def bytes(self) -> int:
        """The size of all of it."""
        return sum(one.bytes for one in self.objects)


def make_levels(session: Connection, levels: Mapping[str, str]) -> dict[str, MadeLevel]:
    """Runs the SQL of every level, and returns what each has made; raises TargetError where it, or
    dropping all of it in a transaction that is rolled back, fails."""
    made: dict[str, MadeLevel] = {}
    known = _objects(session)
    for level, text in levels.items():
        took_s = run_parts(session, {f"factors.schema, {level}": text})
        found = _objects(session, known)
        known += found
        made[level] = MadeLevel(took_s, tuple(found))
    every = [one for level in made.values() for one in level.objects]
    with as_target_error("ANALYZE of tables with new statistics"):
        for table in sorted({one.analysed for one in every if one.analysed is not None}):
            session.execute(f"ANALYZE {table}".encode())
    with as_target_error('dropping indexes for a moment (mode = "blocks" does without)'):
        if every:
            with session.transaction(force_rollback=True):
                session.execute(dropping(every))
    return made


def hiding(every: Iterable[VariedObject], kept: Collection[VariedObject]) -> bytes:
    """Returns SQL after which the rest of a transaction has only the `kept` objects of all. Each
    transaction drops all of them once, so that what a session knows of their tables is invalid in
    all alike."""
    every = list(every)
    if not every:
        return b""
    others = [one for one in every if one not in kept]
    around = statement("data/drop_and_keep").replace(b"{drops}", dropping(every))
    return around + dropping(others)


def dropping(objects: Iterable[VariedObject]) -> bytes:
    """Returns SQL that drops these objects."""
    by_kind: dict[str, list[str]] = {}
    for one in objects:
        by_kind.setdefault(one.kind, []).append(one.name)
    return "".join(f"DROP {kind} {', '.join(names)}; " for kind, names in by_kind.items()).encode()


def _objects(session: Connection, known: Iterable[VariedObject] = ()) -> list[VariedObject]:
    known = list(known)
    oids = {kind: [one.oid for one in known if one.kind == kind] for kind in _KINDS}
    with as_target_error("looking for what a level of the schema has made"):
        rows = session.execute(statement("data/varied_objects"), oids, prepare=False).fetchall()
    return [
        VariedObject(kind, name, oid, size, analysed) for oid, kind, name, size, analysed in rows
    ]
