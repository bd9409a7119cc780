"""Where sessions of the source's roles look for names, and what else is set for these roles.

Enters: a session on the source. Leaves: roles, the schemas of a role's search path, notes on what
sessions of another role lack. Never: shows the value of a setting.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pgassay.server.protocol import Connection
from pgassay.server.statements import statement

Notes = list[tuple[str, dict[str, object]]]


@dataclass(frozen=True, slots=True)
class Role:
    """A role as its sessions in this database begin."""

    name: str
    path: str
    """The setting search_path, with the role's name for $user."""
    settings: tuple[str, ...] = ()
    """Names of the other settings that are the role's own; none of the session's role."""


def roles_of(session: Connection, oids: Collection[int] = (), name: str = "") -> Mapping[int, Role]:
    """Returns the roles of these oids, and the one of that name, by oid; without those that are
    gone. Raises psycopg.Error."""
    asked = (list(oids), name)
    rows = session.execute(statement("drawing/paths"), asked, prepare=False).fetchall()
    return {
        oid: Role(known, path.replace('"$user"', known).replace("$user", known), tuple(settings))
        for oid, known, path, settings in rows
    }


def schemas_of(session: Connection, path: str) -> tuple[str, ...]:
    """Returns the schemas of a search path that are there and open to this session's role. Raises
    psycopg.Error."""
    with session.transaction():
        session.execute(statement("drawing/use_path"), (path,), prepare=False)
        row = session.execute(statement("drawing/schemas"), prepare=False).fetchone()
    return () if row is None else tuple(row[0])


def looked_up_by(session: Connection, calls: Mapping[Role, int]) -> tuple[tuple[str, ...], Notes]:
    """Returns the schemas in which the load's sessions are to look for names, which are those of
    the role with most calls, and what they lack of the roles. Raises psycopg.Error."""
    if not calls:
        return (), []
    roles = sorted(calls, key=lambda one: (-calls[one], one.name))
    schemas = schemas_of(session, roles[0].path)
    others = [one.name for one in roles[1:] if schemas_of(session, one.path) != schemas]
    return schemas, [*_of_paths(roles[0].name, others), *_of_settings(roles)]


def _of_paths(role: str, others: Sequence[str]) -> Notes:
    values: dict[str, object] = {"role": role, "names": tuple(others)}
    return [("draw/other-paths", values)] if others else []


def _of_settings(roles: Sequence[Role]) -> Notes:
    names = tuple(f"{one.name}: {', '.join(one.settings)}" for one in roles if one.settings)
    return [("draw/role-settings", {"names": names})] if names else []
