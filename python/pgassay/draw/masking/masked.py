"""A drawing with other values: all of them, or those of columns that hold secrets.

Enters: a `Drawing`. Leaves: a `Drawing`, and the names of parameters that had to become NULL.
Never: changes the number of rows, the types or the statements.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from random import Random, SystemRandom
from typing import Any

import pyarrow as pa

from pgassay.draw.masking.mapping import Parts
from pgassay.draw.masking.values import Kind, Replace, kind_of, replaced
from pgassay.draw.model import Drawing, DrawnScenario, Origin, Parameter, Role
from pgassay.spec.secrets.redaction import is_secret_column, redacted

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Masked:
    """What masking has made."""

    drawing: Drawing
    replaced: tuple[str, ...]
    """SCENARIO.PARAMETER of those that have other values."""
    nulls: tuple[str, ...]
    """Of those in which some value had no form that is understood."""


def masked(drawing: Drawing, random: Random | None = None) -> Masked:
    """Replaces all values but numbers of rows and guesses."""
    return _masked(drawing, _is_data, random or _unforeseen())


def without_secrets(drawing: Drawing, random: Random | None = None) -> Masked:
    """Replaces the values of parameters whose column or name says that they hold a secret, and
    takes out of all others what looks like a password."""
    found = _masked(drawing, _is_secret, random or _unforeseen())
    scenarios = tuple(map(_redacted, found.drawing.scenarios))
    return replace(found, drawing=replace(found.drawing, scenarios=scenarios))


def _unforeseen() -> Random:
    return Random(SystemRandom().getrandbits(256))


def _is_data(parameter: Parameter) -> bool:
    # A number of rows belongs to the statement.
    return parameter.role is not Role.LIMIT and parameter.origin is not Origin.TYPE


def _is_secret(parameter: Parameter) -> bool:
    column = (parameter.column or "").rpartition(".")[2]
    return is_secret_column(column) or is_secret_column(parameter.name)


def _masked(drawing: Drawing, wanted: Callable[[Parameter], bool], random: Random) -> Masked:
    parts = Parts()
    # A key of JSON that a statement names is part of the program.
    texts = (each.source_text for one in drawing.scenarios for each in one.statements)
    words = {word for text in texts for word in _WORD.findall(text)}
    names: dict[str, None] = {}
    nulls: dict[str, None] = {}
    for scenario in drawing.scenarios:
        for one in _columns(scenario, wanted):
            names[one.label] = None
            one.changed(parts.collect, words)
    mapping = parts.mapping(random)
    scenarios = []
    for scenario in drawing.scenarios:
        table: Any = scenario.parameters
        for one in _columns(scenario, wanted):
            made = one.changed(mapping.replace, words)
            if made.null_count > one.values.null_count:
                nulls[one.label] = None
            place = table.column_names.index(one.parameter.name)
            table = table.set_column(place, table.schema.field(place), made)
        scenarios.append(replace(scenario, parameters=table))
    return Masked(replace(drawing, scenarios=tuple(scenarios)), tuple(names), tuple(nulls))


@dataclass(frozen=True)
class _Column:
    """One column of a scenario's parameters."""

    label: str
    parameter: Parameter
    values: pa.ChunkedArray

    def changed(self, change: Replace, names: Collection[str]) -> pa.ChunkedArray:
        """The column with the parts of its values replaced, but for keys of JSON with these
        `names`; each different value is read once."""
        kind_here = self.values.type
        coded = self.values.combine_chunks().dictionary_encode()
        different = [_text_of(one) for one in coded.dictionary.to_pylist()]
        kind, many = kind_of(self.parameter.type, different)
        if pa.types.is_boolean(kind_here):
            kind = Kind.STAYS
        like = self.parameter.role is Role.LIKE
        made = [replaced(one, kind, change, many=many, like=like, names=names) for one in different]
        values = [None if one is None else _value_of(one, kind_here) for one in made]
        taken = pa.array(values, kind_here).take(coded.indices)
        return pa.chunked_array([taken])


def _columns(scenario: DrawnScenario, wanted: Callable[[Parameter], bool]) -> Iterator[_Column]:
    """The columns that a parameter asks for; one that several statements use comes once."""
    if scenario.parameters is None:
        return
    used = {one.name: one for each in scenario.statements for one in each.parameters if wanted(one)}
    for name in scenario.parameters.column_names:
        if name in used:
            label = f"{scenario.name}.{name}"
            yield _Column(label, used[name], scenario.parameters.column(name))


def _text_of(value: object) -> str:
    match value:
        case float():
            return f"{value:f}" if value == value and abs(value) < float("inf") else "NaN"
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)


def _value_of(text: str, kind: pa.DataType) -> object:
    if pa.types.is_integer(kind):
        return int(text)
    if pa.types.is_floating(kind):
        return float(text)
    return text == "true" if pa.types.is_boolean(kind) else text


def _redacted(scenario: DrawnScenario) -> DrawnScenario:
    table = scenario.parameters
    if table is None:
        return scenario
    for place, field in enumerate(table.schema):
        if not pa.types.is_string(field.type):
            continue
        coded = table.column(place).combine_chunks().dictionary_encode()
        texts = coded.dictionary.to_pylist()
        clean = list(map(redacted, texts))
        if clean != texts:
            table = table.set_column(place, field, pa.array(clean, field.type).take(coded.indices))
    return replace(scenario, parameters=table)
