"""The JSON Schemas of `pgassay.run/1` and `pgassay.analysis/1`, made of the code's own types.

Enters: nothing. Leaves: schemas. Never: forbids further keys, which later versions may add.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import TypeAdapter

from pgassay.analysis.classic.model import ClassicView
from pgassay.analysis.compare.model import Comparison, Estimate, Interaction, SimpleEffect, Trend
from pgassay.analysis.gates.model import GateCheck, GateOutcome
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
from pgassay.report.objects.analysis import EMPTY, SENTENCES
from pgassay.report.objects.run import ENDPOINT_FIELDS, ESTIMATE_FIELDS, LIMITS, VERDICT_FIELDS
from pgassay.report.objects.run import SCHEMA as RUN_SCHEMA

Schema = dict[str, Any]
_REF = "#/$defs/"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT, _NUMBER, _COUNT = {"type": "string"}, {"type": "number"}, {"type": "integer"}
_NULL, _OBJECT = {"type": "null"}, {"type": "object"}
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
)
_OUTCOME = {"enum": [one.value for one in GateOutcome]}


def _adapter(of: type) -> TypeAdapter[Any]:
    """Makes the adapter of a type; models import `ClassicView` for the type checker alone."""
    made: TypeAdapter[Any] = TypeAdapter(of)
    made.rebuild(_types_namespace={"ClassicView": ClassicView})
    return made


class _Types:
    """The schemas of the code's types."""

    def __init__(self) -> None:
        adapters = [(one, "serialization", _adapter(one)) for one in _ROOTS]
        refs, found = TypeAdapter.json_schemas(adapters)  # type: ignore[arg-type]
        self.definitions: Schema = found["$defs"]
        for name, one in self.definitions.items():
            if name not in {of.__name__ for of in (Note, *SENTENCES)}:
                self.definitions[name] = _said(one)
        for of, (_, key) in SENTENCES.items():
            self.definitions[of.__name__]["properties"][key] = _TEXT
        for of, key in EMPTY:
            self.definitions[of.__name__]["properties"][key] = _TEXT
        self._names: Mapping[type, str] = {
            one: str(ref["$ref"]).removeprefix(_REF) for (one, _), ref in refs.items()
        }

    def of(self, one: type) -> Schema:
        """The properties of a type."""
        found: Schema = self.definitions[self._names[one]]["properties"]
        return found

    def some(self, one: type, names: Iterable[str]) -> Schema:
        """Return the named properties of a type."""
        every = self.of(one)
        return {name: every[name] for name in names}


def json_schema(name: str) -> Schema:
    """The schema of `run` or `analysis`."""
    types = _Types()
    title, properties = _OBJECTS[name](types)
    properties = {"schema": {"const": title}, **properties}
    whole = {"$schema": _DIALECT, "title": title, **_checked(_object(properties))}
    return {**whole, "$defs": _used(whole, _checked(types.definitions))}


def _analysis(types: _Types) -> tuple[str, Schema]:
    compared = types.some(Comparison, _COMPARED)
    own_finding = types.of(Finding)
    finding = {
        **{name: one for name, one in own_finding.items() if name != "claim"},
        "title": _TEXT,
        "note": _or_null({"$ref": f"{_REF}{Note.__name__}"}),
        "comparison": _or_null(_object(compared)),
    }
    return SCHEMA, {
        "pgassay": _TEXT,
        "pgassay_commit": _TEXT,
        "summary": _OBJECT,
        "run": _TEXT,
        **_parts(types),
        "findings": _list(_object(finding)),
        "ending": _object(types.of(Ending)),
        "environment": _OBJECT,
        "command": _TEXT,
        "gates": _gates(types),
    }


def _parts(types: _Types) -> Schema:
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


