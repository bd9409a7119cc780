"""Forms: what types the values of a JSON object have, and the first one that does not fit.

Enters: a decoded value, a form; a dataclass. Leaves: one line that names the first key that does
not fit, or None; the form of the dataclass. Never: reads a file.

A form is a type or several, `[form]` for a list of such, or a mapping of keys to forms. A key that
ends in "?" may be absent or null, one that ends in "=" may be absent, and "*" ("*?") is every key.
"""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Form = Any
NUMBER = (int, float)
_NAMES = {
    int: "a whole number", float: "a number", bool: "true or false", str: "text",
    list: "a list", dict: "an object", type(None): "null",
}  # fmt: skip


def misfit_of(value: Any, form: Form) -> str | None:
    """What is wrong with a value."""
    return _misfit(value, form, "")


def fits(value: Any, form: Form) -> bool:
    """Whether nothing is."""
    return _misfit(value, form, "") is None


def form_of(kind: Any) -> Form:
    """The form of a dataclass as `dataclasses.asdict` stores it."""
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        found: dict[str, Form] = {}
        for one in fields(kind):
            optional, form = _optional(hints[one.name])
            has_default = one.default is not MISSING or one.default_factory is not MISSING
            found[f"{one.name}{'?' if optional else '=' if has_default else ''}"] = form
        return found
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple or origin is list:
        return [form_of(arguments[0])]
    if origin is not None and issubclass(origin, Mapping):
        optional, form = _optional(arguments[1])
        return {"*?" if optional else "*": form}
    if origin is Literal or (isinstance(kind, type) and issubclass(kind, Enum)):
        return str
    return NUMBER if kind is float else kind


def _optional(hint: Any) -> tuple[bool, Form]:
    """Whether None is allowed, and the form of what else is."""
    if get_origin(hint) not in (Union, types.UnionType):
        return False, form_of(hint)
    kinds = [one for one in get_args(hint) if one is not type(None)]
    is_optional = len(kinds) < len(get_args(hint))
    return is_optional, form_of(kinds[0]) if len(kinds) == 1 else tuple(map(_outer, kinds))


def _outer(kind: Any) -> type:
    """Of one of several types only whether it is a list, an object or a plain value."""
    origin = get_origin(kind)
    if origin is tuple or origin is list:
        return list
    return kind if isinstance(kind, type) and not is_dataclass(kind) else dict


def _misfit(value: Any, form: Form, at: str) -> str | None:
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return _other(value, dict, at)
        return next(
            (w for key, inner in form.items() if (w := _of_key(value, key, inner, at))), None
        )
    if isinstance(form, list):
        if not isinstance(value, list):
            return _other(value, list, at)
        each = (_misfit(one, form[0], f"{at}[{n}]") for n, one in enumerate(value))
        return next((wrong for wrong in each if wrong), None)
    if isinstance(value, float) and not math.isfinite(value):
        return f"'{at}' is no finite number"
    # To Python true is a number.
    fits = isinstance(value, form) and (form is bool or not isinstance(value, bool))
    return None if fits else _other(value, form[-1] if isinstance(form, tuple) else form, at)


def _of_key(value: Mapping[str, Any], key: str, form: Form, at: str) -> str | None:
    if key in ("*", "*?"):
        each = (
            _misfit(one, form, f"{at}.{name}" if at else name)
            for name, one in value.items()
            if one is not None or key == "*"
        )
        return next((wrong for wrong in each if wrong), None)
    name = key.rstrip("?=")
    path = f"{at}.{name}" if at else name
    if name not in value:
        return None if key != name else f"{path!r} is missing"
    if value[name] is None and key.endswith("?"):
        return None
    return _misfit(value[name], form, path)


def _other(value: Any, wanted: type, at: str) -> str:
    return f"'{at}' is {_NAMES[type(value)]}, where {_NAMES[wanted]} belongs"
