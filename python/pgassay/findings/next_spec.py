"""The experiment file that tests a finding's claim, made from the run's own.

Enters: the run's experiment as text, the arm that the claim is of, the factors that test it.
Leaves: the text of an experiment file, or nothing where none can be made. Never: writes a file.

The run's own factors are held at the arm's levels where a level is one value of the file; others
(scripts, weights, schemas) stay factors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pgassay.errors import SpecError
from pgassay.refusals.refusal import found_by, refuse
from pgassay.spec.factors.tables import file_names, named_levels, plain_names
from pgassay.spec.model import ExperimentFile
from pgassay.spec.reading.tables import parsed_toml, read_table, toml_key, toml_literal
from pgassay.spec.refusals.tables import OF_TABLES

_BESIDE = "# Paths are relative to the experiment file of this run: save this one beside it.\n"
_HELD_IN = {"postgres": ("settings", "postgres"), "host": ("settings", "host")}
_OF_FACTORS = ("combinations", "resolution", "plots", "mode", "slice")
"""Keys of [design] that say how the run's own factors are combined or alternate."""
_ORDER = ("question", "target", "workload", "factors")


def next_spec(
    spec_text: str,
    levels: Mapping[str, str],
    question: str,
    factors: Mapping[str, Any],
    *,
    hold: Mapping[str, Any] | None = None,
    present: Mapping[str, str] | None = None,
) -> str:
    """Ready for `pgassay run`; empty where the run has that factor itself, or it does not fit.

    `levels` are the arm's by factor; `factors` and `hold` are as in [factors] and [settings];
    `{NAME}` in a level stands for the present value of that setting.
    """
    try:
        table = parsed_toml(spec_text, "spec.toml")
        added = _filled(factors, present or {})
        if _shares_a_factor(table.get("factors", {}), added):
            return ""
        own = _held(table, table.pop("factors", {}), levels)
        table["question"] = question
        for place, values in (hold or {}).items():
            table.setdefault("settings", {}).setdefault(place, {}).update(values)
        for name in added.get("postgres", {}):
            table.get("settings", {}).get("postgres", {}).pop(name, None)
        for name in added.get("client", {}):
            table.get("load", {}).pop(name, None)
        for key in () if own else _OF_FACTORS:
            table.get("design", {}).pop(key, None)
        table["factors"] = _merged(own, added)
        first = {key: table[key] for key in _ORDER if key in table}
        text = _written(first | table)
        refuse(found_by(OF_TABLES, read_table(ExperimentFile, text, "next.toml")))
    except (SpecError, AttributeError, KeyError, TypeError, ValueError):
        return ""
    return f"{_BESIDE}{text}" if _names_files(table) else text


def varies_itself(spec_text: str, factors: Mapping[str, Iterable[str]]) -> bool:
    """Returns whether the run varies one of these factors itself; `factors` are names by kind."""
    try:
        own = parsed_toml(spec_text, "spec.toml").get("factors", {})
    except (SpecError, AttributeError, TypeError):
        return False
    return _shares_a_factor(own, factors)


def is_scratch(spec_text: str) -> bool:
    """Whether the file's server is made by pgassay, so that its data may be lost."""
    try:
        return "dsn" not in parsed_toml(spec_text, "spec.toml").get("target", {})
    except (SpecError, AttributeError, TypeError):
        return False


def _names_files(table: Mapping[str, Any]) -> bool:
    used = table.get("workload", {}).get("use", "")
    return "/" in str(used) or any(kind in table["factors"] for kind in ("scenarios", "workload"))


def _filled(levels: Any, settings: Mapping[str, str]) -> Any:
    if isinstance(levels, dict):
        return {name: _filled(value, settings) for name, value in levels.items()}
    if isinstance(levels, list):
        return list(dict.fromkeys(_filled(one, settings) for one in levels))
    return levels.format(**settings) if isinstance(levels, str) else levels


def _shares_a_factor(own: Mapping[str, Any], added: Mapping[str, Iterable[str]]) -> bool:
    return any(not own.get(kind, {}).keys().isdisjoint(names) for kind, names in added.items())


def _held(
    table: dict[str, Any], factors: Mapping[str, Any], levels: Mapping[str, str]
) -> dict[str, Any]:
    """The factors that stay; those that can be held are, in their own tables."""
    stay: dict[str, Any] = {}
    for kind, named in factors.items():
        for name, values in named.items():
            value = _value(name, values, levels.get("workload" if name == "use" else name))
            if kind in _HELD_IN and value is not None:
                first, second = _HELD_IN[kind]
                table.setdefault(first, {}).setdefault(second, {})[name] = value
            elif kind in ("workload", "target") and value is not None:
                table.setdefault(kind, {})[name] = value
            elif kind == "client" and name != "settings" and value is not None:
                table.setdefault("load", {})[name] = value
            else:
                stay.setdefault(kind, {})[name] = values
    return stay


def _value(name: str, values: Any, label: str | None) -> Any:
    """The level that a label names; None where a level is more than a value of the file."""
    if not isinstance(values, dict | list) or label is None:
        return None
    return named_levels(values, file_names if name == "use" else plain_names).get(label)


def _merged(one: dict[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {kind: {**one.get(kind, {}), **other.get(kind, {})} for kind in {**one, **other}}


def _written(table: Mapping[str, Any], under: str = "") -> str:
    """TOML: the values of a table first, then the tables in it."""
    plain = [
        f"{toml_key(name)} = {toml_literal(v)}" for name, v in table.items() if not _is_table(v)
    ]
    head = [f"\n[{under}]"] if under and (plain or not table) else []
    inner = [
        _written(value, f"{under}.{toml_key(name)}".lstrip("."))
        for name, value in table.items()
        if _is_table(value)
    ]
    return "\n".join([*head, *plain, *(one.rstrip("\n") for one in inner)]) + "\n"


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)
