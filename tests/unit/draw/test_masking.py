"""Masked values have the length and order of those they replace, and are equal where those were."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.draw.masking.masked import masked
from pgassay.draw.model import Drawing, DrawnScenario, Origin, Parameter, Role
from support.draw.drawings import LOOK, LOOKS, STATISTICS


def drawn(name: str, type_name: str, values: Any, role: Role = Role.EQUAL) -> DrawnScenario:
    parameter = Parameter(name, type_name, Origin.ROWS, f"public.t.{name}", role)
    statement = replace(LOOK, text=f"SELECT :{name}", parameters=(parameter,))
    return replace(LOOKS, name=name, statements=(statement,), parameters=pa.table({name: values}))


def hidden(*scenarios: DrawnScenario, seed: int = 1) -> list[list[Any]]:
    found = masked(replace(STATISTICS, scenarios=scenarios), Random(seed)).drawing
    return [values_of(one) for one in found.scenarios]


def values_of(scenario: DrawnScenario) -> list[Any]:
    assert scenario.parameters is not None
    values: list[Any] = scenario.parameters.column(0).to_pylist()
    return values


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=40))
def test_texts_keep_length_order_equality_and_common_beginnings(texts: list[str]) -> None:
    (made,) = hidden(drawn("word", "text", pa.array(texts, pa.string())))
    assert list(map(len, made)) == list(map(len, texts))
    for one, other in zip(texts, made, strict=True):
        for two, another in zip(texts, made, strict=True):
            assert (one < two, one == two) == (other < another, other == another)
            assert one.startswith(two) == other.startswith(another)


@given(st.lists(st.integers(-(2**31) + 1, 2**31 - 1), max_size=40))
def test_whole_numbers_keep_digits_order_equality_and_type(numbers: list[int]) -> None:
    (made,) = hidden(drawn("id", "integer", pa.array(numbers, pa.int32())))
    assert [len(str(one)) for one in made] == [len(str(one)) for one in numbers]
    for one, other in zip(numbers, made, strict=True):
        for two, another in zip(numbers, made, strict=True):
            assert (one < two, one == two) == (other < another, other == another)


def test_columns_that_are_compared_with_each_other_still_fit() -> None:
    by_id = drawn("id", "bigint", pa.array([7000, 8000, 9000], pa.int64()))
    by_parent = drawn("parent", "integer", pa.array([9000, 7000], pa.int32()))
    in_text = drawn("price", "numeric", ["9000", "7000.50", "7000.0"])
    ids, parents, prices = hidden(by_id, by_parent, in_text)
    assert parents == [ids[2], ids[0]]
    assert prices[0] == str(ids[2])
    assert prices[1].startswith(f"{ids[0]}.")
    assert prices[2] == f"{ids[0]}.0"
    assert set(ids).isdisjoint({7000, 8000, 9000})


@pytest.mark.parametrize(
    ("type_name", "value"),
    [
        ("text", "Ada Lovelace"),
        ("uuid", "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9fa"),
        ("bytea", "\\x00ff10"),
        ("timestamp with time zone", "2026-01-05 10:00:00.25+00"),
        ("date", "2026-01-05"),
        ("numeric(10,2)", "-1234567.89"),
        ("jsonb", '{"name": "Ada", "tags": ["x1", 41273], "ok": true}'),
        ("text[]", '{ada,"b, c",NULL}'),
        ("", "41273991"),
        ("", "2026-01-05"),
        ("", "free text"),
    ],
)
def test_a_value_of_any_known_form_becomes_another_of_the_same_length(
    type_name: str, value: str
) -> None:
    ((made, again),) = hidden(drawn("v", type_name, [value, value]), seed=3)
    assert made == again != value
    assert len(made) == len(value)
    kept = {"uuid": "-", "bytea": "\\x", "date": "-", "jsonb": ": true", "text[]": "NULL"}
    assert kept.get(type_name, "") in made


def test_keys_of_json_are_replaced_as_texts_are_but_for_those_that_a_statement_names() -> None:
    about = drawn("about", "jsonb", ['{"ada@x.org": 1, "weight": 2}'])
    key = drawn("key", "text", ["ada@x.org"])
    first = replace(about.statements[0], source_text="SELECT (about).weight FROM t WHERE a = $1")
    ((document,), (text,)) = hidden(replace(about, statements=(first,)), key)
    assert list(json.loads(document)) == [text, "weight"]
    assert text != "ada@x.org"


def test_wildcards_of_a_pattern_stay_and_its_beginning_is_that_of_the_texts() -> None:
    texts, patterns = hidden(
        drawn("word", "text", ["lovelace", "love"]), drawn("like", "text", ["love%"], Role.LIKE)
    )
    assert patterns == [f"{texts[0][:4]}%"]


def test_what_is_not_understood_is_null_and_named_and_what_is_no_data_stays() -> None:
    drawing: Drawing = replace(
        STATISTICS,
        scenarios=(
            drawn("mood", "public.mood", ["sad", None]),
            drawn("most", "bigint", pa.array([10, 20], pa.int64()), Role.LIMIT),
            drawn("flag", "boolean", pa.array([True, None], pa.bool_())),
            drawn("never", "timestamp without time zone", ["infinity", "2026-01-05 BC"]),
        ),
    )
    found = masked(drawing, Random(1))
    moods, most, flags, never = map(values_of, found.drawing.scenarios)
    assert (moods, most, flags) == ([None, None], [10, 20], [True, None])
    assert never[0] == "infinity"
    assert found.nulls == ("mood.mood",)


def test_each_drawing_is_masked_in_another_way() -> None:
    scenario = drawn("word", "text", ["a long enough text"])
    assert hidden(scenario, seed=1) != hidden(scenario, seed=2)
