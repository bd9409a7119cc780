"""Values are read as PostgreSQL reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.reading.units import duration_s, to_base


@pytest.mark.parametrize(
    ("value", "unit", "vartype", "base"),
    [
        ("1min", "s", "integer", "60"),
        ("90", "s", "integer", "90"),
        ("1.5h", "min", "integer", "90"),
        ("500ms", "s", "integer", "0"),
        ("1500ms", "s", "integer", "2"),
        ("16GB", "MB", "integer", "16384"),
        ("32MB", "8kB", "integer", "4096"),
        ("100", "8kB", "integer", "100"),
        ("30.1GB", "8kB", "integer", "3945216"),
        ("0x10", None, "integer", "16"),
        ("-1", "8kB", "integer", "-1"),
        ("2ms", "ms", "real", "2.0"),
        ("200us", "ms", "real", "0.2"),
        ("1.1", None, "real", "1.1"),
        ("TRUE", None, "bool", "on"),
        ("0", None, "bool", "off"),
        ("Replica", None, "enum", "replica"),
        ("a b", None, "string", "a b"),
    ],
)
def test_a_value_is_converted_to_the_base_unit(
    value: str, unit: str | None, vartype: str, base: str
) -> None:
    assert to_base(value, unit, vartype) == base


@pytest.mark.parametrize(
    ("value", "unit", "vartype"),
    [("", "s", "integer"), ("x", None, "integer"), ("1 GBs", "kB", "integer"),
     ("1MB", "s", "integer"), ("1s", None, "real"), ("2", None, "bool")],
)  # fmt: skip
def test_an_invalid_value_is_refused(value: str, unit: str | None, vartype: str) -> None:
    with pytest.raises(UnfitValue):
        to_base(value, unit, vartype)


@given(st.integers(0, 10**6))
def test_whole_megabytes_in_any_spelling_are_the_same(megabytes: int) -> None:
    spellings = (f"{megabytes}MB", f"{megabytes * 1024} kB", f"{megabytes * 1024 * 1024}B")
    assert {to_base(text, "kB", "integer") for text in spellings} == {str(megabytes * 1024)}


@given(st.text(max_size=12))
def test_any_text_is_a_number_or_a_value_error(text: str) -> None:
    for unit in ("8kB", "ms", None):
        try:
            to_base(text, unit, "integer")
        except ValueError as error:
            assert str(error)  # noqa: PT017 (any text may be either)


def test_durations_without_a_unit_are_seconds() -> None:
    assert duration_s(90) == 90.0
    assert duration_s("90") == 90.0
    assert duration_s("1.5min") == 90.0
    assert duration_s("250ms") == 0.25
