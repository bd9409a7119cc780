"""What putting a server back would do, in one line each, before it is done.

Enters: changes, the way to the server, what the user's own record has. Leaves: acts, as text of
one line that no terminal acts on. Never: connects to anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from pgassay.server.change import (
    Change,
    DatabaseChange,
    KnobChange,
    OwnedServerChange,
    RestartChange,
    SchemaChange,
    ServerChange,
    SettingChange,
    VariantChange,
    visible,
)
from pgassay.server.existing.access import Access
from pgassay.server.undo.undo_sql import SCHEMA


@dataclass(frozen=True)
class Act:
    """One thing that `recover` or `run --resume` would do."""

    text: str
    recorded: bool
    """Whether the user's own record says that a run of this user needs it."""


def acts_of(changes: Sequence[Change], recorded: Collection[Change]) -> list[Act]:
    """Returns the acts of undoing changes, newest first; a setting that was changed often is one
    act."""
    found: dict[tuple[str, ...], Act] = {}
    for change in reversed(changes):
        act = Act(_undoing(change), _is_own(change, recorded))
        # Of a setting the newest value is the one in force, and all have the same one before.
        key = (change.what, str(getattr(change, "found", "")), str(getattr(change, "undo", "")))
        known = found.get(key, act)
        found[key] = replace(known, recorded=known.recorded and act.recorded)
    return list(found.values())


def way_acts(
    dsns: Sequence[str], changes: Sequence[Change], access: Access, *, recorded: bool
) -> Iterator[Act]:
    """Returns the acts of reaching the server and its host, as the experiment file of the run says;
    `dsns` are the connection strings in it."""
    server = [one for one in changes if not isinstance(one, KnobChange | OwnedServerChange)]
    for one in dict.fromkeys(change.dsn or "".join(dsns[:1]) for change in server):
        where = f"connection string {visible(one)}" if one else "PGHOST and the like"
        yield Act(f"connect to the server by {where}", recorded and one in dsns)
    if access.ssh is not None and len(server) + sum(isinstance(o, KnobChange) for o in changes):
        sudo = ", and run commands there by sudo" if access.sudo else ""
        yield Act(f"reach the host of the server by ssh {visible(access.ssh)}{sudo}", recorded)
    data = [one.data for one in server if isinstance(one, ServerChange) and one.data]
    if data and access.control is not None:
        command = visible(access.control.label)
        yield Act(f"restart or start the server in {visible(data[-1])} by: {command}", recorded)


def _is_own(change: Change, recorded: Collection[Change]) -> bool:
    # A server of our own is removed by what its marker says, below this user's own folder.
    return isinstance(change, OwnedServerChange) or change in recorded


def _undoing(change: Change) -> str:
    at = f" at {visible(change.reached)}" if change.reached else ""
    match change:
        case SettingChange():
            found = "not set" if change.found is None else visible(change.found)
            return f"{change.what}: {visible(change.value)} → {found}"
        case SchemaChange():
            database = visible(change.database)
            return f"drop schema {SCHEMA} of database {database}{at}, if it has pgassay's mark"
        case DatabaseChange():
            return f"drop database {change.name}{at}, if it has pgassay's mark"
        case VariantChange():
            return f"run in database {visible(change.database)}{at}: {visible(change.undo)}"
        case KnobChange():
            values = f"{visible(change.value)} → {visible(change.found)}"
            return f"{change.what} ({change.path}): {values}"
        case OwnedServerChange():
            directory = visible(str(change.directory))
            return f"stop the server of pgassay's own in {directory}, and remove it"
        case RestartChange():
            return f"start the server{at}, if it is down"
    raise TypeError(change.kind)
