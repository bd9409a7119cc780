"""An observation as JSON objects: everything (analysis.json), or a summary (`observe --json`).

Enters: what was observed. Leaves: `pgassay.observed/1` objects.
Never: computes; values are those of the analysis.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from pgassay.analysis.methods.model import ObservedCell
from pgassay.report.context import ObservationContext
from pgassay.report.objects.analysis import finding_object
from pgassay.report.objects.incidents import incidents_object
from pgassay.report.objects.values import fields, finite
from pgassay.report.summaries.observation import caveats
from pgassay.stored_notes import note_to_json

SCHEMA = "pgassay.observed/1"


def render_object(context: ObservationContext) -> str:
    """JSON with everything, courses among it."""
    value = {
        "schema": SCHEMA,
        "run": context.run_name,
        **context.described.model_dump(exclude={"schema_"}),
        "pgassay": context.version,
        **asdict(context.observed),
        "diagnosis": list(map(finding_object, context.findings)),
        "incidents": _incidents(context),
        "methods": [_cell(one) for one in context.methods],
        "warnings": list(map(str, context.observed.notes)),
        "notes": list(map(note_to_json, context.observed.notes)),
        "environment": dict(context.environment.given),
    }
    return json.dumps(finite(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def summary_object(run: str, context: ObservationContext) -> dict[str, Any]:
    """The object of `pgassay observe --json`: no courses."""
    observed, described = context.observed, context.described
    found: dict[str, Any] = finite(
        {
            "schema": SCHEMA,
            "run": run,
            "server": described.server,
            "seconds": observed.seconds,
            "ended_by": described.ended_by,
            "changed_settings": [one.model_dump() for one in described.changed_settings],
            **fields(observed, "commits", "averages", "largest"),
            "unknown": {name: asdict(one) for name, one in observed.unknown.items()},
            **fields(observed, "active_sessions", "classes", "events", "sampled_waits"),
            "diagnosis": list(map(finding_object, context.findings)),
            "incidents": _incidents(context),
            "checkpoints": len(observed.checkpoints),
            "logged": observed.logged,
            "host": None if observed.host is None else asdict(observed.host),
            "gaps_s": [(end - start) / 1e9 for start, end in observed.gaps_ns],
            "dropped_segments": described.dropped_segments,
            "sampler_cost": observed.cost,
            "clock": observed.clock,
            "warnings": caveats(context),
            "not_seen": [dict(one.given) for one in context.environment.not_seen],
        }
    )
    return found


def _cell(one: ObservedCell) -> dict[str, Any]:
    cell = one.cell
    return {
        **fields(cell, "method", "kind", "unit", "not_measured"),
        "of": str(cell.of),
        "title": str(cell.title),
        "mean": one.mean if one.values else None,
        "windows": one.values,
    }


def _incidents(context: ObservationContext) -> dict[str, Any] | None:
    return None if context.incidents is None else incidents_object(context.incidents)
