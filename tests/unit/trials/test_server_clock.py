"""The server's clock is put on our axis, with how sure that is."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Self, cast

import psycopg
import pytest

from pgassay import _core
from pgassay.server.protocol import Connection
from pgassay.trials.server_log.server_clock import ClockReading, ServerClock, read_clock

MS = 1_000_000
S = 1_000_000_000


class Session:
    """Answers with what its clock shows."""

    def __init__(self, shows: Callable[[], int]) -> None:
        self._shows = shows

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def execute(self, *_: Any, **__: Any) -> Any:
        found = self._shows()
        return SimpleNamespace(fetchone=lambda: (found,))


def nobody() -> Connection:
    raise psycopg.OperationalError("gone")


def session_ahead_by(nanoseconds: int) -> Connection:
    return cast(Connection, Session(lambda: _core.now_ns() + nanoseconds))


def clock_of(*readings: ClockReading) -> ServerClock:
    clock = ServerClock(nobody)
    for reading in readings:
        clock.add(reading)
    return clock


@pytest.mark.parametrize("ahead", [0, 3 * S, -40 * MS, 3600 * S])
def test_an_offset_is_found_within_its_own_uncertainty(ahead: int) -> None:
    reading = read_clock(session_ahead_by(ahead))
    assert abs(reading.offset_ns - ahead) <= reading.uncertainty_ns


def test_the_clock_of_the_same_machine_moves_no_time() -> None:
    clock = ServerClock(lambda: session_ahead_by(0))
    assert clock.read()
    assert clock.read()
    assert clock.ours_ns(123) == 123
    assert clock.described()["applied"] is False


def test_a_drift_is_spread_evenly_between_two_readings() -> None:
    clock = clock_of(ClockReading(0, 100 * MS, 0), ClockReading(10 * S, 140 * MS, 0))
    assert clock.ours_ns(100 * MS) == 0
    assert abs(clock.ours_ns(5 * S + 120 * MS) - 5 * S) < MS
    assert clock.ours_ns(10 * S + 140 * MS) == 10 * S
    assert clock.ours_ns(20 * S + 140 * MS) == 20 * S
    assert clock.ours_ns(-S) == -S - 100 * MS
    (note,) = clock.notes
    assert (note.code, note.values) == ("trials/server_log/drifted", {"drift_ms": 40.0})
    assert clock.described() == {
        "offset_ms": 100.0,
        "offset_at_end_ms": 140.0,
        "drift_ms": 40.0,
        "uncertainty_ms": 0.0,
        "applied": True,
    }


def test_a_drift_within_the_uncertainty_is_no_caveat() -> None:
    far = ClockReading(0, 100 * MS, 30 * MS), ClockReading(S, 140 * MS, 30 * MS)
    assert clock_of(*far).notes == ()


def test_many_readings_keep_the_first_and_the_last() -> None:
    clock = clock_of(*(ClockReading(at * S, at * MS + 50 * MS, 0) for at in range(100)))
    assert clock.described()["offset_ms"] == 50.0
    assert clock.described()["offset_at_end_ms"] == 149.0
    assert clock.ours_ns(99 * S + 149 * MS) == 99 * S


def test_a_server_that_does_not_answer_leaves_times_as_they_are() -> None:
    clock = ServerClock(nobody)
    assert not clock.read()
    assert clock.ours_ns(7) == 7
    assert clock.described() == {}
    assert clock.notes == ()
