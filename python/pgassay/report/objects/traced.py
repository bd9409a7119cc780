"""A trace as a JSON object.

Enters: the context. Leaves: a `pgassay.trace/1` object. Never: computes; values are those of the
analysis.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from pgassay.report.context import TraceContext
from pgassay.report.objects.values import finite
from pgassay.report.summaries.trace import caveats
from pgassay.samples.forms.trace import TraceFile

_DESCRIBED = ("server", "server_version", "ended_by", "what", "ways", "missing", "unmatched")
_BY_SECOND = ("times_ns", "tps_course", "courses")


def trace_object(run: str, context: TraceContext) -> dict[str, Any]:
    """Everything but the courses by second, which are in the Parquet files."""
    summary, described = asdict(context.traced), context.described.to_json()
    for name in _BY_SECOND:
        del summary[name]
    found: dict[str, Any] = finite(
        {
            "schema": TraceFile.schema_name(),
            "run": run,
            **{name: described[name] for name in _DESCRIBED},
            **summary,
            "cost": described["cost"],
            "warnings": caveats(context),
        }
    )
    return found


def render_trace_object(context: TraceContext) -> str:
    """Return the object of a trace as JSON text."""
    found = trace_object(context.run_name, context)
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
