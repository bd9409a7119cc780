"""What was sampled of the host, of wait events and at each load, by arm, as tables.

Enters: the context. Leaves: tables. Never: computes an estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pgassay.analysis.sampled.model import HostFigure
from pgassay.report.context import ReportContext
from pgassay.report.data_tables.model import table_of
from pgassay.report.document.table import Table


def sampled_tables(context: ReportContext) -> Iterator[Table]:
    """Yields the tables of infrastructure, of speed, of wait events and of loads."""
    explanation = context.analysis.explanation
    yield table_of("infrastructure", _figures(explanation.infrastructure))
    yield table_of("speed", _figures(explanation.speed))
    yield table_of("wait_event_effects", _wait_events(context))
    yield table_of("loads", _loads(context))


def _figures(found: Iterable[HostFigure]) -> Iterator[dict[str, Any]]:
    for one in found:
        spreads = {each.arm: each for each in one.spreads}
        for figure in one.figures:
            if (spread := spreads.get(figure.arm)) is not None:
                of = {"figure": one.name, "device": one.device or None, "unit": one.unit}
                yield {**vars(figure), **vars(spread), **of}


def _wait_events(context: ReportContext) -> Iterator[dict[str, Any]]:
    for one in context.analysis.explanation.wait_events:
        queries = [query for query, _ in one.statements]
        for figure in one.figures:
            counts = {"samples": one.samples[figure.arm], "seen_in": one.trials[figure.arm]}
            yield {**vars(figure), **counts, "event": one.event, "queryids": queries}


def _loads(context: ReportContext) -> Iterator[dict[str, Any]]:
    for one in context.analysis.explanation.load_profiles:
        for name, value in one.values.items():
            of = {"figure": name, "value": value, "pools": [*map(_pool, one.pools.items())]}
            yield {**vars(one), **of, "step_unit": context.plan.step_unit}


def _pool(pool: tuple[str, int]) -> str:
    return f"{pool[0]} {pool[1]}"
