"""Which parts of a value are replaced, by the kind of its type.

Enters: a value as PostgreSQL's text, the name of its type. Leaves: the value with other parts; None
where it has a form that is not understood. Never: decides what a part becomes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable
from enum import StrEnum
from typing import Any

from pgassay.json_text import decoded


class Kind(StrEnum):
    """What a part of a value is."""

    TEXT = "text"
    NUMBER = "number"
    DAY = "day"
    HEX = "hex"
    STAYS = "stays"
    JSON = "json"


Replace = Callable[[Kind, str], str | None]
"""What a part becomes."""

_KINDS = {
    **dict.fromkeys(("text", "character varying", "character", "name", "citext"), Kind.TEXT),
    **dict.fromkeys(("smallint", "integer", "bigint", "numeric"), Kind.NUMBER),
    **dict.fromkeys(("real", "double precision"), Kind.NUMBER),
    **dict.fromkeys(("date", "timestamp without time zone"), Kind.DAY),
    "timestamp with time zone": Kind.DAY,
    **dict.fromkeys(("uuid", "bytea"), Kind.HEX),
    "boolean": Kind.STAYS,
    **dict.fromkeys(("json", "jsonb"), Kind.JSON),
}
_FORMS = {
    Kind.NUMBER: re.compile(r"-?\d+(\.\d+)?|NaN"),
    Kind.DAY: re.compile(r"\d{4}-\d\d-\d\d([ T].*)?|-?infinity"),
    Kind.HEX: re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\\x[0-9a-f]*"),
}
_LENGTH = re.compile(r"\(\d+(,-?\d+)?\)")
_ITEM = re.compile(r'"(?:[^"\\]|\\.)*"|[^{},"]+', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LITERAL = re.compile(r"[^%_\\]+")
"""What a pattern of LIKE has beside its wildcards."""


def kind_of(type_name: str, values: Iterable[str]) -> tuple[Kind | None, bool]:
    """Returns the kind of a type's values, None for one that is not known, and whether they are
    arrays of it; where the server was not asked for the type, by the form of all values."""
    plain = _LENGTH.sub("", type_name).strip()
    if plain:
        return _KINDS.get(plain.removesuffix("[]")), plain.endswith("[]")
    found = list(values)
    forms = (kind for kind, form in _FORMS.items() if all(map(form.fullmatch, found)))
    return next(forms, Kind.TEXT), False


def replaced(
    value: str,
    kind: Kind | None,
    replace: Replace,
    *,
    many: bool,
    like: bool,
    names: Collection[str] = (),
) -> Any:
    """Returns the value with its parts replaced, but for keys of JSON that are in `names`; None
    where its form is not understood."""
    if kind is None:
        return None
    if many:
        return _array(value, kind, replace, names)
    if like:
        return _LITERAL.sub(lambda found: replace(Kind.TEXT, found[0]) or "", value)
    if kind is Kind.JSON:
        return _json(value, replace, names)
    if kind in _FORMS and not _FORMS[kind].fullmatch(value):
        return None
    return replace(kind, value)


def _array(value: str, kind: Kind, replace: Replace, names: Collection[str]) -> str | None:
    """An array of one dimension or of several, as PostgreSQL writes it."""
    if not value.startswith("{"):
        return None
    unfit: list[str] = []

    def item(found: re.Match[str]) -> str:
        text = found[0]
        if text == "NULL":
            return text
        inner = _ESCAPED.sub(r"\1", text[1:-1]) if text.startswith('"') else text
        other = replaced(inner, kind, replace, many=False, like=False, names=names)
        if other is None:
            unfit.append(text)
            return "NULL"
        return json.dumps(other, ensure_ascii=False) if text.startswith('"') else str(other)

    made = _ITEM.sub(item, value)
    return None if unfit else made


def _json(value: str, replace: Replace, names: Collection[str]) -> str | None:
    """Keys, texts and numbers at any depth."""

    def walked(one: Any) -> Any:
        match one:
            case str():
                return replace(Kind.TEXT, one)
            case bool() | None:
                return one
            case int():
                return int(replace(Kind.NUMBER, str(one)) or 0)
            case float():
                return float(replace(Kind.NUMBER, f"{one:f}") or 0)
            case list():
                return [walked(inner) for inner in one]
            case dict():
                return {
                    key if key in names else replace(Kind.TEXT, key): walked(inner)
                    for key, inner in one.items()
                }
            case _:
                return None

    try:
        return json.dumps(walked(decoded(value)), ensure_ascii=False)
    except ValueError:
        return None
