"""The JSON Schemas of what pgassay prints, made of the code's own types.

Enters: nothing. Leaves: schemas. Never: forbids further keys, which later versions may add.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache

from pgassay.analysis.compare.model import Comparison, Estimate, Interaction, SimpleEffect, Trend
from pgassay.analysis.gates.model import GateCheck
from pgassay.analysis.model import (
    SCHEMA,
    Analysis,
    Answer,
    Behaviour,
    Explanation,
    RunNoise,
    TrialMeasures,
    not_stored,
)
from pgassay.analysis.noise.model import Calibration
from pgassay.findings.answer.ending import Ending
from pgassay.findings.model import Finding
from pgassay.findings.noise.fitness import Fitness
from pgassay.notes import Note
from pgassay.report.objects.recorded_schemas import (
    ROOTS,
    history_schema,
    incidents_schema,
    periods_schema,
)
from pgassay.report.objects.run import ENDPOINT_FIELDS, ESTIMATE_FIELDS, LIMITS, VERDICT_FIELDS
from pgassay.report.objects.run import SCHEMA as RUN_SCHEMA
from pgassay.report.objects.schema_types import (
    COUNT,
    NUMBER,
    OBJECT,
    REF,
    TEXT,
    Schema,
    Types,
    checked,
    gates_schema,
    list_of,
    object_of,
    or_null,
    used,
)

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_COMPARED = ("metric", "factor", "baseline", "level", "step")
_ROOTS = (
    Analysis,
    Answer,
    Behaviour,
    Calibration,
    Comparison,
    Ending,
    Estimate,
    Explanation,
    Finding,
    GateCheck,
    Interaction,
    RunNoise,
    SimpleEffect,
    Trend,
    TrialMeasures,
    *ROOTS,
)


@cache
def json_schema(name: str) -> Schema:
    """The schema of an object of `_OBJECTS`, which takes a second; callers do not change it."""
    types = Types(_ROOTS)
    title, properties = _OBJECTS[name](types)
    properties = {"schema": {"const": title}, **properties}
    whole = {"$schema": _DIALECT, "title": title, **checked(object_of(properties))}
    return {**whole, "$defs": used(whole, checked(types.definitions))}


def _analysis(types: Types) -> tuple[str, Schema]:
    compared = types.some(Comparison, _COMPARED)
    own_finding = types.of(Finding)
    finding = {
        **{name: one for name, one in own_finding.items() if name != "claim"},
        "title": TEXT,
        "note": or_null({"$ref": f"{REF}{Note.__name__}"}),
        "comparison": or_null(object_of(compared)),
    }
    return SCHEMA, {
        "pgassay": TEXT,
        "pgassay_commit": TEXT,
        "summary": OBJECT,
        "run": TEXT,
        **_parts(types),
        "findings": list_of(object_of(finding)),
        "ending": object_of(types.of(Ending)),
        "environment": OBJECT,
        "command": TEXT,
        "gates": gates_schema(types),
    }


def _parts(types: Types) -> Schema:
    """The fields of an analysis, whose parts stand side by side."""
    found: Schema = {}
    for part in (Answer, Behaviour, Explanation):
        absent = {one.name for one in dataclasses.fields(part) if not_stored(one)}
        own = types.of(part).items()
        found |= {name: schema for name, schema in own if name not in absent}
    noise = types.of(RunNoise)
    return {
        **found,
        "noise": noise["floor"],
        "calibration": noise["calibration"],
        "classic": types.of(Analysis)["classic"],
        "earlier_runs": {"type": "integer"},
    }


_NO_EVIDENCE: Schema = {"e_value": {"type": "null"}}


def _run(types: Types) -> tuple[str, Schema]:
    of_analysis = _parts(types)
    estimate = {**types.some(Estimate, ESTIMATE_FIELDS), **_NO_EVIDENCE}
    judged = {**estimate, **types.some(Estimate, ("blocks_to_decide",))}
    endpoint = {**types.some(Comparison, ENDPOINT_FIELDS), "margin_pct": NUMBER}
    verdict = {
        **types.some(Comparison, VERDICT_FIELDS),
        **_NO_EVIDENCE,
        "badge": TEXT,
        "endpoints": list_of(object_of(endpoint)),
        **{name: or_null(of_analysis[name]["items"]) for name in LIMITS},
    }
    interaction = ("metric", "factor", "level", "other", "at", "aliases", "verdict")
    trend = ("metric", "factor", "lowest", "highest", "per_doubling_pct", "verdict")
    simple = ("factor", "level", "other", "at")
    invalid = types.some(TrialMeasures, ("number", "block", "arm", "repeats"))
    fitness = {"enum": [one.value for one in Fitness]}
    calibration = {**types.of(Calibration), "fitness": fitness}
    return RUN_SCHEMA, {
        "run": TEXT,
        "blocks": COUNT,
        "trials": COUNT,
        "verdicts": list_of(object_of(verdict)),
        "accounting": of_analysis["accounting"],
        "interactions": list_of(object_of(types.some(Interaction, interaction) | judged)),
        "simple_effects": list_of(object_of(types.some(SimpleEffect, simple) | estimate)),
        "trends": list_of(object_of(types.some(Trend, trend) | judged)),
        "by_server": of_analysis["by_server"],
        "warnings": list_of(TEXT),
        "not_seen": list_of(OBJECT),
        "invalid_trials": list_of(object_of({**invalid, "reasons": list_of(TEXT)})),
        "calibration": or_null(object_of(calibration)),
        "variants": of_analysis["variants"],
        "gates": gates_schema(types),
    }


_OBJECTS: Mapping[str, Callable[[Types], tuple[str, Schema]]] = {
    "run": _run,
    "analysis": _analysis,
    "history": history_schema,
    "periods": periods_schema,
    "incidents": incidents_schema,
}
