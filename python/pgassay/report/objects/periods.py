"""The `pgassay.periods/1` object.

Enters: the context of two periods of observations. Leaves: JSON text. Never: writes an infinity.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from pgassay.analysis.observation.periods.model import Difference, PeriodsAnalysis
from pgassay.findings.observation.periods import limits, overall, sentence_of
from pgassay.report.context import PeriodsContext
from pgassay.report.objects.values import finite
from pgassay.stored_notes import coded

SCHEMA = "pgassay.periods/1"


def render_periods_json(context: PeriodsContext) -> str:
    """Returns a comparison of two periods as JSON."""
    analysis = context.analysis
    value = {
        "schema": SCHEMA,
        "pgassay": context.version,
        "randomised": False,
        "periods": [asdict(one) for one in analysis.periods],
        "usual": {"from": analysis.source, "pairs": analysis.pairs},
        **coded("summary", overall(analysis)),
        "differences": [_difference(one, analysis) for one in _ordered(analysis)],
        "settings": [asdict(one) for one in analysis.settings],
        **coded("limits", tuple(limits(analysis))),
    }
    return json.dumps(finite(value), ensure_ascii=False, allow_nan=False) + "\n"


def _ordered(analysis: PeriodsAnalysis) -> tuple[Difference, ...]:
    """What is unusual first, as the report has it."""
    return analysis.unusual + tuple(one for one in analysis.differences if not one.is_unusual)


def _difference(one: Difference, analysis: PeriodsAnalysis) -> dict[str, Any]:
    figure, usual = one.figure, one.usual
    return {
        "figure": figure.name,
        "group": figure.group,
        "of": figure.thing,
        "text": analysis.texts.get(figure.thing) if figure.group == "statements" else None,
        "title": str(figure.title),
        "unit": figure.unit,
        "good": figure.good,
        "first": one.first,
        "second": one.second,
        "change_pct": one.change_pct,
        "times_usual": one.times_usual,
        "p": one.p,
        "unusual": one.is_unusual,
        "usual": None if usual is None else asdict(usual),
        **(coded("sentence", sentence_of(one, analysis)) if one.is_unusual else {}),
    }
