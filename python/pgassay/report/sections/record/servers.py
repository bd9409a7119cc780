"""What each of several servers is, and where they differ.

Enters: the context. Leaves: a table with a column for each server.
Never: relies on a key of environment.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pgassay.language import colon, listed, tr
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, Column, Table, table
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import ABSENT, whole

sentence = texts_of(__name__)

_PARTS = ("servers", "settings_that_differ", "settings_of_some", "data")
_Row = tuple[str | Cell, ...]


@section("record/servers", "The servers")
def servers(context: ReportContext) -> Blocks:
    """An experiment on several servers."""
    servers, differing, of_some, data = (_part(context.environment.given, name) for name in _PARTS)
    if not servers:
        return
    names = tuple(map(str, servers))
    yield _table(names, servers, differing, data)
    if differing:
        yield note(sentence("the_settings_listed_exist"))
    for name in names:
        if of_some.get(name):
            summary = tr("Settings of {name} that another server lacks", name=name)
            yield Fold(summary, [note(listed(of_some[name]))])


def _table(
    names: tuple[str, ...],
    servers: Mapping[str, Any],
    differing: Mapping[str, Any],
    data: Mapping[str, Any],
) -> Table:
    builds = (
        str(_part(servers, name).get("build") or _part(servers, name).get("version") or ABSENT)
        for name in names
    )
    rows: list[_Row] = [("version()", *(Cell(build, "build") for build in builds))]
    rows += _data_rows(data, names)
    for setting in differing:
        values = (str(_part(differing, setting).get(n, ABSENT)) or "(empty)" for n in names)
        rows.append((Cell(setting, "code"), *(Cell(value, "code") for value in values)))
    return table((Column("", "heading"), *(Column(name, "text") for name in names)), rows)


def _data_rows(data: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[_Row]:
    for dataset in data:
        by_server = _part(data, dataset)
        tables = dict.fromkeys(one for name in names for one in _part(by_server, name))
        for one in tables:
            found = [_part(_part(by_server, name), one) for name in names]
            alike = all(other == found[0] for other in found)
            yield f"{dataset}{colon()}{one}", *(_rows(each, alike=alike) for each in found)


def _rows(found: Mapping[str, Any], *, alike: bool) -> str:
    """The number of rows; with a checksum where the servers' tables differ."""
    if not found:
        return ABSENT
    rows = tr("{value} rows", value=whole(found.get("rows", 0)))
    return (
        rows
        if alike
        else tr("{rows}, checksum {checksum}", rows=rows, checksum=found.get("checksum"))
    )


def _part(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = found.get(name)
    return part if isinstance(part, Mapping) else {}
