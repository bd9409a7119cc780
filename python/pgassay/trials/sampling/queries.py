"""The queries that ship, which of them a server can answer, whose counts are followed by a load.

Enters: the files of queries/, a server's version and extensions. Leaves: SQL; names of sources and
columns of the extensions whose counts are followed around a load.
Never: puts anything into SQL but the name of an extension's schema, quoted by the server.

A query's file is NAME_FLOOR.sql, for servers from that version on. Lines of its head say more:
`-- Every: 10 s` (each second where nothing is said; `trial`: before and after one),
`-- At most: 2 %` of a minute (then more seldom), `-- Only: observations` (not beside a load that is
measured), and `-- Extension: NAME VERSION`, whose schema
takes the place of {extension}; `, preloaded` after it says that it takes shared_preload_libraries.

To add a source: add its .sql file with that head, and a line to docs/observation.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from pgassay.server.protocol import Connection
from pgassay.server.statements import statement

COUNTERS_EVERY_S = 1.0
_NAME = re.compile(r"(\w+)_(\d{6})\.sql")
_EVERY = re.compile(r"^-- Every: (?:(\d+) s|trial)\b", re.MULTILINE)
_AT_MOST = re.compile(r"^-- At most: (\d+) %", re.MULTILINE)
_ONLY_OBSERVED = re.compile(r"^-- Only: observations\.?$", re.MULTILINE)
_EXTENSION = re.compile(r"^-- Extension: (\w+) (\d+(?:\.\d+)*)(, preloaded)?\.?$", re.MULTILINE)


@dataclass(frozen=True)
class Extension:
    """An extension that is installed in the database."""

    schema: str
    """Quoted."""
    version: str
    is_loaded: bool = True
    """Of one that takes shared_preload_libraries: whether the server has loaded it."""


NO_EXTENSIONS: Mapping[str, Extension] = MappingProxyType({})


@dataclass(frozen=True)
class Query:
    """A query of the samplers: one .sql file."""

    name: str
    floor: int
    """The lowest server version it is for."""
    sql: str
    every_s: float | None
    """None: not by a clock."""
    busy_share: float | None
    """None: however long it takes."""
    extension: str | None
    extension_floor: str
    is_preloaded: bool = False
    """Whether the extension works only where the server loads its library at the start."""
    is_only_observed: bool = False
    """Whether it is not asked beside a load that is measured."""
    older: Query | None = None
    """The query of this name for the version before: an upgraded server may have kept an extension
    as it was."""

    def sql_with(self, extensions: Mapping[str, Extension]) -> str | None:
        """Returns the SQL text, in an older form for an older extension; None where it is absent,
        not loaded, or too old for all of them: the server would count the refusal among its
        errors."""
        if self.extension is None:
            return self.sql
        found = extensions.get(self.extension)
        if found is None or (self.is_preloaded and not found.is_loaded):
            return None
        if not self.is_for(extensions):
            return self.older.sql_with(extensions) if self.older is not None else None
        return self.sql.replace("{extension}", found.schema)

    def is_for(self, extensions: Mapping[str, Extension]) -> bool:
        """Whether the extension that the query needs is new enough for this form of it."""
        if self.extension is None:
            return True
        found = extensions.get(self.extension)
        return found is not None and _numbers(found.version) >= _numbers(self.extension_floor)

    @property
    def oldest(self) -> Query:
        """The first form of the query, for the oldest version of its extension."""
        return self if self.older is None else self.older.oldest


@cache
def all_queries() -> tuple[Query, ...]:
    """Returns every query that the package has."""
    found = []
    for file in (files("pgassay") / "queries").iterdir():
        match = _NAME.fullmatch(file.name)
        if match:
            found.append(_read(match[1], int(match[2]), file.read_text("utf-8")))
    return tuple(sorted(found, key=lambda query: (query.name, query.floor)))


def queries_for(version_num: int) -> dict[str, Query]:
    """Returns, by name, the newest form of each query that a server of this version can run."""
    found: dict[str, Query] = {}
    for query in all_queries():
        if query.floor <= version_num:
            found[query.name] = replace(query, older=found.get(query.name))
    return found


def queries_from_later_on(version_num: int) -> dict[str, Query]:
    """Returns, by name, the queries that a server of this version is too old for."""
    here = queries_for(version_num)
    later = {query.name: query for query in reversed(all_queries())}
    return {name: later[name] for name in sorted(later) if name not in here}


def extensions_in(session: Connection) -> dict[str, Extension]:
    """Returns the extensions that are installed in the database of a session."""
    rows = session.execute(statement("trials/extensions"), prepare=False).fetchall()
    return {name: Extension(*rest) for name, *rest in rows}


def _read(name: str, floor: int, text: str) -> Query:
    every, extension, most = (at.search(text) for at in (_EVERY, _EXTENSION, _AT_MOST))
    every_s: float | None = COUNTERS_EVERY_S
    if every is not None:
        every_s = float(every[1]) if every[1] else None
    return Query(
        name=name,
        floor=floor,
        sql=text,
        every_s=every_s,
        busy_share=int(most[1]) / 100 if most else None,
        extension=extension[1] if extension else None,
        extension_floor=extension[2] if extension else "0",
        is_preloaded=bool(extension and extension[3]),
        is_only_observed=_ONLY_OBSERVED.search(text) is not None,
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


READ = "(read)"
"""The object of one more row: for how many `seconds` the extension's counts were followed."""


@dataclass(frozen=True)
class Counted:
    """One query of an extension's sums, and which of its columns matter here."""

    source: str
    extension: str
    calls: str
    """Grows whenever anything does."""
    ranked_by: str
    resets: str = ""
    """The query for resets and evictions; empty where there is none."""


STATEMENTS = Counted(
    "statements", "pg_stat_statements", "calls", "exec_time_ms", resets="statements_reset"
)
WAITS = Counted(
    "wait_profile", "pg_wait_sampling", "samples", "waited_ms", resets="wait_profile_reset"
)
"""Objects are `EVENT/QUERYID`."""
