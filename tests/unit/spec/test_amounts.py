"""Clients, rates, stages, think times and objectives are read as users write them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.spec.load.amounts import Stage, ThinkTime, amounts, stages, think_time
from pgassay.spec.load.objective import parse_objective
from support.refusals import refused


@pytest.mark.parametrize(
    ("text", "whole", "levels"),
    [
        ("8", True, (8,)),
        ("5, 8,12", True, (5, 8, 12)),
        ("5..22 log 6", True, (5, 7, 9, 12, 16, 22)),
        ("5..20 lin 4", True, (5, 10, 15, 20)),
        ("100..1000 log 4", False, (100.0, 215.4, 464.2, 1000.0)),
        ("0.5,1.5", False, (0.5, 1.5)),
    ],
)
def test_levels_are_listed_or_spread(text: str, whole: bool, levels: tuple[float, ...]) -> None:
    assert amounts(text, whole=whole) == levels


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5..22", refused("range-without-steps")),
        ("5..22 exp 3", refused("range-without-steps")),
        ("5..22 log 1", refused("range-without-steps")),
        ("22..5 log 3", refused("range-not-rising")),
        ("0..5 lin 3", refused("range-not-rising")),
        ("1..3 log 9", refused("range-too-fine")),
        ("five", refused("not-a-whole-number", given="five")),
        ("2.5", refused("not-a-whole-number", given="2.5")),
        ("", refused("not-a-whole-number")),
    ],
)
def test_invalid_levels_are_refused_with_an_example(text: str, expected: refused) -> None:
    with expected:
        amounts(text, whole=True)


@given(st.floats(0.001, 1e6), st.floats(1.01, 1e3), st.integers(2, 50), st.booleans())
def test_a_range_has_its_ends_and_its_number_of_levels(
    low: float, ratio: float, count: int, log: bool
) -> None:
    high = low * ratio
    try:
        found = amounts(f"{low!r}..{high!r} {'log' if log else 'lin'} {count}", whole=False)
    except ValueError:
        return  # exponents are not read, and near levels may meet
    assert len(found) == count
    assert found[-1] == high
    assert math.isclose(found[0], low, rel_tol=1e-3)
    assert list(found) == sorted(found)


def test_stages_have_times_as_k6_writes_them() -> None:
    assert stages("30s:10, 2m:50,1h30m:3,500ms:1,20:7") == (
        Stage(10, 30), Stage(50, 120), Stage(3, 5400), Stage(1, 0.5), Stage(7, 20),
    )  # fmt: skip
    for text in ("30s", "x:3", "30s:0", "0s:3", "30s:2.5", ":3"):
        with pytest.raises(ValueError, match=r"stage|whole number"):
            stages(text)


def test_think_time_has_a_mean_and_a_kind() -> None:
    assert think_time("10ms") == ThinkTime(0.01, "constant")
    assert think_time("1.5s:exp") == ThinkTime(1.5, "exponential")
    assert think_time(2) == ThinkTime(2.0, "constant")
    for text, code in (
        ("10ms:gauss", "think-time-unknown"),
        ("0", "think-time-of-nothing"),
        ("-1s", "think-time-of-nothing"),
        ("soon", "not-a-number-with-unit"),
    ):
        with refused(code):
            think_time(text)


def test_an_objective_needs_all_its_conditions() -> None:
    objective = parse_objective("p99 <= 20ms and failed <= 0.1%")
    assert objective.text == "p99 <= 20ms and failed <= 0.1%"
    assert objective.holds({"p99": 20.0, "failed": 0.0})
    assert not objective.holds({"p99": 20.1, "failed": 0.0})
    assert not objective.holds({"p99": 1.0, "failed": 0.2})
    assert not objective.holds({"p99": None, "failed": None})
    assert parse_objective("p999 < 1.5s").clauses[0].limit == 1500.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p99 <= 20", refused("limit-without-unit", given="20")),
        ("p98 <= 20ms", refused("quantity-unknown", quantity="p98")),
        ("p99 >= 20ms", refused("not-a-condition")),
        ("failed <= 1%", refused("objective-without-latency")),
        ("p99 <= 1ms and failed <= 3", refused("not-a-share-of-failures")),
        ("p99 <= 20parsecs", refused("unit-unknown")),
        ("", refused("not-a-condition")),
    ],
)
def test_an_invalid_objective_is_refused_with_an_example(text: str, expected: refused) -> None:
    with expected:
        parse_objective(text)
