"""The verdict of every query: a chart and one table, the most important query first.

Enters: the context. Leaves: what the set says as a whole, a chart, a table; the most important
queries alone for a terminal. Never: decides a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pgassay.analysis.compare.model import Verdict
from pgassay.analysis.queries.model import QueryEffect, QueryFailures, QuerySet, SetSummary
from pgassay.analysis.reading.metrics import METRICS, P95
from pgassay.findings.answer.queries import counts_of
from pgassay.findings.wording import measured
from pgassay.language import Message, clauses, listed, ntr, tr
from pgassay.quantities import count, duration, milliseconds, size
from pgassay.report.charts.effects.queries import queries_chart
from pgassay.report.charts.style import TONES
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart, Facts, Fold, Heading, note
from pgassay.report.document.captions import cut
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, Table, column, view
from pgassay.report.document.text import joined, texts_of
from pgassay.report.sections.queries.price import price_rows
from pgassay.report.tables.cells import (
    ABSENT,
    subject,
    tone_cell,
    whole,
    with_interval,
    written,
)

sentence = texts_of(__name__)

_MOST_ON_A_TERMINAL = 10
_ENDS = 5
"""Queries that are shown at either end, where there are many."""
_DIRECTIONS = {Verdict.WORSE: -1, Verdict.BETTER: 1}
_TIME = METRICS["queries_mean"]


@section("queries/verdicts", "Every query")
def verdicts(context: ReportContext) -> Blocks:
    """The queries of a set, by level; nothing for other loads."""
    found = context.analysis.queries
    if found is None:
        return
    for at, one in enumerate(found.summaries):
        effects = found.of(one.factor, one.level)
        yield Heading(subject(one)) if len(found.summaries) > 1 else None
        yield Facts([*_as_a_whole(context, found, one), *price_rows(context, one)])
        if chart := queries_chart(effects):
            label = str(counts_of(found, one))
            caption = joined(sentence("each_row_is_a", n=found.simultaneous), *cut(chart))
            yield Chart(f"queries-{at}", chart, label, "" if at else caption, has_table=True)
        yield from _ends_first(effects, weighted=found.weighted)
    yield note(sentence("times_are_geometric"), found.weighted and _of_calls(context, found))


def most_important(context: ReportContext) -> Blocks:
    """Yields, for a terminal, only the queries of each level that gain or lose most."""
    found = context.analysis.queries
    if found is None:
        return
    for one in found.summaries:
        yield Heading(subject(one)) if len(found.summaries) > 1 else None
        yield Facts([*_as_a_whole(context, found, one), *price_rows(context, one)])
        effects = found.of(one.factor, one.level)[:_MOST_ON_A_TERMINAL]
        yield query_table(effects, weighted=found.weighted)


def _ends_first(effects: Sequence[QueryEffect], *, weighted: bool) -> Blocks:
    """All in one table; of more than ten the five worst and the five best, the others folded."""
    if len(effects) <= 2 * _ENDS:
        yield query_table(effects, weighted=weighted)
        return
    ranked = sorted(effects, key=_goodness)
    ends = [*ranked[:_ENDS], *ranked[-_ENDS:]]
    between = [one for one in effects if one not in ends]
    yield query_table(ends, weighted=weighted, among=effects)
    summary = ntr("{n} query between these", "{n} queries between these", len(between))
    folded = query_table(between, weighted=weighted, among=effects)
    yield Fold(summary, [folded], in_details=True)


def _goodness(one: QueryEffect) -> tuple[int, float]:
    """By verdict, then by the time gained in all calls; a query that fails at one of the levels is
    at either end."""
    direction = _DIRECTIONS.get(one.verdict, 0)
    return direction, one.gained_ms if one.ci95_pct else direction * math.inf if direction else 0.0


def query_table(
    effects: Sequence[QueryEffect], *, weighted: bool = False, among: Sequence[QueryEffect] = ()
) -> Table:
    """The effects on queries in their order, a row each; the columns are those of all that they are
    `among`."""
    every = among or effects
    has_temp = any(one.costs.temp or one.baseline_costs.temp for one in every)
    has_runs = len({one.blocks for one in every}) > 1
    changes = [(name, change) for one in every for name, change in one.cost_changes.items()]
    known = {name for name, change in changes if change.differs or name == P95}
    beside = {name: name in known for name in _BESIDE}
    table = view(_COLUMNS, effects).only_if(weight=weighted, temp=has_temp, runs=has_runs, **beside)
    return table.filled("blocks", "plan")


def _of_calls(context: ReportContext, found: QuerySet) -> str:
    """Where the calls are from, and how many queries have none."""
    counted = context.environment.query_calls
    of_files = len(context.plan.queries.calls) if context.plan.queries else 0
    known = {one.query for one in found.effects if one.weight}
    unknown = len({one.query for one in found.effects} - known)
    if counted is None:
        source = sentence("calls_are_of_files")
    elif (hours := counted.hours_until(context.environment.created_at)) is None:
        source = sentence("calls_are_counted")
    else:
        source = sentence("calls_are_counted_for", time=duration(3600.0 * hours))
    if counted is not None and of_files:
        source += " " + sentence("calls_of_an_hour", n=of_files)
    others = sentence("without_calls", n=unknown)
    return f"{source} {others}" if unknown else source


def _total(context: ReportContext, found: QuerySet) -> tuple[str, float, Callable[[float], str]]:
    """The title of the whole time, by what it is divided, and how it is written: that of an hour
    where calls were counted for some time, else of all calls, or of each query once."""
    if not found.weighted:
        return tr("Time of each query once"), 1.0, milliseconds
    counted = context.environment.query_calls
    if counted is not None:
        hours = counted.hours_until(context.environment.created_at)
        if hours is not None:
            return tr("Time of an hour’s calls"), hours, _seconds
    return tr("Time of all calls"), 1.0, _seconds


def _seconds(ms: float) -> str:
    return duration(ms / 1000.0)


def _as_a_whole(context: ReportContext, found: QuerySet, one: SetSummary) -> list[tuple[str, str]]:
    rows = [(tr("Queries"), str(counts_of(found, one)))]
    if one.mean_pct is not None:
        rows += [(tr("Geometric mean"), with_interval(one.mean_pct, one.mean_ci95_pct))]
    if one.total_ms is not None and one.baseline_total_ms is not None:
        title, parts, write = _total(context, found)
        times = " → ".join(write(ms / parts) for ms in (one.baseline_total_ms, one.total_ms))
        change = with_interval(one.total_pct, one.total_ci95_pct)
        rows += [(title, clauses((times, change)))]
    return rows


def _verdict(one: QueryEffect) -> Cell:
    cell = tone_cell(one.verdict.value, TONES[one.verdict])
    sides = ((one.baseline, one.baseline_failures), (one.level, one.failures))
    beside = [_failures(level, own) for level, own in sides if own.failed]
    if one.answers_differ:
        beside.append(tr("returns other rows"))
    return Cell(cell.text, cell.style, note=clauses(beside))


def _failures(level: str, own: QueryFailures) -> str:
    return tr(
        "fails with {level} in {failed} of {trials} trials ({errors})",
        level=level,
        failed=own.failed,
        trials=own.trials,
        errors=listed(own.errors),
    )


def _change(one: QueryEffect) -> Cell:
    if one.change_pct is None:
        return Cell(ABSENT)
    return Cell(with_interval(one.change_pct, one.ci95_pct), "wraps", value=one.change_pct)


def _times(one: QueryEffect) -> Cell:
    if one.baseline_ms is None or one.ms is None:
        return Cell(ABSENT)
    return Cell(f"{_ms(one.baseline_ms)} → {_ms(one.ms)}", value=one.ms)


def _both(name: str) -> Callable[[QueryEffect], Cell]:
    """A cost with the baseline and with the level; once where it is the same."""

    def show(one: QueryEffect) -> Cell:
        before, after = getattr(one.baseline_costs, name), getattr(one.costs, name)
        if before is None or after is None:
            return Cell(ABSENT)
        shown = dict.fromkeys((count(before), count(after)))
        return Cell(" → ".join(shown), value=after)

    return show


def _beside(name: str, show: Callable[[float], str]) -> Callable[[QueryEffect], Cell]:
    """A cost with the baseline and with the level, and by how much it changes."""

    def cell(one: QueryEffect) -> Cell:
        change = one.cost_changes.get(name)
        if change is None:
            return Cell(ABSENT)
        shown = dict.fromkeys((show(change.baseline), show(change.level)))
        known = None if change.change_pct is None else change.ci95_pct
        words = "" if known is None else with_interval(change.change_pct, known)
        return Cell(" → ".join(shown), value=change.level, note=words if change.differs else "")

    return cell


def _ms(value: float) -> str:
    return str(measured(value, _TIME, with_unit=False))


def _plan(one: QueryEffect) -> Cell:
    if one.plan_differs is None:
        return Cell(ABSENT)
    reasons = () if one.plan_change is None else one.plan_change.reasons
    more = [f"+{len(reasons) - 1}"] if len(reasons) > 1 else []
    words = tr("changed") if one.plan_differs else tr("same")
    if one.plan_varies:
        words = clauses((words, tr("not in all trials")))
    return Cell(words, "plan", note=listed([*map(str, reasons[:1]), *more]))


_BESIDE = {
    P95: (Message("p95, ms"), Message("95th percentile of executions"), _ms),
    "rows": (Message("Rows"), Message("Rows that an execution returns"), count),
    "wal_bytes": (Message("WAL"), Message("WAL that an execution writes"), size),
    "dirtied": (Message("Dirtied"), Message("Blocks that an execution changed first"), count),
    "planning_ms": (Message("Planning, ms"), Message("Time of planning"), _ms),
}
"""Costs that are shown where they differ, percentiles wherever they are known."""
_COLUMNS = (
    written("query", "Query", str, "heading"),
    column("verdict", "Verdict", _verdict, "text"),
    column("change_pct", Message("Change (95\xa0% interval)"), _change),
    column("ms", Message("Time, ms"), _times),
    column("runs", "Run in blocks", lambda one: Cell(str(one.blocks), value=one.blocks)),
    column("weight", "Calls", lambda one: Cell(whole(one.weight) if one.weight else ABSENT)),
    column("blocks", "Blocks", _both("blocks"), full_title="Blocks of shared buffers asked for"),
    column("temp", "Temp", _both("temp"), full_title="Temporary blocks, read and written"),
    *(
        column(name, title, _beside(name, show), full_title=full)
        for name, (title, full, show) in _BESIDE.items()
    ),
    column("plan", "Plan", _plan, "text"),
)