def _run(types: _Types) -> tuple[str, Schema]:
    of_analysis = _parts(types)
    estimate = {**types.some(Estimate, ESTIMATE_FIELDS), **_NO_EVIDENCE}
    judged = {**estimate, **types.some(Estimate, ("blocks_to_decide",))}
    endpoint = {**types.some(Comparison, ENDPOINT_FIELDS), "margin_pct": _NUMBER}
    verdict = {
        **types.some(Comparison, VERDICT_FIELDS),
        **_NO_EVIDENCE,
        "badge": _TEXT,
        "endpoints": _list(_object(endpoint)),
        **{name: _or_null(of_analysis[name]["items"]) for name in LIMITS},
    }
    interaction = ("metric", "factor", "level", "other", "at", "aliases", "verdict")
    trend = ("metric", "factor", "lowest", "highest", "per_doubling_pct", "verdict")
    simple = ("factor", "level", "other", "at")
    invalid = types.some(TrialMeasures, ("number", "block", "arm", "repeats"))
    fitness = {"enum": [one.value for one in Fitness]}
    calibration = {**types.of(Calibration), "fitness": fitness}
    return RUN_SCHEMA, {
        "run": _TEXT,
        "blocks": _COUNT,
        "trials": _COUNT,
        "verdicts": _list(_object(verdict)),
        "accounting": of_analysis["accounting"],
        "interactions": _list(_object(types.some(Interaction, interaction) | judged)),
        "simple_effects": _list(_object(types.some(SimpleEffect, simple) | estimate)),
        "trends": _list(_object(types.some(Trend, trend) | judged)),
        "by_server": of_analysis["by_server"],
        "warnings": _list(_TEXT),
        "not_seen": _list(_OBJECT),
        "invalid_trials": _list(_object({**invalid, "reasons": _list(_TEXT)})),
        "calibration": _or_null(_object(calibration)),
        "variants": of_analysis["variants"],
        "gates": _gates(types),
    }


def _said(schema: Any) -> Any:
    """With the sentence in place of a note."""
    if isinstance(schema, list):
        return [_said(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("$ref") == f"{_REF}{Note.__name__}":
        return _TEXT
    made = {key: _said(one) for key, one in schema.items()}
    if made.get("anyOf") == [_TEXT, _TEXT]:  # a note or a text
        return {key: one for key, one in made.items() if key != "anyOf"} | _TEXT
    return made


def _gates(types: _Types) -> Schema:
    ends = _or_null({"type": "array", "items": _NUMBER})
    check = {
        **types.some(Comparison, ("factor", "baseline", "level", "step")),
        **types.some(GateCheck, ("change", "unit", "outcome", "reason", "caught_pct")),
        "reason": _TEXT,
        "ci95": ends,
        "ci90": ends,
    }
    gate = {"gate": _TEXT, "metric": _TEXT, "outcome": _OUTCOME, "checks": _list(_object(check))}
    return _list(_object(gate))


_OBJECTS: Mapping[str, Callable[[_Types], tuple[str, Schema]]] = {
    "run": _run,
    "analysis": _analysis,
}


def _object(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, _NULL]}


def _checked(schema: Any) -> Any:
    """As JSON is written: every key of an object is there, a number that is not finite is null."""
    if isinstance(schema, list):
        return [_checked(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        key: {name: _checked(one) for name, one in inner.items()}
        if key == "properties"
        else _checked(inner)
        for key, inner in schema.items()
        if key not in ("title", "default")
    }
    if made.get("type") == "number":
        made["type"] = ["number", "null"]
    if "properties" in made:
        made["required"] = list(made["properties"])
    return made


def _used(schema: Any, definitions: Mapping[str, Schema]) -> Schema:
    """The definitions that a schema refers to, and those that they refer to."""
    names: list[str] = []
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            waiting += one.values()
            name = str(one.get("$ref", "")).removeprefix(_REF)
            if name and name not in names:
                names.append(name)
                waiting.append(definitions[name])
    return {name: definitions[name] for name in sorted(names)}
