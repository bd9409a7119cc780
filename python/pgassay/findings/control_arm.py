"""The next experiment: the run's own file with one setting varied in place of its factors.

Enters: an experiment file's text. Leaves: another one's text. Never: writes a file, or checks one.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pgassay.spec.factors.level_names import file_names, named_levels, plain_names

_HELD_IN = {"postgres": "settings.postgres", "host": "settings.host", "workload": "workload"}
"""Where a factor of this table is held; levels of other tables are files or change the load."""
_NAMED = {"use": "workload"}
"""Keys whose factor has another name."""
_OF_FACTORS = ("combinations", "resolution", "plots", "mode", "slice")
"""Keys of [design] that say how factors are combined or alternate."""


def control_arm(
    spec_text: str, held: Mapping[str, str], setting: str, tried: Sequence[str], question: str
) -> str:
    """The file that varies `setting`, with its other factors held at these levels.

    Empty where a factor cannot be held by writing its level elsewhere in the file.
    """
    try:
        spec = tomllib.loads(spec_text)
    except tomllib.TOMLDecodeError:
        return ""
    spec["question"] = question
    for table, factors in spec.pop("factors", {}).items():
        if table not in _HELD_IN:
            return ""
        for name, levels in factors.items():
            named = named_levels(levels, file_names if name == "use" else plain_names)
            level = held.get(_NAMED.get(name, name))
            if level not in named:
                return ""
            place = spec
            for part in _HELD_IN[table].split("."):
                place = place.setdefault(part, {})
            place[name] = named[level]
    spec.get("settings", {}).get("postgres", {}).pop(setting, None)
    for key in _OF_FACTORS:
        spec.get("design", {}).pop(key, None)
    spec["factors"] = {"postgres": {setting: list(tried)}}
    order = ["question", "target", "workload", "factors"]
    ordered = {
        key: spec[key] for key in (*order, *(k for k in spec if k not in order)) if key in spec
    }
    return "\n".join(_lines(ordered, ())).strip() + "\n"


def is_scratch(spec_text: str) -> bool:
    """Whether the file's server is made by pgassay, so that its data may be lost."""
    try:
        return "dsn" not in tomllib.loads(spec_text).get("target", {})
    except tomllib.TOMLDecodeError:
        return False


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
    if path and (plain or not table):
        yield ""
        yield f"[{'.'.join(map(_key, path))}]"
    for key, value in plain.items():
        yield f"{_key(key)} = {_value(value)}"
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _lines(value, (*path, key))


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())} }}"
    # What JSON and TOML write alike: texts, numbers, true and false.
    return json.dumps(value, ensure_ascii=False)
