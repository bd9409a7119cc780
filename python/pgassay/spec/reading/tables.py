"""Checks TOML text against a table's model, with one clear line per error; writes values as TOML.

Enters: TOML text, the file it came from, the pydantic model it must fit; names and values, also
hostile ones. Leaves: the model, or a SpecError naming file, key and fix; text that tomllib reads
back as the same. Never: reads a file or interprets the table.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from pgassay.refusals.refusal import Refusal, UnfitValue
from pgassay.spec.reading.bare_words import without_quotes
from pgassay.spec.reading.suggest import did_you_mean, slip_of
from pgassay.spec.reading.units import duration_s
from pgassay.spec.reading.values import Table
from pgassay.spec.secrets.redaction import redacted_value

Model = TypeVar("Model", bound=BaseModel)

_PLAIN = {
    "tuple_type": "a list",
    "model_type": "a table",
    "dict_type": "a table",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "string_type": "text",
}


def read_table(model: type[Model], text: str, file: str) -> Model:
    """Returns the table of a TOML text as its model; raises SpecError with file and key."""
    return check_table(model, parsed_toml(text, file), file)


def parsed_toml(text: str, file: str) -> dict[str, Any]:
    """Returns the table of a TOML text, unchecked but for numbers longer than 64 bits; raises
    SpecError."""
    try:
        table = tomllib.loads(text)
        _refuse_long_numbers(table)
    except (ValueError, RecursionError) as error:
        bare = without_quotes(text)
        if bare is not None:
            line, word = bare
            refusal = Refusal("text-without-quotes", line=line, word=shortened(word))
            raise refusal.in_file(file) from None
        # Python's own parser ends in RecursionError where tables lie too deep in each other.
        deep = isinstance(error, RecursionError)
        reason = "values lie too deep in each other" if deep else str(error)
        raise Refusal("not-toml", reason=reason).in_file(file) from None
    return table


def check_table(
    model: type[Model], table: dict[str, Any], file: str, *, under: str | None = None
) -> Model:
    """Returns a parsed table as its model; an error names the key `under`, if given, in place of
    its own."""
    try:
        return model.model_validate(table)
    except ValidationError as error:
        details = error.errors(include_url=False)
        first = _worst(details)
        others = len(details) - 1
        key = under or ".".join(_written(first["loc"], table)) or None
        code, values = _coded(model, first)
        refusal = Refusal(code, key, **redacted_value(values)).in_file(file)
        if others:
            refusal.excerpt = f"pgassay: {others} more error{'s' if others > 1 else ''} in the file"
        raise refusal from None


def _refuse_long_numbers(value: Any) -> None:
    match value:
        case int() if not -(2**63) <= value < 2**63:
            raise UnfitValue("number-too-wide")
        case dict():
            for inner in value.values():
                _refuse_long_numbers(inner)
        case list():
            for inner in value:
                _refuse_long_numbers(inner)


def _worst(details: list[ErrorDetails]) -> ErrorDetails:
    """The error to show: an unknown key first, for a misspelt key is often why one is missing."""
    return next((d for d in details if d["type"] == "extra_forbidden"), details[0])


def _coded(model: type[BaseModel], detail: ErrorDetails) -> tuple[str, dict[str, Any]]:
    """The code of a refusal and its values."""
    value = shortened(detail["input"])
    match detail["type"], detail.get("ctx", {}):
        case "extra_forbidden", _:
            return _unknown(model, detail)
        case "value_error", {"error": UnfitValue(refusal=refusal)}:
            return refusal.code, refusal.values
        case "missing", _:
            return "key-missing", {}
        case "literal_error" | "enum", {"expected": known}:
            near = did_you_mean(str(detail["input"]), _words_of(model, detail), list_up_to=0)
            return "not-one-of", {"value": value, "known": known, "near": near}
        case "value_error", {"error": problem}:
            return "value-not-fit", {"problem": str(problem)}
        case "model_type", _ if table := _model_at(model, list(map(str, detail["loc"]))):
            name = ".".join(map(str, detail["loc"]))
            return "value-for-a-table", {
                "value": value,
                "name": name,
                "keys": ", ".join(_keys_of(table)),
            }
        case kind, _:
            problem = str(detail["msg"]).removeprefix("Input should be ")
            if _is_duration(detail["input"]):
                problem = f"{problem} s"
            return "not-of-its-type", {"value": value, "wanted": _PLAIN.get(kind, problem)}


def _words_of(model: type[BaseModel], detail: ErrorDetails) -> list[str]:
    """The words that the key of an error takes."""
    *path, name = map(str, detail["loc"])
    table = _model_at(model, path)
    field = _keys_of(table).get(name) if table else None
    return [] if field is None else [*_words_in(field.annotation)]


def _words_in(annotation: Any) -> Iterator[str]:
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        yield from annotation
    for one in get_args(annotation):
        if isinstance(one, str):
            yield one
        else:
            yield from _words_in(one)


def _is_duration(value: Any) -> bool:
    """Whether a value is text with a time, which is compared in seconds."""
    try:
        return isinstance(value, str) and not value.strip().isdigit() and duration_s(value) >= 0
    except UnfitValue:
        return False


def _written(loc: Sequence[int | str], table: Any) -> Iterator[str]:
    """The part of the path to a value that is in the file, where a lone number is read as a list of
    one."""
    for part in loc:
        match table, part:
            case dict(), _:
                yield str(part)
                table = table.get(part)
            case list(), int():
                yield str(part)
                table = table[part]
            case _:  # also of a list a name, which we have made
                return


def _unknown(root: type[BaseModel], detail: ErrorDetails) -> tuple[str, dict[str, Any]]:
    """The code of a key that its table does not have, with the key it should be if another table
    has one of that name."""
    *path, name = map(str, detail["loc"])
    model = _model_at(root, path)
    keys = _keys_of(model) if model else {}
    here = ".".join(path)
    if model is not None and issubclass(model, Table):
        place = model.place_of(name, detail["input"])
        if place is not None:
            return "key-of-another-table", {"meant": _joined(here, place, name)}
    called = [key for key in keys if name.lower() in _other_names().get(key, ())]
    if called:
        return "unknown-key", {"near": f"did you mean {' or '.join(called)}?"}
    if near := slip_of(name, keys):
        return "unknown-key", {"near": f"did you mean {near}?"}
    meant = [_joined(here, one) for one in _paths_to(name, model)] if model else []
    if len(path) <= _MOST_ABOVE:
        meant = meant or list(_paths_to(name, root))
    if 0 < len(meant) <= _MOST_PLACES and name.lower() not in map(str.lower, keys):
        return "key-of-another-table", {"meant": " or ".join(meant)}
    return "unknown-key", {"near": did_you_mean(name, keys)}


_MOST_PLACES = 3
_MOST_ABOVE = 2
"""A key that is deeper in tables belongs to none far from it."""


@cache
def _other_names() -> Mapping[str, list[str]]:
    """What people write for a key, by the key."""
    return tomllib.loads((files(__package__) / "other_names.toml").read_text("utf-8"))


def _joined(*parts: str) -> str:
    return ".".join(filter(None, parts))


def _paths_to(name: str, model: type[BaseModel], above: str = "") -> Iterator[str]:
    """The full keys of that name in a table and those below it."""
    for key, field in _keys_of(model).items():
        path = _joined(above, key)
        if key == name and above:
            yield path
        if (inner := _table_in(field.annotation, alone=True)) is not None:
            yield from _paths_to(name, inner, path)


def _keys_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _model_at(model: type[BaseModel], path: Sequence[str]) -> type[BaseModel] | None:
    """The table at `path`."""
    for part in path:
        field = _keys_of(model).get(part)
        if field is None:
            continue  # a name that the user chose, such as a scenario's
        inner = _table_in(field.annotation)
        if inner is None:
            return None
        model = inner
    return model


def _table_in(annotation: Any, *, alone: bool = False) -> type[BaseModel] | None:
    """The table that a field is, or contains by name or in a list; with `alone` none of those."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if alone and get_origin(annotation) in (dict, tuple, list):
        return None
    inner = (_table_in(one, alone=alone) for one in get_args(annotation))
    return next(filter(None, inner), None)


def shortened(value: Any, most: int = 60) -> str:
    """Returns a value of a file in quotes, cut to what a line can show."""
    text = repr(value)
    return text if len(text) <= most else text[: most - 3] + "..."


def toml_key(name: str) -> str:
    """Returns a name as a key of TOML, quoted where TOML wants that."""
    is_bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if is_bare else toml_literal(name)


def toml_literal(value: Any) -> str:
    """Returns the TOML text of a value, with tables inline."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return "".join(map(_visible, json.dumps(value, ensure_ascii=False)))
        case list() | tuple():
            return f"[{', '.join(toml_literal(one) for one in value)}]"
        case dict():
            inner = ", ".join(f"{toml_key(n)} = {toml_literal(v)}" for n, v in value.items())
            return f"{{ {inner} }}" if inner else "{}"
        case _:
            return str(value)


def _visible(character: str) -> str:
    """A character as it is, or its escape: TOML refuses DEL, and marks of direction or of no
    width would make the file look like another one."""
    if character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"
