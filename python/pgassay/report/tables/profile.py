"""The profile of each arm: its load, its time, its server and its host, side by side.

Enters: the context. Leaves: a table whose cells have the change from the first arm beneath them,
and a table of the statements that took most time. Never: judges a figure, or computes an estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import TYPE_CHECKING

from pgassay.analysis.model import Comparison
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.reading.plain_text import one_line
from pgassay.analysis.verdicts.model import ArmSummary
from pgassay.language import Message, colon, decimals, tr
from pgassay.quantities import milliseconds, plain_number, significant
from pgassay.report.context import ReportContext
from pgassay.report.document.table import Cell, Column, Table, column, row_of, view
from pgassay.report.tables.by_arm import arm_columns
from pgassay.report.tables.cells import (
    ABSENT,
    change,
    interval_of,
    is_in_per_cent,
    measured,
    valued,
    with_interval,
    written,
)
from pgassay.report.tables.infrastructure import disk_titles, host_table, speed_table

if TYPE_CHECKING:  # a report of an ordinary run loads nothing of that room before it has a view
    from pgassay.analysis.classic.model import ClassicArm, ClassicView

Line = tuple[str | Cell, Sequence[Cell]]
"""What is measured, and its value in each arm."""

_LOAD = ("tps", "response_mean", "latency_mean", "latency_p95", "latency_p99", "failed_share")
_SERVER = (
    "blocks_hit_per_tx",
    "blocks_read_per_tx",
    "blocks_dirtied_per_tx",
    "temp_bytes_per_tx",
    "wal_bytes_per_tx",
    "server_cpu_ms_per_tx",
)
_NOTHING = 0.0005
"""Milliseconds of a transaction below which a wait class has no row."""
_MOST_STATEMENTS = 5
"""Of each arm."""
_WIDTH = 90


def profile_table(context: ReportContext) -> Table:
    """Returns the whole profile, in groups."""
    load = (tr("Load"), _metrics(context, _LOAD)), (tr("A transaction’s time"), _time(context))
    return _table(context, (*load, *_machine(context)))


def machine_table(context: ReportContext) -> Table:
    """Returns the part of the profile that is of the server and its host, without details."""
    return _table(context, _machine(context, details=False))


def _table(context: ReportContext, groups: Iterable[tuple[str, Iterable[Line]]]) -> Table:
    columns = (
        Column(Message("Of"), "group", name="of"),
        Column(Message("Measured"), "heading"),
        *arm_columns(context),
    )
    rows = (row_of((group, title, *cells)) for group, lines in groups for title, cells in lines)
    return Table(columns, tuple(rows), label=tr("Side by side"))


def _machine(
    context: ReportContext, *, details: bool = True
) -> Iterator[tuple[str, Iterable[Line]]]:
    yield tr("Server"), _server(context, details=details)
    yield from _resources(context, details=details)


def _time(context: ReportContext) -> Iterator[Line]:
    """The wait classes that any arm has."""
    every = [one.name for one in METRICS.values() if one.group == "waits"]
    arms = context.analysis.answer.arms
    yield from _metrics(
        context,
        [n for n in every if any(abs(arm.means.get(n, 0.0)) >= _NOTHING for arm in arms)],
    )


def _server(context: ReportContext, *, details: bool) -> Iterator[Line]:
    found, _ = speed_table(context, details=details).without_zeros()
    yield from (_plain(row.cells) for row in found.rows)
    yield from _classic(
        context,
        tr("Shared buffers, hit ratio"),
        lambda arm: valued(arm.buffers.hit_pct, lambda value: f"{decimals(value, '.1f')} %"),
    )
    yield from _classic(
        context,
        tr("Type of the load, by shared buffers"),
        lambda arm: valued(arm.buffers.load, tr),
    )
    yield from _metrics(context, _SERVER)


def _resources(context: ReportContext, *, details: bool) -> Iterator[tuple[str, Iterable[Line]]]:
    """The figures of the host that are not zero everywhere; of a disk also what bounds it."""
    found, _ = host_table(context, details=details).without_zeros()
    disks = {title: disk for disk, title in disk_titles(context).items()}
    for of, rows in groupby(found.rows, lambda row: row[0]):
        lines = [_plain(row.cells[1:]) for row in rows]
        if of in disks:
            lines += _classic(context, tr("Type of the load, by this disk"), _load_of(disks[of]))
        yield of, lines


def _plain(cells: Sequence[Cell]) -> Line:
    return cells[0], [replace(cell, style="") for cell in cells[1:]]


def _load_of(disk: str) -> Callable[[ClassicArm], Cell]:
    def cell(arm: ClassicArm) -> Cell:
        return valued(next((one.load for one in arm.disks if one.disk == disk), None), tr)

    return cell


def _arms(context: ReportContext) -> Sequence[ArmSummary]:
    return context.analysis.answer.arms


def _classic(
    context: ReportContext, title: str, cell: Callable[[ClassicArm], Cell]
) -> Iterator[Line]:
    """A row of the classic view, if any arm has a value."""
    if context.analysis.classic is None:
        return
    of = {one.arm: cell(one) for one in context.analysis.classic.arms}
    cells = [of.get(arm.id, Cell(ABSENT)) for arm in context.analysis.answer.arms]
    if any(one.is_filled for one in cells):
        yield title, cells


def _metrics(context: ReportContext, names: Iterable[str]) -> Iterator[Line]:
    """Metrics that any arm has, with the changes of a single factor."""
    factors, arms = context.plan.factors, _arms(context)
    compared = {
        (one.metric, level): one
        for one in context.analysis.answer.comparisons
        if one.step is None and len(factors) == 1
        for level in (one.baseline, one.level)
    }
    for metric in (METRICS[name] for name in names):
        if any(metric.name in arm.means for arm in arms):
            levels = [arm.levels[factors[0].name] if factors else "" for arm in arms]
            cells = [
                _metric(metric, arm, compared.get((metric.name, level)))
                for arm, level in zip(arms, levels, strict=True)
            ]
            if any(cell.value for cell in cells):
                yield metric.title, cells


def _metric(metric: Metric, arm: ArmSummary, one: Comparison | None) -> Cell:
    """With its change, and with the mean that the change is of."""
    if one is None:
        return measured(arm.means.get(metric.name), metric)
    if arm.levels[one.factor] == one.baseline:
        return measured(one.baseline_mean, metric)
    return replace(measured(one.level_mean, metric), note=_change(one))


def _change(one: Comparison) -> str:
    if one.ci95_pct is not None and is_in_per_cent(one):
        return with_interval(one.effect_pct, one.ci95_pct)
    return f"{change(one)} ({interval_of(one)})" if one.ci95 is not None else change(one)


def _speed(arm: ClassicArm) -> str | None:
    found = next((one.median for one in arm.figures if one.name == "speed"), None)
    return None if found is None else plain_number(found / 1e3)


def classic_facts(view: ClassicView | None) -> list[tuple[str, str]]:
    """Returns speed, hit ratio and types of the load of an observation, which is one arm."""
    found: list[tuple[str, str | None]] = []
    for arm in view.arms if view else ():
        hit = arm.buffers.hit_pct
        found += [
            (tr("SPEED (calls + rows), thousand per minute"), _speed(arm)),
            (tr("Shared buffers, hit ratio"), None if hit is None else f"{decimals(hit, '.1f')} %"),
            (tr("Type of the load, by shared buffers"), arm.buffers.load and tr(arm.buffers.load)),
            *(
                (f"{one.disk}{colon()}{tr('Type of the load, by this disk')}", tr(one.load))
                for one in arm.disks
                if one.load
            ),
        ]
    return [(name, value) for name, value in found if value]


_COLUMNS = (
    column("arm", "Arm", lambda row: row["arm"], "group"),
    column("statement", "Statement", lambda row: Cell(row["statement"], "code"), "heading"),
    written("share_pct", "Share of the time", lambda share: f"{decimals(share, '.0f')} %"),
    written("mean_ms", "Per call", milliseconds),
    written("calls_per_tx", "Calls per transaction", significant),
    written("read_per_call", "Blocks read per call", plain_number),
)


def top_statements(context: ReportContext) -> Table:
    """Returns the statements that took most of each arm's execution time."""
    used = context.analysis.explanation.statement_use
    labels = {arm.id: arm.label for arm in context.plan.arms}
    rows = []
    for arm in dict.fromkeys(costs.arm for one in used for costs in one.by_arm):
        own = [(one, costs) for one in used for costs in one.by_arm if costs.arm == arm]
        ranked = sorted(own, key=lambda pair: -pair[1].share_pct)[:_MOST_STATEMENTS]
        rows += [
            {
                **asdict(costs),
                "arm": labels.get(arm, arm),
                "statement": one_line(one.text, _WIDTH) or one.queryid,
            }
            for one, costs in ranked
            if costs.calls_per_tx
        ]
    return view(_COLUMNS, rows)
