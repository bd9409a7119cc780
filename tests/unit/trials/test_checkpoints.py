"""Checkpoints come from the log's events or, without a log, from the server's counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pgassay.trials.checkpoints.combined import (
    CheckpointFollower,
    checkpoints_in_log,
    other_events,
)
from pgassay.trials.checkpoints.counted import CheckpointCounts
from pgassay.trials.model.record import Checkpoint, Columns
from pgassay.trials.server_log.entry import Entry
from pgassay.trials.server_log.events import EventTally, LogEvent
from pgassay.trials.server_log.reader import LogReading
from support.servers.logs import contents, entries_in, form_for

START = LogEvent(10, "checkpoint_start", "time")
END = LogEvent(20, "checkpoint_end", figures={"buffers": 7.0, "write_s": 1.5, "redo_lsn": 99.0})
SECOND = 10**9
NO_LOG = LogReading(None, has_checkpoints=False)


def reported(
    follower: CheckpointFollower, *events: LogEvent, last: bool = False
) -> tuple[Checkpoint, ...]:
    return follower.end_period(LogReading(events, has_checkpoints=True), last=last).checkpoints


def test_an_end_completes_the_start_before_it() -> None:
    (found,) = checkpoints_in_log([START, END])
    assert (found.started_ns, found.ended_ns, found.cause) == (10, 20, "time")
    assert (found.buffers, found.write_s, found.redo_lsn, found.sync_s) == (7, 1.5, 99, None)
    assert found.restartpoint is False


def test_a_checkpoint_that_was_under_way_at_first_began_before_by_what_it_took() -> None:
    long = replace(END, time_ns=20 * SECOND, figures={**END.figures, "total_s": 12.5})
    (found,) = checkpoints_in_log([long])
    assert (found.started_ns, found.ended_ns) == (7_500_000_000, 20 * SECOND)
    assert (found.cause, found.buffers, found.restartpoint) == ("unknown", 7, False)
    first, second = checkpoints_in_log([long, replace(START, time_ns=30 * SECOND)])
    assert (first.ended_ns, second.cause, second.ended_ns) == (20 * SECOND, "time", None)
    follower = CheckpointFollower()
    (standby,) = reported(follower, replace(long, kind="restartpoint_end"))
    assert standby.restartpoint
    assert reported(follower, last=True) == ()


def test_an_end_without_its_beginning_or_length_is_left_out() -> None:
    assert checkpoints_in_log([END]) == ()
    (found,) = checkpoints_in_log([replace(START, kind="restartpoint_start"), END])
    assert found.restartpoint
    assert found.ended_ns is None


def test_a_crash_leaves_a_checkpoint_without_its_end() -> None:
    first, second = checkpoints_in_log([START, replace(START, time_ns=15), END])
    assert (first.ended_ns, second.ended_ns) == (None, 20)


@pytest.mark.parametrize("name", ["russian-15.json", "english-16.log", "english-18.csv"])
def test_checkpoints_are_read_from_real_logs(name: str) -> None:
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


@pytest.mark.parametrize(
    ("application", "events"),
    [
        ("pgassay control", 0),
        ("pgassay sampler", 0),
        ("pgassay", 2),
        ("pgassay x", 2),
        ("psql", 2),
        (None, 2),
    ],
)
def test_events_of_our_own_sessions_but_for_the_load_are_left_out(
    application: str | None, events: int
) -> None:
    tally = EventTally()
    for severity, message in (("ERROR", "x"), ("LOG", "duration: 1.0 ms  statement: SELECT 1")):
        tally.add(
            Entry(
                1, 1, severity, None, message, "d", None, of_session=True, application=application
            )
        )
    assert len(tally.events()) == events


def test_events_without_a_time_or_before_the_trial_are_no_events() -> None:
    tally = EventTally(since_ns=100)
    for at in (None, 99, 100):
        tally.add(Entry(at, 1, "ERROR", None, "x", None, None, of_session=False))
    assert len(tally.events()) == 1
    assert tally.without_time == 1


def checkpoints_in_counters(columns: Columns) -> list[Checkpoint]:
    counts = CheckpointCounts()
    return [one.checkpoint for one in (*counts.feed(columns), *counts.finish())]


def test_without_a_log_checkpoints_come_from_the_counters() -> None:
    columns: dict[str, list[Any]] = {
        "time_ns": [1, 1, 2, 2, 3, 3],
        "source": ["checkpointer"] * 6,
        "object": [""] * 6,
        "name": ["checkpoints_timed", "checkpoints_requested"] * 3,
        "value": [5.0, 1.0, 5.0, 2.0, 6.0, 2.0],
    }
    found = checkpoints_in_counters(columns)
    assert [(c.started_ns, c.cause) for c in found] == [(2, "requested"), (3, "time")]


def readings(*values: Mapping[str, float]) -> dict[str, list[Any]]:
    """One reading a second; WAL is read after the checkpointer's counters."""
    rows = [
        (at * SECOND + (name == "insert_bytes"), name, float(value))
        for at, reading in enumerate(values)
        for name, value in sorted(reading.items(), key=lambda item: item[0] == "insert_bytes")
    ]
    return {
        "time_ns": [row[0] for row in rows],
        "source": ["wal_position" if row[1] == "insert_bytes" else "checkpointer" for row in rows],
        "object": [""] * len(rows),
        "name": [row[1] for row in rows],
        "value": [row[2] for row in rows],
    }


