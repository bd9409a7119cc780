"""A checkpoint that the server counted is reported, also where its log lacks it."""

from __future__ import annotations

from typing import Any

from pgassay.trials.checkpoints.combined import CheckpointFollower, KnownCheckpoints
from pgassay.trials.server_log.events import LogEvent
from pgassay.trials.server_log.reader import LogReading

S = 10**9


def counted(*begun_s: float, from_s: int, to_s: int) -> dict[str, list[Any]]:
    """A reading each second, in which a checkpoint is counted once it has begun."""
    times = range(from_s, to_s + 1)
    return {
        "time_ns": [at * S for at in times],
        "source": ["checkpointer"] * len(times),
        "object": [""] * len(times),
        "name": ["checkpoints_timed"] * len(times),
        "value": [float(sum(begun <= at for begun in begun_s)) for at in times],
    }


def started(at: float) -> LogEvent:
    return LogEvent(round(at * S), "checkpoint_start", "time")


def ended(at: float, total_s: float) -> LogEvent:
    return LogEvent(round(at * S), "checkpoint_end", figures={"buffers": 7.0, "total_s": total_s})


def read(*events: LogEvent) -> LogReading:
    return LogReading(events, has_checkpoints=True)


UNREAD = LogReading(None, has_checkpoints=True)


def starts(reported: KnownCheckpoints) -> list[tuple[float, bool]]:
    """Start in seconds, and whether the log tells it."""
    return [(one.started_ns / S, one.buffers is not None) for one in reported.checkpoints]


def test_checkpoints_missing_from_the_log_come_from_the_counters() -> None:
    follower = CheckpointFollower()
    follower.count(counted(10.5, 60.2, 120.9, from_s=0, to_s=200))
    log = read(started(10.5), ended(40, 29.5), started(120.9), ended(150, 29.1))
    reported = follower.end_period(log, last=True)
    assert starts(reported) == [(10.5, True), (61, False), (120.9, True)]
    assert reported.source == "both"
    assert reported.notes[0].code == "trials/checkpoints/gaps"


def test_the_log_is_believed_alone_where_it_has_every_checkpoint() -> None:
    follower = CheckpointFollower()
    follower.count(counted(10.5, 60.2, from_s=0, to_s=100))
    reported = follower.end_period(read(started(10.5), ended(40, 29.5)), last=False)
    assert (starts(reported), reported.source, reported.notes) == ([(10.5, True)], "log", ())
    reported = follower.end_period(read(started(60.2), ended(90, 29.5)), last=True)
    assert (starts(reported), reported.source, reported.notes) == ([(60.2, True)], "log", ())


def test_a_log_in_an_unknown_language_is_no_source_until_it_is_understood() -> None:
    follower = CheckpointFollower()
    follower.count(counted(10.5, from_s=0, to_s=100))
    unknown = LogReading((), has_checkpoints=False)
    reported = follower.end_period(unknown, last=False)
    assert (starts(reported), reported.source) == ([(11, False)], "counters")
    follower.count(counted(10.5, 150.1, from_s=101, to_s=200))
    log = read(ended(140, 129.5), started(150.1), ended(170, 19.9))
    assert starts(follower.end_period(log, last=True)) == [(150.1, True)]


def test_one_that_was_not_spread_is_counted_at_its_end_and_is_the_same() -> None:
    follower = CheckpointFollower()
    follower.count(counted(50.0, from_s=0, to_s=100))
    reported = follower.end_period(read(started(10.5), ended(49.9, 39.4)), last=True)
    assert starts(reported) == [(10.5, True)]


def test_where_nothing_of_the_log_was_read_all_checkpoints_come_from_the_counters() -> None:
    follower = CheckpointFollower()
    follower.count(counted(10.5, 60.2, from_s=0, to_s=100))
    reported = follower.end_period(UNREAD, last=True)
    assert (starts(reported), reported.source) == ([(11, False), (61, False)], "counters")


def test_a_checkpoint_in_a_later_reading_of_the_log_is_reported_once_with_its_figures() -> None:
    follower = CheckpointFollower()
    follower.count(counted(10.5, from_s=0, to_s=100))
    assert starts(follower.end_period(UNREAD, last=False)) == []
    follower.count(counted(10.5, 150.1, from_s=101, to_s=200))
    log = read(started(10.5), ended(40, 29.5), started(150.1), ended(170, 19.9))
    assert starts(follower.end_period(log, last=False)) == [(10.5, True), (150.1, True)]
    assert starts(follower.end_period(read(), last=True)) == []


def test_a_checkpoint_from_the_counters_is_not_reported_again_from_the_log() -> None:
    follower = CheckpointFollower()
    follower.count(counted(10.5, from_s=0, to_s=100))
    assert starts(follower.end_period(UNREAD, last=False)) == []
    follower.count(counted(10.5, 120.5, from_s=101, to_s=200))
    assert starts(follower.end_period(UNREAD, last=False)) == [(11, False)]
    log = read(started(10.5), ended(40, 29.5), started(120.5), ended(140, 19.5))
    assert starts(follower.end_period(log, last=True)) == [(120.5, True)]


def test_a_checkpoint_whose_start_fell_into_a_gap_is_reported_once_by_its_end() -> None:
    follower = CheckpointFollower()
    follower.count(counted(80.5, from_s=0, to_s=100))
    assert starts(follower.end_period(read(), last=False)) == []
    follower.count(counted(80.5, from_s=101, to_s=200))
    assert starts(follower.end_period(read(ended(150, 69.5)), last=False)) == [(80.5, True)]


def test_a_checkpoint_logged_before_it_was_counted_is_reported_once() -> None:
    follower = CheckpointFollower()
    follower.count(counted(from_s=0, to_s=100))
    assert starts(follower.end_period(read(started(100.2), ended(100.6, 0.4)), last=False)) == [
        (100.2, True)
    ]
    follower.count(counted(100.6, 150.5, from_s=101, to_s=200))
    assert starts(follower.end_period(read(), last=True)) == [(151, False)]


def test_one_that_goes_on_across_segments_is_not_taken_for_the_next() -> None:
    follower = CheckpointFollower()
    follower.count(counted(80.5, from_s=0, to_s=100))
    assert starts(follower.end_period(read(started(80.5)), last=False)) == []
    # Its end and the next one's start are lost.
    follower.count(counted(80.5, 150.5, from_s=101, to_s=200))
    reported = follower.end_period(read(), last=True)
    assert starts(reported) == [(80.5, False), (151, False)]
