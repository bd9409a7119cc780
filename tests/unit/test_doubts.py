"""A doubtful load says so: a rate that was not reached, a client that was the limit."""

from __future__ import annotations

from typing import Any

import pytest

from pgassay.plan.steps import Step
from pgassay.trials.doubts import load_doubts

OUTAGE = {"start_ns": 1_000_000_000, "end_ns": 1_500_000_000, "connections": 2}
STEPS = (Step(2, 10.0, measured=True, rate=1000.0),)


def result(transactions: int = 10_000, **changes: Any) -> dict[str, Any]:
    step = {
        "index": 0, "measured": True, "start_ns": 0, "end_ns": 10 * 10**9,
        "transactions": transactions, "failed": 0,
    }  # fmt: skip
    return {
        "steps": [step], "lost_connections": 0, "failed": 0, "client_cpu_s": 1.0,
        "duration_s": 10.0, "connections": {"count": 4}, **changes,
    }  # fmt: skip


def test_a_load_as_asked_for_raises_no_doubt() -> None:
    assert (
        load_doubts(result(unfinished=8, unfinished_max_ms=3.0, latency_ms={"max": 4.0}), STEPS, 1)
        == []
    )
    assert load_doubts(result(), STEPS, 1) == []
    assert load_doubts(result(9_600), STEPS, 1) == [], "chance and edges explain so much"
    assert load_doubts(result(10), [Step(2, 10.0, measured=True)], 1) == []


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (result(9_000), "1000 transactions a second were asked for, 900.0 done"),
        (result(client_cpu_s=9.5), "was the limit, not the server"),
        (result(client_limited=True), "was the limit, not the server"),
        (result(skipped=7), "7 transactions were skipped"),
        (
            result(unfinished=2, unfinished_max_ms=1500.0, latency_ms={"max": 9.0}),
            "2 of the load's transactions had not ended when it did, the slowest",
        ),
        (
            result(unfinished=1, unfinished_max_ms=7.0, latency_ms={"max": None}),
            "1 of the load's transactions had not ended",
        ),
        (result(lost_connections=2), "2 connections were lost"),
        (result(lost_connections=1), "1 connection was lost"),
        (result(outages=[OUTAGE]), "2 of 4 connections away once, 0.50 s"),
        (
            result(outages=[OUTAGE, {**OUTAGE, "connections": 4}]),
            "all connections away at most, 2 times, 1.00 s in all",
        ),
        (
            result(failed=1, first_error={"sqlstate": "40001", "message": "x"}),
            "1 transaction failed; first 40001: x",
        ),
        (
            result(failed=3, first_error={"sqlstate": "40001", "message": "x"}),
            "3 transactions failed; first 40001: x",
        ),
    ],
)
def test_what_makes_a_load_doubtful_is_told(found: dict[str, Any], words: str) -> None:
    (doubt,) = load_doubts(found, STEPS, 1)
    assert words in doubt


def a_slice(transactions: int, crossing: int, edge_lag_ms: float) -> dict[str, Any]:
    return {
        "transactions": transactions,
        "failed": 0,
        "crossing": crossing,
        "edge_lag_ms": edge_lag_ms,
    }


def test_slices_that_lose_their_long_transactions_or_begin_late_are_doubtful() -> None:
    one_late = [a_slice(100, 2, 0.1), a_slice(100, 2, 40.0), a_slice(100, 2, 1.0)]
    assert load_doubts(result(slices=one_late), STEPS, 1) == []
    (doubt,) = load_doubts(result(slices=[a_slice(80, 20, 1.0)]), STEPS, 1)
    assert "20 of 100 transactions crossed an edge" in doubt
    assert "no variant, the long ones most likely; make load.slices.length longer" in doubt
    (doubt,) = load_doubts(result(slices=[a_slice(80, 0, 7.25)] * 3), STEPS, 1)
    assert "met 7.2 ms late" in doubt


def test_of_arms_that_take_turns_the_advice_names_their_own_key() -> None:
    lossy = result(slices=[a_slice(80, 20, 1.0)])
    (doubt,) = load_doubts(lossy, STEPS, 1, arms_alternate=True)
    assert "count for no arm, the long ones most likely; make design.slice longer" in doubt
