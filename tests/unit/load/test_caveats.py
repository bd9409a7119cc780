"""Caveats of a load: a rate that was not reached, a client that was the limit."""

from __future__ import annotations

from typing import Any

import pytest

from pgassay.errors import TrialError
from pgassay.notes import Note, note_of
from pgassay.plan.steps import Step
from pgassay.trials.load.caveats import load_notes, refuse_failed
from support.notes import codes_in

OUTAGE = {"start_ns": 1_000_000_000, "end_ns": 1_500_000_000, "connections": 2}
STEPS = (Step(2, 10.0, measured=True, rate=1000.0),)


def result(transactions: int = 10_000, **changes: Any) -> dict[str, Any]:
    step = {
        "index": 0, "measured": True, "start_ns": 0, "end_ns": 10 * 10**9,
        "transactions": transactions, "failed": 0,
    }  # fmt: skip
    return {
        "steps": [step], "lost_connections": 0, "failed": 0, "client_cpu_s": 1.0,
        "duration_s": 10.0, "connections": {"count": 4}, "transactions": transactions, **changes,
    }  # fmt: skip


def test_a_load_as_asked_for_has_no_caveat() -> None:
    assert (
        load_notes(result(unfinished=8, unfinished_max_ms=3.0, latency_ms={"max": 4.0}), STEPS, 1)
        == []
    )
    assert load_notes(result(), STEPS, 1) == []
    assert load_notes(result(9_600), STEPS, 1) == [], "chance and edges explain so much"
    assert load_notes(result(10), [Step(2, 10.0, measured=True)], 1) == []


def test_a_prepared_statement_that_is_lost_speaks_of_poolers() -> None:
    first = {"sqlstate": "42601", "message": "x"}
    scenarios = [{"errors": {"42601": 1, "26000": 1}}]
    found = load_notes(result(failed=2, first_error=first, scenarios=scenarios), STEPS, 1)
    assert [one.code for one in found] == ["trials/load/failed", "trials/load/pooled"]
    first["scenario"] = "replay"
    failed = refused(result(10, failed=20, first_error=first, scenarios=scenarios), "")
    assert "trials/load/pooled" in codes_in(failed)
    replay: dict[str, Any] = {
        "late_own": None, "failed_here_only": 2, "failed_there_only": 0, "failed_otherwise": {},
    }  # fmt: skip
    for as_there, pooled in ((0, True), (1, False)):
        of = result(
            failed=2, first_error=first, scenarios=scenarios,
            replay={**replay, "failed_here_and_there": as_there},
        )  # fmt: skip
        codes = [one.code for one in load_notes(of, STEPS, 1)]
        assert ("trials/load/pooled-replay" in codes) == pooled


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (result(9_000), "1000 transactions a second were asked for, 900.0 done"),
        (result(9_000), "queue, and their response times grow with the length of the trial"),
        (result(client_cpu_s=9.5), "was the limit, not the server"),
        (result(client_limited=True), "was the limit, not the server"),
        (result(skipped=7), "7 transactions were skipped: later than the latency limit; they have"),
        (
            result(unfinished=2, unfinished_max_ms=1500.0, latency_ms={"max": 9.0}),
            "2 transactions were still running when the load ended and are not counted"
            " (0.02 % of all; too few to change p99)",
        ),
        (
            result(unfinished=1, unfinished_max_ms=7.0, latency_ms={"max": None}),
            "1 transaction was still running when the load ended and is not counted"
            " (0.01 % of all; the slowest had run for 0.01 s; let the load run longer)",
        ),
        (
            result(9_900, unfinished=50, unfinished_max_ms=1500.0, latency_ms={"max": 9.0}),
            "the slowest had run for 1.50 s, so p99 looks better than it was",
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
def test_each_trouble_of_a_load_is_one_caveat(found: dict[str, Any], words: str) -> None:
    (note,) = load_notes(found, STEPS, 1)
    assert words in str(note)


def a_slice(transactions: int, crossing: int, edge_lag_ms: float) -> dict[str, Any]:
    return {
        "transactions": transactions,
        "failed": 0,
        "crossing": crossing,
        "edge_lag_ms": edge_lag_ms,
    }


def test_slices_that_lose_long_transactions_or_switch_late_have_a_caveat() -> None:
    one_late = [a_slice(100, 2, 0.1), a_slice(100, 2, 40.0), a_slice(100, 2, 1.0)]
    assert load_notes(result(slices=one_late), STEPS, 1) == []
    (caveat,) = load_notes(result(slices=[a_slice(80, 20, 1.0)]), STEPS, 1)
    assert caveat == Note("trials/load/crossing-variants", {"crossing": 20, "every": 100})
    (caveat,) = load_notes(result(slices=[a_slice(80, 0, 7.25)] * 3), STEPS, 1)
    assert caveat == Note("trials/load/late-switches", {"late_ms": 7.25})


def test_in_a_switchback_the_advice_names_design_slice() -> None:
    lossy = result(slices=[a_slice(80, 20, 1.0)])
    (caveat,) = load_notes(lossy, STEPS, 1, arms_alternate=True)
    assert caveat.code == "trials/load/crossing-arms"


KILLED = Note("trials/guards/out-of-memory", {"limit": "1 GB"})


def refused(*asked: Any) -> Note:
    """What the error says."""
    with pytest.raises(TrialError) as error:
        refuse_failed(3, *asked)
    return note_of(error.value)


def test_a_load_whose_server_was_killed_for_memory_says_so_before_its_first_error() -> None:
    lost = result(lost_connections=4, first_error=None)
    codes = codes_in(refused(lost, ""))
    assert codes[1:3] == ["trials/load/connections-gone", "trials/load/still-up"]
    killed = codes_in(refused(lost, "", KILLED))
    assert killed[1:] == ["trials/load/connections-gone", KILLED.code, "trials/load/no-error"]
    failed = refused(result(0, first_error=None), "signal 9", KILLED)
    assert failed.values["what"] == Note("trials/load/no-transaction")
    assert failed.values["reason"] == Note.of(
        "trials/load/log-says", reason=KILLED, crash="signal 9"
    )


def test_connections_that_were_lost_in_the_warm_up_are_not_counted_among_none() -> None:
    lost = result(0, lost_connections=1, first_error=None, connections={"count": 0})
    said = refused(lost, "", KILLED)
    assert codes_in(said)[1:] == [
        "trials/load/lost-before-measuring",
        KILLED.code,
        "trials/load/no-error",
    ]
    assert said.values["trial_number"] == 3
