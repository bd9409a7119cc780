"""Every arm of a run, or every run of those made apart, at each load.

Enters: the context. Leaves: a table of the load, its speed and waits, and one of the host.
Never: says that they differ at a load; the verdicts do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pgassay.analysis.apart.model import ApartAnalysis
from pgassay.analysis.measures.courses.even_series import WAIT_TYPES
from pgassay.analysis.sampled.model import DISK, HOST, SPEED, Definition, LoadProfile
from pgassay.language import Message, colon, decimals, listed, tr
from pgassay.quantities import load, plain_number, spaced, with_unit
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold, note
from pgassay.report.document.section import Blocks
from pgassay.report.document.table import Cell, Column, Table, table
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import ABSENT, valued
from pgassay.report.tables.infrastructure import disk_titles, titles_of

sentence = texts_of(__name__)
_LOAD = Column(Message("Load"), "line", merges=True, name="load")
_HOST = {one.name: one for one in (*HOST, *DISK)}


class LoadRow(NamedTuple):
    """An arm, or a run of those made apart, at one load."""

    heads: tuple[str, ...]
    """What names the row: a cell for each of the first columns."""
    profile: LoadProfile
    disks: Sequence[str]
    """First the one that holds the data."""


class AtLoads(NamedTuple):
    """Rows, and the first columns of their tables."""

    heads: tuple[Column, ...]
    rows: tuple[LoadRow, ...]
    has_arms: bool
    """Whether a column names arms."""

    def load_table(self) -> Table:
        """Returns connections, speed, latency, waits, and the disk that holds the data."""
        kinds = [name for name in WAIT_TYPES if self._any(name)]
        is_response = any("response_mean" in one.profile.values for one in self.rows)
        of = "response" if is_response else "latency"
        of_disk = [_HOST[name] for name in ("IOPS", "r_await", "w_await")]
        columns = (
            *self.heads,
            Column(Message("Connections"), "line"),
            Column(Message("tps")),
            *map(_titled, SPEED),
            Column(Message("Mean, ms")),
            Column(Message("p99, ms")),
            *map(Column, kinds),
            *map(_titled, of_disk),
            _titled(_HOST["wa"]),
        )
        rows: list[tuple[str | Cell, ...]] = [
            (
                *heads,
                connections(one),
                _value(one, "tps", plain_number),
                *(_defined(one, each.name, each) for each in SPEED),
                *(_value(one, f"{of}_{name}", plain_number) for name in ("mean", "p99")),
                *(_value(one, kind, lambda value: decimals(value, ".2f")) for kind in kinds),
                *(_defined(one, f"{next(iter(disks), '')}/{each.name}", each) for each in of_disk),
                _defined(one, "wa", _HOST["wa"]),
            )
            for heads, one, disks in self.rows
        ]
        return self._table(columns, rows).filled()

    def host_table(self) -> Table:
        """Returns all figures of the host that are not zero in every row."""
        disks = dict.fromkeys(disk for one in self.rows for disk in one.disks)
        named = [(one.name, one) for one in HOST]
        named += [(f"{disk}/{one.name}", one) for disk in disks for one in DISK]
        named = [one for one in named if self._any(one[0])]
        columns = (*self.heads, *(_titled(one, name) for name, one in named))
        rows: list[tuple[str | Cell, ...]] = [
            (*heads, *(_defined(profile, name, one) for name, one in named))
            for heads, profile, _ in self.rows
        ]
        return self._table(columns, rows if named else [])

    def blocks(self, *sentences: str) -> Blocks:
        """Yields both tables; `sentences` come first in what is said about them."""
        yield self.load_table()
        yield note(*sentences, sentence("connections_are"))
        if of_host := self.host_table():
            yield Fold(tr("The host at each load"), [of_host], in_text=True)

    def _any(self, name: str) -> bool:
        return any(one.profile.values.get(name) for one in self.rows)

    def _table(self, columns: Sequence[Column], rows: Sequence[tuple[str | Cell, ...]]) -> Table:
        return table(columns, rows).only_if(arm=self.has_arms)


def arms_at_loads(context: ReportContext) -> AtLoads:
    """Returns the arms of a run; those of a load stand together."""
    plan, styles, disks = context.plan, arm_styles(context.plan.arms), [*disk_titles(context)]
    profiles = context.analysis.explanation.load_profiles
    rows = (
        LoadRow((load(level, plan.step_unit), styles[one.arm].short), one, disks)
        for level in dict.fromkeys(one.level for one in profiles)
        for one in profiles
        if one.level == level
    )
    heads = (_LOAD, Column(Message("Arm"), "heading", name="arm"))
    return AtLoads(heads, tuple(rows), has_arms=len(plan.arms) > 1)


def runs_at_loads(analysis: ApartAnalysis) -> AtLoads:
    """Returns the runs made apart, arm by arm; the runs of a load stand together."""
    unit = analysis.sides[0].runs[0].plan.step_unit
    found = [one for curves in analysis.curves for one in curves.host]
    disks = {one.name: [*titles_of(one.runs[0].environment, found)] for one in analysis.sides}
    rows = (
        LoadRow((curves.arm, load(one.level, unit), one.arm), one, disks[one.arm])
        for curves in analysis.curves
        for one in curves.profiles
    )
    heads = (
        Column(Message("Arm"), "text", merges=True, name="arm"),
        _LOAD,
        Column(Message("Run"), "heading", name="side"),
    )
    return AtLoads(heads, tuple(rows), has_arms=any(one.arm for one in analysis.curves))


def connections(one: LoadProfile) -> str:
    """Writes the connections that run transactions, by scenario where each has its own."""
    if one.connections is None:
        return ABSENT
    if not one.pools:
        return str(one.connections)
    parts = listed(f"{name} {number}" for name, number in one.pools.items())
    return f"{one.connections}{colon()}{parts}"


def _titled(one: Definition, name: str = "") -> Column:
    """A figure by its name with its unit, unless the name has it, such as `%util` and `r/s`."""
    return Column(with_unit(name or one.name, "" if one.unit in one.name else one.unit))


def _value(one: LoadProfile, name: str, write: Callable[[float], str]) -> Cell:
    return valued(one.values.get(name), write)


def _defined(one: LoadProfile, name: str, defined: Definition) -> Cell:
    return _value(one, name, lambda value: spaced(value, defined.digits))