def counted(*values: Mapping[str, float]) -> list[tuple[int, str, bool]]:
    """Start in seconds, cause, whether it is a restartpoint; alike however it is cut."""
    columns, follower = readings(*values), CheckpointFollower()
    whole = checkpoints_in_counters(columns)
    pieces: list[Checkpoint] = []
    for at in range(len(values)):
        rows = [n for n, time_ns in enumerate(columns["time_ns"]) if time_ns // SECOND == at]
        piece = {name: [column[n] for n in rows] for name, column in columns.items()}
        follower.count(piece)
        pieces += follower.end_period(NO_LOG, last=at == len(values) - 1).checkpoints
    assert pieces == whole
    return [(one.started_ns // SECOND, one.cause, one.restartpoint) for one in whole]


def test_a_timed_checkpoint_that_was_skipped_is_none_where_those_made_are_counted() -> None:
    def at(timed: int, requested: int, done: int, buffers: int) -> dict[str, float]:
        return {
            "checkpoints_timed": timed,
            "checkpoints_requested": requested,
            "checkpoints_done": done,
            "buffers_written": buffers,
        }

    skipped = [at(1, 0, 0, 5), at(2, 0, 0, 5), at(2, 0, 0, 5)]
    assert counted(*skipped) == []
    assert counted(*skipped, at(2, 1, 1, 9)) == [(3, "requested", False)]
    assert counted(*skipped, at(3, 0, 0, 7), at(3, 0, 1, 9)) == [(3, "time", False)]
    # The next begins in the second in which the long one ends.
    long = [at(1, 0, 0, 5), at(2, 0, 0, 7), at(2, 0, 0, 9), at(2, 1, 1, 9), at(2, 1, 2, 9)]
    assert counted(*long) == [(1, "time", False), (3, "requested", False)]
    assert counted(*long[:3]) == [(1, "time", False)]


def test_before_those_made_were_counted_a_timed_one_must_have_written_something() -> None:
    def at(timed: int, requested: int, buffers: int, wal: int) -> dict[str, float]:
        return {
            "checkpoints_timed": timed,
            "checkpoints_requested": requested,
            "buffers_written": buffers,
            "insert_bytes": wal,
        }

    idle = [at(1, 0, 5, 80), at(2, 0, 5, 80), at(2, 0, 5, 80)]
    assert counted(*idle) == []
    assert counted(*idle, at(2, 1, 5, 80)) == [(3, "requested", False)]
    # A record of running transactions, and a checkpoint's.
    assert counted(*idle[:2], at(2, 0, 5, 136)) == []
    assert counted(*idle[:2], at(2, 0, 5, 256)) == [(1, "time", False)]
    later = [*idle, *[idle[-1]] * 3, at(2, 0, 5, 256)]
    assert counted(*later) == []
    assert counted(*later, at(2, 0, 7, 256), at(2, 0, 9, 256)) == [(1, "time", False)]


def test_a_standby_counts_its_restartpoints_apart() -> None:
    def at(timed: int, requested: int, done: int) -> dict[str, float]:
        return {
            "checkpoints_timed": 0,
            "checkpoints_requested": 0,
            "restartpoints_timed": timed,
            "restartpoints_requested": requested,
            "restartpoints_done": done,
        }

    assert counted(at(0, 0, 0), at(1, 0, 0), at(2, 0, 0), at(3, 0, 1)) == [(3, "time", True)]
    assert counted(at(0, 0, 0), at(0, 1, 1), at(0, 0, 0), at(0, 1, 1)) == [
        (1, "requested", True),
        (3, "requested", True),
    ]
