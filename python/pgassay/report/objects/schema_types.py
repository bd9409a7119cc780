"""Parts of JSON Schemas, made of the code's own types.

Enters: types. Leaves: schemas. Never: forbids further keys, which later versions may add.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from pgassay.analysis.classic.model import ClassicView
from pgassay.analysis.compare.model import Comparison
from pgassay.analysis.gates.model import GateCheck, GateOutcome
from pgassay.notes import Note
from pgassay.report.objects.analysis import EMPTY, LEFT_OUT, SENTENCES
from pgassay.stored_notes import CODED

Schema = dict[str, Any]
REF = "#/$defs/"
TEXT, NUMBER, COUNT = {"type": "string"}, {"type": "number"}, {"type": "integer"}
BOOLEAN = {"type": "boolean"}
NULL, OBJECT = {"type": "null"}, {"type": "object"}
NOTE: Schema = {"type": "object", "properties": {"code": TEXT, "values": OBJECT}}
_OPTIONAL = "optional"
"""Marks keys of an object that may be absent, until `checked`."""
_OUTCOME = {"enum": [one.value for one in GateOutcome]}


def _adapter(of: type) -> TypeAdapter[Any]:
    """Makes the adapter of a type; models import `ClassicView` for the type checker alone."""
    made: TypeAdapter[Any] = TypeAdapter(of)
    made.rebuild(_types_namespace={"ClassicView": ClassicView})
    return made


class Types:
    """The schemas of the code's types."""

    def __init__(self, roots: Sequence[type]) -> None:
        adapters = [(one, "serialization", _adapter(one)) for one in roots]
        refs, found = TypeAdapter.json_schemas(adapters)  # type: ignore[arg-type]
        self.definitions: Schema = found["$defs"]
        for name, one in self.definitions.items():
            if name not in {of.__name__ for of in (Note, *SENTENCES)}:
                self.definitions[name] = _said(one)
        for of, (_, key) in SENTENCES.items():
            self.definitions[of.__name__]["properties"][key] = TEXT
        for of, key in EMPTY:
            self.definitions[of.__name__]["properties"][key] = TEXT
        for of, key in LEFT_OUT:
            self.definitions[of.__name__]["properties"].pop(key, None)
        self._names: Mapping[type, str] = {
            one: str(ref["$ref"]).removeprefix(REF) for (one, _), ref in refs.items()
        }

    def of(self, one: type) -> Schema:
        """The properties of a type."""
        found: Schema = self.definitions[self._names[one]]["properties"]
        return found

    def some(self, one: type, names: Iterable[str]) -> Schema:
        """Return the named properties of a type."""
        every = self.of(one)
        return {name: every[name] for name in names}


def _said(schema: Any) -> Any:
    """With the sentence in place of a note."""
    if isinstance(schema, list):
        return [_said(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("$ref") == f"{REF}{Note.__name__}":
        return TEXT
    made = {key: _said(one) for key, one in schema.items()}
    if made.get("anyOf") == [TEXT, TEXT]:  # a note or a text
        return {key: one for key, one in made.items() if key != "anyOf"} | TEXT
    return made


def gates_schema(types: Types) -> Schema:
    """Returns the schema of the key `gates`."""
    ends = or_null({"type": "array", "items": NUMBER})
    check = {
        **types.some(Comparison, ("factor", "baseline", "level", "step")),
        **types.some(GateCheck, ("change", "unit", "outcome", "reason", "caught_pct")),
        "reason": TEXT,
        "ci95": ends,
        "ci90": ends,
    }
    gate = {"gate": TEXT, "metric": TEXT, "outcome": _OUTCOME, "checks": list_of(object_of(check))}
    return list_of(object_of(gate))


def object_of(properties: Schema, optional: Schema | None = None) -> Schema:
    """Returns the schema of an object with these keys; optional ones may be absent."""
    every = {**properties, **(optional or {})}
    return {"type": "object", "properties": every, _OPTIONAL: list(optional or {})}


def sentence_at(key: str) -> Schema:
    """Returns the two keys of a sentence, as `coded` writes them."""
    return {key: TEXT, f"{key}{CODED}": NOTE}


def sentences_at(key: str) -> Schema:
    """Returns the two keys of a list of sentences."""
    return {key: list_of(TEXT), f"{key}{CODED}": list_of(NOTE)}


def list_of(items: Schema) -> Schema:
    """Returns the schema of an array."""
    return {"type": "array", "items": items}


def or_null(schema: Schema) -> Schema:
    """Returns a schema that null fits, too."""
    return {"anyOf": [schema, NULL]}


def checked(schema: Any) -> Any:
    """As JSON is written: every key of an object is there, a number that is not finite is null."""
    if isinstance(schema, list):
        return [checked(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        key: {name: checked(one) for name, one in inner.items()}
        if key == "properties"
        else checked(inner)
        for key, inner in schema.items()
        if key not in ("title", "default", _OPTIONAL)
    }
    if made.get("type") == "number":
        made["type"] = ["number", "null"]
    if "properties" in made:
        absent = schema.get(_OPTIONAL, ())
        made["required"] = [name for name in made["properties"] if name not in absent]
    return made


def used(schema: Any, definitions: Mapping[str, Schema]) -> Schema:
    """The definitions that a schema refers to, and those that they refer to."""
    names: list[str] = []
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            waiting += one.values()
            name = str(one.get("$ref", "")).removeprefix(REF)
            if name and name not in names:
                names.append(name)
                waiting.append(definitions[name])
    return {name: definitions[name] for name in sorted(names)}
