"""environment.json of an experiment on several servers → one table, a column for each.

Enters: the stored object. Leaves: a `ServerTable`, or None where there is one server.
Never: relies on a key being there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

ABSENT = "–"
_PARTS = ("servers", "settings_that_differ", "settings_of_some", "data")


@dataclass(frozen=True)
class ServerTable:
    """What the servers are and where they differ."""

    names: tuple[str, ...]
    builds: tuple[str, ...]
    """`version()` of each."""
    settings: tuple[tuple[str, tuple[str, ...]], ...]
    """(name, its value on each) of the settings all have, and not alike."""
    data: tuple[tuple[str, tuple[str, ...]], ...]
    """(table, its rows on each); with checksums where they are not the same."""
    only: tuple[tuple[str, str], ...]
    """(server, settings it has and another lacks)."""


def server_table(environment: Mapping[str, Any]) -> ServerTable | None:
    """The table, of what the run stored."""
    servers, differing, of_some, data = (_part(environment, name) for name in _PARTS)
    if not servers:
        return None
    names = tuple(str(name) for name in servers)
    return ServerTable(
        names=names,
        builds=tuple(
            str(_part(servers, name).get("build") or _part(servers, name).get("version") or ABSENT)
            for name in names
        ),
        settings=tuple(
            (name, tuple(str(_part(differing, name).get(n, ABSENT)) or "(empty)" for n in names))
            for name in differing
        ),
        data=tuple(_tables(data, names)),
        only=tuple(
            (name, ", ".join(of_some.get(name) or ())) for name in names if of_some.get(name)
        ),
    )


def _tables(
    data: Mapping[str, Any], names: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for dataset in data:
        by_server = _part(data, dataset)
        tables = dict.fromkeys(table for name in names for table in _part(by_server, name))
        for table in tables:
            seen = [_part(_part(by_server, name), table) for name in names]
            alike = all(one == seen[0] for one in seen)
            yield f"{dataset}: {table}", tuple(_rows(one, alike=alike) for one in seen)


def _rows(seen: Mapping[str, Any], *, alike: bool) -> str:
    if not seen:
        return ABSENT
    rows = f"{seen.get('rows', 0):,} rows".replace(",", "\u202f")
    return rows if alike else f"{rows}, checksum {seen.get('checksum')}"


def _part(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = found.get(name)
    return part if isinstance(part, Mapping) else {}
