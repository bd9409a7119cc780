"""The `pgassay.incidents/1` object.

Enters: the context of the incidents of an observation. Leaves: JSON text.
Never: writes an infinity.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from pgassay.analysis.observation.incidents.model import Incident, Incidents
from pgassay.findings.incidents.signs import caveats, kind_of, sign_of, test_of
from pgassay.report.context import IncidentsContext
from pgassay.report.objects.values import finite
from pgassay.stored_notes import coded

SCHEMA = "pgassay.incidents/1"


def render_incidents_json(context: IncidentsContext) -> str:
    """Returns the incidents of an observation as JSON."""
    value = {
        "schema": SCHEMA,
        "pgassay": context.version,
        "run": context.run_name,
        "server": context.described.server,
        **incidents_object(context.incidents),
    }
    return json.dumps(finite(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def incidents_object(found: Incidents) -> dict[str, Any]:
    """Returns the incidents without their course; sentences beside codes with values."""
    return {
        "start_ns": found.start_ns,
        "end_ns": found.end_ns,
        "read_s": found.read_s,
        "slice_s": found.width_s,
        "usual_days": found.days,
        **coded("caveats", tuple(caveats(found))),
        "incidents": [_incident(one) for one in found.found],
    }


def _incident(one: Incident) -> dict[str, Any]:
    return {
        "kind": one.kind,
        **coded("title", kind_of(one)),
        "seconds": one.seconds,
        **asdict(one),
        "signs": [{**asdict(sign), **coded("sentence", sign_of(sign))} for sign in one.signs],
        **coded("test", test_of(one)),
    }
