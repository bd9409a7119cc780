"""What a run answers, as tables: verdicts, every comparison, several factors, parts of the time.

Enters: the context. Leaves: tables. Never: computes an estimate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pgassay.analysis.compare.model import Comparison
from pgassay.analysis.model import Analysis
from pgassay.analysis.reading.metrics import BLOCKS, METRICS, P95
from pgassay.findings.answer.endpoints import badge
from pgassay.findings.answer.limits import collapses, losses
from pgassay.language import clauses
from pgassay.report.context import ReportContext
from pgassay.report.data_tables.model import table_of
from pgassay.report.document.table import Table


def answer_tables(context: ReportContext) -> Iterator[Table]:
    """Yields the tables of verdicts and of what explains them, in the order of the report."""
    analysis = context.analysis
    yield table_of("verdicts", _verdicts(context))
    yield table_of("queries", _queries(context))
    yield table_of("gates", _gates(context))
    yield table_of("by_half", analysis.behaviour.by_half)
    yield table_of("comparisons", map(_comparison, analysis.answer.comparisons))
    yield table_of("block_effects", _block_effects(context))
    yield table_of("interactions", analysis.answer.interactions)
    yield table_of("simple_effects", analysis.answer.simple_effects)
    yield table_of("trends", analysis.answer.trends)
    labels = context.labels
    effects = ({**vars(one), "label": labels[one.arm]} for one in analysis.answer.arm_effects)
    yield table_of("arm_effects", effects)
    yield table_of("server_effects", server_effects(context))
    yield table_of("time_parts", _parts(context))


def _verdicts(context: ReportContext) -> Iterator[dict[str, Any]]:
    """Yields the primary metric's rows, and beneath each the endpoints beside it."""
    analysis = context.analysis
    sentences = {one.comparison: one.text for one in context.findings if one.comparison is not None}
    for one, beside in analysis.answer.judged():
        margin = analysis.answer.smallest_effect if beside is None else beside.margin
        yield {
            **_comparison(one),
            "endpoint": "primary" if beside is None else "beside",
            "badge": str(badge(one, analysis)) if beside is None else None,
            "sentence": sentences.get(one) if beside is None else None,
            "margin_pct": 100.0 * margin,
            **(_limits(one, analysis) if beside is None else dict.fromkeys(_LIMITS)),
        }


def _queries(context: ReportContext) -> Iterator[dict[str, Any]]:
    if (found := context.analysis.queries) is None:
        return
    for one in found.effects:
        yield {
            **vars(one),
            "margin_pct": 100.0 * one.margin,
            "calls": (one.weight or None) if found.weighted else None,
            "gained_ms": one.gained_ms,
            "buffers_change": one.cost_changes.get(BLOCKS),
            "p95": one.cost_changes.get(P95),
            "reasons": one.plan_change and clauses(map(str, one.plan_change.reasons)),
        }


_LIMITS = ("lost_trials", "lost_of", "lost_tip_pct", "collapses_seen", "collapses_most_pct")


def _limits(verdict: Comparison, analysis: Analysis) -> dict[str, Any]:
    """Lost trials of the better level, and how often a level may collapse unseen."""
    lost, unseen = losses(verdict, analysis), collapses(verdict, analysis)
    ofs = (None,) * 3 if lost is None else (lost.lost, lost.planned, lost.tips_at_pct)
    rare = (None,) * 2 if unseen is None else (unseen.seen, unseen.most_pct)
    return dict(zip(_LIMITS, (*ofs, *rare), strict=True))


def _gates(context: ReportContext) -> Iterator[dict[str, Any]]:
    for result in context.gates:
        yield from ({"gate": result.gate, "of": check} for check in result.checks)


def _comparison(one: Comparison) -> dict[str, Any]:
    """A difference in the metric's unit is empty for metrics compared as ratios."""
    metric = METRICS[one.metric]
    in_unit = metric.scale == "difference"
    return {
        **vars(one),
        "title": metric.title,
        "unit": metric.unit,
        "difference": one.difference if in_unit else None,
        "ci95": one.ci95 if in_unit else None,
    }


def _block_effects(context: ReportContext) -> Iterator[dict[str, Any]]:
    for one in context.analysis.answer.comparisons:
        both = zip(one.block_effects_pct, one.block_raw_pct, strict=True)
        for nth, (effect, raw) in enumerate(both, 1):
            yield {**vars(one), "nth": nth, "effect_pct": effect, "raw_pct": raw}


def server_effects(context: ReportContext) -> Iterator[dict[str, Any]]:
    """Yields the effect on each server, with what it is `of`."""
    for one in context.analysis.answer.by_server:
        yield from ({"of": one, **vars(effect)} for effect in one.servers)


def _parts(context: ReportContext) -> Iterator[dict[str, Any]]:
    for one in context.analysis.answer.accounting:
        yield from ({"of": one, **vars(part)} for part in (*one.parts, one.whole))
