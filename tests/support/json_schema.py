"""Checks a value against the part of JSON Schema that pgassay's schemas use.

Enters: a value, a schema. Leaves: what is wrong, by its path; every key of a schema. Never: takes a
keyword that it does not know for granted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_KNOWN = {
    "$defs", "$ref", "$schema", "additionalProperties", "anyOf", "const", "description", "enum",
    "items", "maxItems", "minItems", "prefixItems", "properties", "required", "title", "type",
}  # fmt: skip


def mistakes(value: Any, schema: Any, whole: dict[str, Any], path: str = "$") -> Iterator[str]:
    """One line for each place that does not fit."""
    if schema is True:
        return
    assert set(schema) <= _KNOWN, set(schema) - _KNOWN
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        yield from mistakes(value, whole["$defs"][name], whole, path)
    if "anyOf" in schema:
        tried = [list(mistakes(value, one, whole, path)) for one in schema["anyOf"]]
        if all(tried):
            yield min(tried, key=len)[0]
    if "const" in schema and value != schema["const"]:
        yield f"{path}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is not one of {schema['enum']}"
    kinds = schema.get("type", list(_TYPES))
    if not any(_is(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        yield f"{path}: {value!r} is no {kinds}"
    elif isinstance(value, dict):
        yield from _in_object(value, schema, whole, path)
    elif isinstance(value, list):
        yield from _in_list(value, schema, whole, path)


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def _in_object(value: Any, schema: Any, whole: dict[str, Any], path: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{path}: has no {name}"
    for name, inner in value.items():
        own = properties.get(name, schema.get("additionalProperties", True))
        yield from mistakes(inner, own, whole, f"{path}.{name}")


def _in_list(value: Any, schema: Any, whole: dict[str, Any], path: str) -> Iterator[str]:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{path}: has {len(value)} items"
    first = schema.get("prefixItems", [])
    for at, inner in enumerate(value):
        own = first[at] if at < len(first) else schema.get("items", True)
        yield from mistakes(inner, own, whole, f"{path}[{at}]")


def keys_of(
    table: dict[str, Any], defs: dict[str, Any], above: str = ""
) -> Iterator[tuple[str, str | None]]:
    """Every key below a table with its description; tables without one only contain keys."""
    for name, value in table["properties"].items():
        references = re.findall(r"#/\$defs/(\w+)", json.dumps(value))
        below = [defs[one] for one in references if "properties" in defs[one]]
        if "description" in value or not below:
            yield f"{above}{name}", value.get("description")
        for one in below:
            yield from keys_of(one, defs, f"{above}{name}.")
