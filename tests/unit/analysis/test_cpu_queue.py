"""Sessions without a wait event, split by what the kernel counted of their processes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.analysis.reading.counters import CounterSeries
from pgassay.analysis.waits.wait_profile import WaitProfile
from pgassay.trials.model.columns import COUNTERS, WAITS

SECOND = 10**9
START = 1_800_000_000 * SECOND


def sessions(
    count: int, seconds: int, event: tuple[str | None, str | None] = (None, None)
) -> list[dict[str, object]]:
    """As many sessions at each of ten ticks a second."""
    return [
        {
            "tick_ns": START + tick * SECOND // 10,
            "pid": pid,
            "backend_type": "client backend",
            "wait_event_type": event[0],
            "wait_event": event[1],
        }
        for tick in range(seconds * 10)
        for pid in range(count)
    ]


def host(seconds: int, run: float, queue: float) -> CounterSeries:
    rows = [
        {
            "time_ns": START + at * SECOND,
            "source": "processes",
            "object": "client backend",
            "name": name,
            "value": float(value * at * SECOND),
        }
        for at in range(seconds + 1)
        for name, value in (("run_ns", run), ("queue_ns", queue))
    ]
    return CounterSeries(pa.Table.from_pylist(rows, schema=COUNTERS))


def profile(rows: list[dict[str, object]], counters: CounterSeries | None) -> WaitProfile:
    return WaitProfile(pa.Table.from_pylist(rows, schema=WAITS), counters)


def test_of_eight_sessions_on_two_processors_six_are_queued() -> None:
    found = profile(sessions(8, 30), host(30, run=2, queue=6))
    whole = found.average_sessions(START, START + 30 * SECOND)
    assert whole is not None
    assert whole["cpu"] == pytest.approx(2)
    assert whole["cpu_queue"] == pytest.approx(6)
    events = found.event_sessions(START, START + 30 * SECOND)
    assert events == pytest.approx({"CPU": 2, "CPU queue": 6})
    by_second = found.by_window(START + np.arange(31) * SECOND)
    assert by_second.sum(axis=1) == pytest.approx(8)
    assert by_second[:, 1] == pytest.approx(6)


def test_a_window_that_was_read_in_part_is_split_by_that_part() -> None:
    # A bin of a long observation: sixty seconds, of which this segment has ten.
    found = profile(sessions(8, 10), host(10, run=2, queue=6))
    (bin_of_it,) = found.by_window(START + np.array([0, 60]) * SECOND)
    assert bin_of_it[1] == pytest.approx(6, abs=0.1)
    # An outage of the way to the server: its processes ran on, and nobody looked.
    looks = [one for one in sessions(8, 30) if not 10 <= (one["tick_ns"] - START) / SECOND < 20]  # type: ignore[operator]
    gap = (START + 10 * SECOND, START + 20 * SECOND)
    away = WaitProfile(
        pa.Table.from_pylist(looks, schema=WAITS), host(30, run=2, queue=6), gaps=[gap]
    )
    (bin_of_it,) = away.by_window(START + np.array([0, 30]) * SECOND)
    assert bin_of_it[1] == pytest.approx(6, abs=0.1)


def test_a_queue_is_never_longer_than_the_kernel_counted() -> None:
    found = profile(sessions(8, 30), host(30, run=2, queue=0.5))
    whole = found.average_sessions(START, START + 30 * SECOND)
    assert whole is not None
    assert (whole["cpu"], whole["cpu_queue"]) == pytest.approx((7.5, 0.5))


def test_a_step_without_a_queue_has_none_of_the_next_steps_queue() -> None:
    steady, busy = host(3, run=2, queue=0.25), host(3, run=2, queue=6)
    times, first = steady.points(("processes", "client backend", "queue_ns"))
    _, second = busy.points(("processes", "client backend", "queue_ns"))
    rows = [
        {"time_ns": int(at), "source": "processes", "object": "client backend"}
        | {"name": name, "value": float(value)}
        for name, values in (
            ("queue_ns", np.r_[first, first[-1] + second[1:]]),
            ("run_ns", 2.0 * SECOND * np.arange(7)),
        )
        for at, value in zip(START + np.arange(7) * SECOND, values, strict=True)
    ]
    assert list(times) == [START + at * SECOND for at in range(4)]
    counters = CounterSeries(pa.Table.from_pylist(rows, schema=COUNTERS))
    found = profile(sessions(8, 6), counters)
    step, next_step = found.by_window(START + np.array([0, 3, 6]) * SECOND)
    assert step[1] == pytest.approx(0.25)
    assert 0.25 < next_step[1] <= 6.0
    queued = found.event_sessions(START, START + 3 * SECOND)["CPU queue"]
    assert queued == pytest.approx(0.25)


def test_short_waits_before_a_session_is_busy_are_not_its_queue() -> None:
    """Between transactions a process waits for a processor while its session is idle."""
    found = profile(sessions(2, 30), host(30, run=2, queue=5))
    whole = found.average_sessions(START, START + 30 * SECOND)
    assert whole is not None
    assert whole["cpu_queue"] == pytest.approx(0)


def test_without_the_kernels_counts_there_is_no_queue_to_tell() -> None:
    found = profile(sessions(8, 3), None)
    whole = found.average_sessions(START, START + 3 * SECOND)
    assert whole is not None
    assert whole["cpu"] == 8
    assert "cpu_queue" not in whole
    assert found.event_sessions(START, START + 3 * SECOND) == {"CPU": 8}


@given(
    busy=st.integers(0, 6),
    waiting=st.integers(0, 4),
    run=st.floats(0, 8),
    queue=st.floats(0, 20),
    width=st.integers(1, 20),
)
def test_classes_always_sum_to_the_time_that_sessions_were_busy(
    busy: int, waiting: int, run: float, queue: float, width: int
) -> None:
    rows = sessions(busy, 20) + sessions(waiting, 20, ("IO", "DataFileRead"))
    rows = rows or [{"tick_ns": START + tick * SECOND // 10} for tick in range(200)]
    found = profile(rows, host(20, run, queue)).by_window(
        START + np.arange(0, 20 + width, width)[: 20 // width + 1] * SECOND
    )
    assert (found >= -1e-9).all()
    assert found.sum(axis=1) == pytest.approx(busy + waiting)
