"""What a run recorded, as tables: waits, statements, checkpoints, log, host, the classic view.

Enters: the context. Leaves: tables. Never: computes an estimate; means of arms are the analysis'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pgassay.analysis.host.columns import COLUMNS
from pgassay.analysis.model import HostWindow
from pgassay.report.context import ReportContext
from pgassay.report.data_tables.model import table_of
from pgassay.report.data_tables.trials import every_trial
from pgassay.report.document.table import Table

if TYPE_CHECKING:
    from pgassay.analysis.classic.model import ClassicArm


def recorded_tables(context: ReportContext) -> Iterator[Table]:
    """Yields the tables of what trials recorded, in the order of the report."""
    yield table_of("wait_events", _wait_events(context))
    yield table_of("statements", _statements(context))
    used = context.analysis.explanation.statement_use
    yield table_of("statement_effects", (effect for one in used for effect in one.effects))
    yield table_of("checkpoints", _checkpoints(context))
    yield table_of("log_events", _log_events(context))
    yield table_of(
        "host",
        (
            {**row, **_of(trial)}
            for trial in every_trial(context)
            if trial.host is not None
            for row in host_rows(trial.host)
        ),
    )
    classic = context.analysis.classic
    for name, rows in classic_rows(() if classic is None else classic.arms).items():
        yield table_of(name, rows)


def host_rows(window: HostWindow) -> Iterator[dict[str, Any]]:
    """A row for each column of vmstat and, for each device, of iostat."""
    when = {
        "trial": None,
        "block": None,
        "arm": None,
        "start_ns": window.start_ns,
        "duration_s": (window.end_ns - window.start_ns) / 1e9,
    }
    of_devices = (("iostat", device, figures) for device, figures in window.iostat.items())
    for program, device, figures in (("vmstat", None, window.vmstat), *of_devices):
        for one in COLUMNS[program]:
            yield {
                **when,
                "program": program,
                "device": device,
                "column": one.column,
                "value": figures[one.column],
                "unit": one.unit,
                "title": one.title,
            }


def classic_rows(arms: tuple[ClassicArm, ...]) -> Mapping[str, list[dict[str, Any]]]:
    """Table → its rows."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, part in _CLASSIC.items():
        found[f"classic_{name}"] = [
            {**vars(one), "arm": arm.arm} for arm in arms for one in getattr(arm, part)
        ]
    return found


_CLASSIC = {
    "figures": "figures",
    "trends": "trends",
    "correlations": "correlations",
    "waits": "weighted",
    "rules": "rules",
}
"""Table → field of an arm."""


def _of(one: Any) -> dict[str, Any]:
    return {"trial": one.number, "block": one.block, "arm": one.arm}


def _wait_events(context: ReportContext) -> Iterator[dict[str, Any]]:
    for one in context.series:
        for source, events in (("pgassay", one.events), ("pg_wait_sampling", one.sampled_waits)):
            for event, sessions in sorted(events.items(), key=lambda item: -item[1]):
                yield {**_of(one), "source": source, "event": event, "sessions": sessions}


def _statements(context: ReportContext) -> Iterator[dict[str, Any]]:
    for one in context.analysis.explanation.statement_use:
        for costs in one.by_arm:
            waits = [f"{event} {sessions:.4g}" for event, sessions in costs.waits]
            yield {
                **vars(costs),
                "queryid": one.queryid,
                "ranked": one.ranked,
                "waits": waits or None,
                "text": one.text or None,
            }


def _checkpoints(context: ReportContext) -> Iterator[dict[str, Any]]:
    for one in context.analysis.behaviour.checkpoint_rows:
        yield {**vars(one.checkpoint), **vars(one), "started_ns": None}


def _log_events(context: ReportContext) -> Iterator[dict[str, Any]]:
    for one in context.series:
        for event, count in (one.logged or {}).items():
            yield {**_of(one), "event": event, "count": count}
