"""The `pgassay.compare/1` object.

Enters: the context of a comparison of runs. Leaves: JSON text. Never: writes an infinity.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from pgassay.analysis.apart.model import ApartAnalysis, RunDifference
from pgassay.findings.apart.verdicts import badge_of, caveats, limits, spread_of
from pgassay.report.context import ApartContext
from pgassay.report.environment import created_at, server_version
from pgassay.report.objects.gates import gates_object
from pgassay.report.objects.values import fields, finite
from pgassay.report.summaries.apart import condition_values
from pgassay.stored_notes import coded

SCHEMA = "pgassay.compare/1"
_FIGURES = (
    "metric",
    "step",
    "baseline_mean",
    "level_mean",
    "effect_pct",
    "ci95_pct",
    "difference",
    "ci95",
    "verdict",
    "p_by",
    "clear",
)


def render_apart_json(context: ApartContext) -> str:
    """Returns the comparison of runs made apart as JSON."""
    analysis = context.analysis
    value = {
        "schema": SCHEMA,
        "pgassay": context.version,
        "randomised": False,
        "metric": analysis.metric,
        "smallest_effect": analysis.smallest_effect,
        "baseline": analysis.sides[0].name,
        "runs": _runs(analysis),
        "arms": list(analysis.arms),
        "left_out": list(analysis.left_out),
        "verdicts": [
            {
                **_difference(one),
                "badge": str(badge_of(one, forced=bool(analysis.forced))),
                "collapses": None if one.collapses is None else asdict(one.collapses),
                "endpoints": [
                    {**_difference(found), "margin_pct": 100.0 * endpoint.margin}
                    for found, endpoint in analysis.beside(one)
                ],
            }
            for one in analysis.verdicts()
        ],
        "comparisons": [_difference(one) for one in analysis.differences],
        "differs": [
            {
                "group": one.group,
                **coded("name", one.name),
                "values": list(condition_values(one, "{:,.0f}".format)),
            }
            for one in analysis.conditions
        ],
        **coded("forced", analysis.forced),
        **coded("warnings", caveats(analysis)),
        **coded("limits", limits()),
        "gates": gates_object(analysis.gates),
    }
    return json.dumps(finite(value), ensure_ascii=False, allow_nan=False) + "\n"


def _runs(analysis: ApartAnalysis) -> list[dict[str, Any]]:
    return [
        {
            "side": side.name,
            "run": run.name,
            "started": created_at(run.environment) or None,
            "server": server_version(run.environment) or None,
            "question": run.plan.question,
            "trials": len(run.trials),
            "invalid_trials": run.invalid,
        }
        for side in analysis.sides
        for run in side.runs
    ]


def _difference(one: RunDifference) -> dict[str, Any]:
    spread = one.spread
    return {
        "side": one.side,
        "arm": one.arm,
        **fields(one.comparison, *_FIGURES),
        "withdrawn": one.comparison.withdrawn,
        "within_ci95_pct": one.within_pct,
        "within_ci95": one.within,
        "runs": list(one.runs),
        "sessions": None if one.sessions is None else list(one.sessions),
        "trials": list(one.trials),
        "spread": None
        if spread is None
        else {
            "sd": spread.sd,
            **coded("text", spread_of(spread, one.comparison)),
            "from": spread.source,
            "degrees": spread.degrees,
        },
    }
