"""Checkpoints come from the log's events or, without a log, from the server's counters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pgassay.trials.checkpoints import (
    checkpoints_in_counters,
    checkpoints_in_log,
    other_events,
)
from pgassay.trials.server_log.entry import Entry
from pgassay.trials.server_log.events import EventTally, LogEvent
from support.server_logs import contents, entries_in, form_for

START = LogEvent(10, "checkpoint_start", "time")
END = LogEvent(20, "checkpoint_end", figures={"buffers": 7.0, "write_s": 1.5, "redo_lsn": 99.0})
SECOND = 10**9


def test_an_end_completes_the_start_before_it() -> None:
    (found,) = checkpoints_in_log([START, END])
    assert (found.started_ns, found.ended_ns, found.cause) == (10, 20, "time")
    assert (found.buffers, found.write_s, found.redo_lsn, found.sync_s) == (7, 1.5, 99, None)
    assert found.restartpoint is False


def test_an_end_without_its_beginning_is_left_out() -> None:
    assert checkpoints_in_log([END]) == ()
    (found,) = checkpoints_in_log([replace(START, kind="restartpoint_start"), END])
    assert found.restartpoint
    assert found.ended_ns is None


def test_a_crash_leaves_a_checkpoint_without_its_end() -> None:
    first, second = checkpoints_in_log([START, replace(START, time_ns=15), END])
    assert (first.ended_ns, second.ended_ns) == (None, 20)


@pytest.mark.parametrize("name", ["russian-15.json", "english-16.log", "english-18.csv"])
def test_real_logs_tell_their_checkpoints(name: str) -> None:
    tally = EventTally()
    for entry in entries_in(form_for(name), contents(name)):
        tally.add(entry)
    found = checkpoints_in_log(tally.events())
    assert [c.cause for c in found] == ["immediate force wait", "wal", "wal"]
    assert all(c.buffers and c.ended_ns and c.distance_kb for c in found)
    assert not any("checkpoint_" in event.kind for event in other_events(tally.events()))


def test_events_that_come_in_masses_are_summed_by_the_second() -> None:
    tally = EventTally(ours_ns=lambda at: at - 1)
    for at in range(5000):
        message = f"duration: {at % 7}.000 ms  statement: SELECT {at}"
        tally.add(Entry(at * 1000 + 1, at, "LOG", None, message, "d", None, of_session=True))
    tally.add(Entry(SECOND + 1, 1, "ERROR", "40001", "x", "d", None, of_session=True))
    first, error = tally.events()
    assert (first.time_ns, first.count, first.pid) == (0, 5000, None)
    assert first.figures == {"ms": sum(at % 7 for at in range(5000)), "ms_max": 6}
    assert (error.time_ns, error.kind, error.sqlstate, error.count) == (SECOND, "error", "40001", 1)


def test_events_without_a_time_or_before_the_trial_are_no_events() -> None:
    tally = EventTally(since_ns=100)
    for at in (None, 99, 100):
        tally.add(Entry(at, 1, "ERROR", None, "x", None, None, of_session=False))
    assert len(tally.events()) == 1
    assert tally.without_time == 1


def test_without_a_log_the_counters_tell_of_checkpoints() -> None:
    columns: dict[str, list[Any]] = {
        "time_ns": [1, 1, 2, 2, 3, 3],
        "source": ["checkpointer"] * 6,
        "object": [""] * 6,
        "name": ["checkpoints_timed", "checkpoints_requested"] * 3,
        "value": [5.0, 1.0, 5.0, 2.0, 6.0, 2.0],
    }
    found = checkpoints_in_counters(columns)
    assert [(c.started_ns, c.cause) for c in found] == [(2, "requested"), (3, "time")]
