"""The `pgassay.history/1` object.

Enters: the context of a history of runs. Leaves: JSON text. Never: writes an infinity.
"""

from __future__ import annotations

import json
from typing import Any

from pgassay.analysis.history.model import Change, HistoryAnalysis, Series
from pgassay.analysis.statistics.values import Estimate
from pgassay.findings.history.levels import caveats, limits, sentence_of
from pgassay.report.context import HistoryContext
from pgassay.report.environment import created_at, server_version
from pgassay.report.objects.gates import gates_object
from pgassay.report.objects.values import finite
from pgassay.report.summaries.apart import condition_values
from pgassay.stored_notes import coded

SCHEMA = "pgassay.history/1"


def render_history_json(context: HistoryContext) -> str:
    """Returns a history of runs as JSON."""
    analysis, judged = context.analysis, context.analysis.judged
    value = {
        "schema": SCHEMA,
        "pgassay": context.version,
        "randomised": False,
        "metric": analysis.metric,
        "endpoints": list(analysis.endpoints),
        "smallest_effect": analysis.smallest_effect,
        "arms": list(analysis.arms),
        "runs": [
            {
                "run": run.name,
                "started": created_at(run.environment) or None,
                "start_ns": run.trials[0].whole.start_ns,
                "server": server_version(run.environment) or None,
                "trials": len(run.trials),
                "invalid_trials": run.invalid,
            }
            for run in analysis.runs
        ],
        "left_out": [{"run": one.name, **coded("why", one.why)} for one in analysis.left_out],
        "series": [_series(one, analysis) for one in analysis.series],
        **coded("warnings", tuple(caveats(analysis))),
        **coded("limits", limits()),
        "gates": gates_object(context.gates),
        "judged": None
        if judged is None
        else {"latest": list(judged.latest), "against": list(judged.against)},
    }
    return json.dumps(finite(value), ensure_ascii=False, allow_nan=False) + "\n"


def _series(one: Series, analysis: HistoryAnalysis) -> dict[str, Any]:
    is_main = one.metric in (analysis.metric, *analysis.endpoints)
    return {
        "arm": one.arm,
        "metric": one.metric,
        "points": [
            {"run": analysis.runs[place].name, **_estimate(point)}
            for place, point in zip(one.runs, one.points, strict=True)
        ],
        "levels": [
            {"mean": mean, "first_run": analysis.runs[one.runs[begin]].name}
            for mean, begin in zip(one.means, one.levels.begins, strict=True)
        ],
        "inertia": one.levels.inertia,
        "changes": [_change(change, analysis) for change in one.changes],
        **(coded("sentence", sentence_of(one, analysis)) if is_main else {}),
    }


def _change(one: Change, analysis: HistoryAnalysis) -> dict[str, Any]:
    names = [run.name for run in analysis.runs]
    return {
        "first_run": names[one.first],
        "earliest_run": names[one.earliest],
        "latest_run": names[one.latest],
        "before": one.before,
        "after": one.after,
        "unit": "%" if one.is_percent else "",
        "change": one.change.value,
        "ci95": [one.change.low, one.change.high],
        "differs": [
            {
                "group": found.group,
                **coded("name", found.name),
                "values": list(condition_values(found, "{:,.0f}".format)),
            }
            for found in one.conditions
        ],
    }


def _estimate(point: Estimate) -> dict[str, Any]:
    return {"value": point.value, "ci95": [point.low, point.high]}
