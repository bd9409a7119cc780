"""What each of several servers is, and where they differ.

Enters: the context. Leaves: a table with a column for each server.
Never: computes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pgassay.language import colon, listed, ntr, tr
from pgassay.notes import Note
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold, note
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.table import Cell, Column, Table, table
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import ABSENT, whole
from pgassay.samples.forms.environment import EnvironmentFile, TableContent

sentence = texts_of(__name__)

_Row = tuple[str | Cell, ...]


@section("record/servers", "The servers")
def servers(context: ReportContext) -> Blocks:
    """Shows the servers of an experiment on several servers."""
    environment = context.environment
    if not environment.servers:
        return
    differ = len(environment.settings_that_differ)
    several = Note.of("report/sections/servers", n=len(environment.servers))
    changed = Note.of("report/sections/settings", n=differ)
    yield summed_up("report/sections/of", unusual=differ, what=several, how=changed)
    yield _table(environment)
    if environment.settings_that_differ:
        yield note(sentence("the_settings_listed_exist"))
    for name in environment.servers:
        if settings := environment.settings_of_some.get(name):
            summary = tr("Settings of {name} that another server lacks", name=name)
            yield Fold(summary, [note(listed(settings))])


def _table(environment: EnvironmentFile) -> Table:
    names = tuple(environment.servers)
    builds = (one.build or one.version or ABSENT for one in environment.servers.values())
    rows: list[_Row] = [("version()", *(Cell(build, "build") for build in builds))]
    rows += _data_rows(environment.data, names)
    for setting, by_server in environment.settings_that_differ.items():
        values = (str(by_server.get(name, ABSENT)) or "(empty)" for name in names)
        rows.append((Cell(setting, "code"), *(Cell(value, "code") for value in values)))
    return table((Column("", "heading"), *(Column(name, "text") for name in names)), rows)


def _data_rows(
    data: Mapping[str, Mapping[str, Mapping[str, TableContent]]], names: tuple[str, ...]
) -> Iterator[_Row]:
    for dataset, by_server in data.items():
        tables = dict.fromkeys(one for name in names for one in by_server.get(name, ()))
        for one in tables:
            found = [by_server.get(name, {}).get(one) for name in names]
            alike = all(other == found[0] for other in found)
            yield f"{dataset}{colon()}{one}", *(_rows(each, alike=alike) for each in found)


def _rows(found: TableContent | None, *, alike: bool) -> str:
    """The number of rows; with a checksum where the servers' tables differ."""
    if found is None:
        return ABSENT
    rows = ntr("{value} row", "{value} rows", int(found.rows), value=whole(found.rows))
    if alike:
        return rows
    return tr("{rows}, checksum {checksum}", rows=rows, checksum=found.checksum)
