"""Courses of an observation have gaps where nothing was seen; its directory drops what is old."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgassay.analysis.observation.standby_lag import StandbyLag, Unknown
from pgassay.analysis.observation.summary import summarise_observation
from pgassay.analysis.reading.binned import MOST_BINS, CounterTrack, LevelTrack, bin_edges
from pgassay.analysis.reading.counters import CounterSeries
from pgassay.notes import Note
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.samples.storage.tables import TABLES, as_table
from pgassay.trials.checkpoints.combined import CheckpointFollower
from pgassay.trials.model.record import Checkpoint, Piece
from pgassay.trials.server_log.events import LogEvent
from pgassay.trials.server_log.reader import LogReading
from support.refusals import refused
from support.synthetic.segments import NOTHING, S, end_of, waits, write

ONCE = Note("trials/server_log/no-time-zone")


def track(times_s: list[float], values: list[float]) -> CounterTrack:
    found = CounterTrack()
    times = np.array([round(at * S) for at in times_s], np.int64)
    found.add(times, np.array(values))
    return found


def test_an_outage_is_a_gap_and_growth_during_it_is_no_spike() -> None:
    one = track([0, 1, 2, 3, 20, 21, 22], [0, 10, 20, 30, 5000, 5010, 5020])
    rates = one.rates(np.arange(23, dtype=np.int64) * S)
    assert rates[:3] == pytest.approx([10, 10, 10])
    assert np.isnan(rates[4:19]).all()
    assert rates[20:] == pytest.approx([10, 10])
    assert one.growth() == (50.0, 5.0)


def test_time_without_readings_gives_no_value() -> None:
    gap = [(3 * S, 603 * S)]
    idle = track([0, 1, 2, 3, 603, 604, 605], [7] * 7)
    rates = idle.rates(np.arange(606, dtype=np.int64) * S, gap)
    assert rates[:3] == pytest.approx([0, 0, 0])
    assert np.isnan(rates[3:603]).all()
    assert idle.growth(gap)[1] == pytest.approx(5)
    once = track([3, 603], [100, 900])
    assert once.growth(gap) == (0.0, 0.0)


def test_a_counter_that_goes_backwards_is_a_gap() -> None:
    rates = track([0, 1, 2, 3], [100, 110, 0, 10]).rates(np.arange(4, dtype=np.int64) * S)
    assert rates[0] == pytest.approx(10)
    assert np.isnan(rates[1])
    assert rates[2] == pytest.approx(10)


def level(times_s: list[float], values: list[float]) -> LevelTrack:
    found = LevelTrack()
    found.add(np.array([round(at * S) for at in times_s], np.int64), np.array(values))
    return found


def test_a_gauge_is_averaged_over_the_time_that_was_read() -> None:
    # Equal readings between the first and the last are not stored.
    one = level([0, 1, 2, 3, 63, 64], [0, 10, 20, 4, 4, 0])
    assert one.mean() == pytest.approx((5 + 15 + 12 + 240 + 2) / 64)
    assert one.largest() == 20
    assert one.rates(np.array([0, 2, 4]) * S) == pytest.approx([10, 8])
    outage = level([0, 1, 2, 602, 603], [5, 5, 5, 5, 5])
    assert outage.growth([(2 * S, 602 * S)]) == pytest.approx((15, 3))
    changed = level([0, 1, 2, 602, 603], [5, 5, 5, 900, 900])
    assert changed.growth([(2 * S, 602 * S)]) == pytest.approx((910, 3))
    assert level([3], [7]).mean() is None


def test_a_time_that_is_missing_for_two_reasons_is_missing_once() -> None:
    one = level([0, 1, 2, 602, 603], [5, 5, 5, 5, 5])
    assert one.growth([(2 * S, 602 * S), (S, 2 * S), (300 * S, 602 * S)]) == pytest.approx((10, 2))


def lag(**readings: list[float]) -> StandbyLag:
    """One reading a second of each."""
    rows = [
        (at * S, "standby", "", name, value)
        for name, values in readings.items()
        for at, value in enumerate(values)
        if value == value
    ]
    names = ("time_ns", "source", "object", "name", "value")
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    found = StandbyLag()
    found.add(CounterSeries(as_table(columns, TABLES["postgres"])))
    return found


NO = float("nan")


def test_unknown_lag_of_a_standby_is_a_gap_with_its_cause() -> None:
    cut_off = lag(
        receivers=[1, 1, 0, 0, 1, 1],
        receive_known=[1, 1, 0, 0, 1, 1],
        receive_behind_bytes=[8, 8, NO, NO, 8, 8],
    )
    level = cut_off.levels["receive_behind_bytes"]
    assert level.growth(cut_off.unknown_stretches("receive_behind_bytes")) == pytest.approx((16, 2))
    assert cut_off.unknown(()) == {"receive_behind_bytes": Unknown(3.0, 0.6, "no_receiver")}
    # A gap inside of what was not known counts once.
    (unknown,) = cut_off.unknown([(2 * S, 3 * S)]).values()
    assert (unknown.seconds, unknown.share) == (2.0, 0.5)


@pytest.mark.parametrize(
    ("figure", "readings", "cause"),
    [
        ("receive_behind_bytes", {"receivers": [1, 1], "receive_known": [0, 0]}, "hidden"),
        ("receive_behind_bytes", {"receivers": [0, 1], "receive_known": [0, 0]}, "hidden"),
        ("receive_behind_bytes", {"receivers": [0, 0], "receive_known": [0, 0]}, "no_receiver"),
        (
            "receive_behind_bytes",
            {"receivers": [1, 1], "silent_ms": [9, 9], "receive_known": [0, 0]},
            "no_word",
        ),
        ("replay_behind_bytes", {"receivers": [0, 0], "replay_known": [0, 0]}, "not_streamed"),
        ("replay_lag_ms", {"receivers": [1, 1], "lag_known": [0, 0]}, "no_commit"),
    ],
)
def test_a_lag_that_was_never_known_has_no_figure(
    figure: str, readings: dict[str, list[float]], cause: str
) -> None:
    found = lag(**readings)
    assert found.levels == {}
    assert found.unknown(()) == {figure: Unknown(1.0, 1.0, cause)}
    assert lag(receivers=[1, 1], receive_known=[1, 1]).unknown(()) == {}


def test_readings_by_a_slow_server_still_belong_together() -> None:
    one = track([0, 10, 20, 30], [0, 100, 200, 300])
    assert one.rates(np.array([0, 15 * S, 30 * S])) == pytest.approx([10, 10])


@pytest.mark.parametrize("seconds", [1, 30, 3600, 86400, 30 * 86400])
def test_bins_are_round_and_few_however_long_it_took(seconds: int) -> None:
    edges = bin_edges(5 * S, (5 + seconds) * S)
    assert 1 <= len(edges) - 1 <= MOST_BINS
    assert edges[0] == 5 * S


def commits(start_s: int, values: list[float]) -> dict[str, list[Any]]:
    count = len(values)
    return {
        "time_ns": [(start_s + n) * S for n in range(count)],
        "source": ["cluster"] * count,
        "object": [""] * count,
        "name": ["xact_commit"] * count,
        "value": values,
    }


def test_segments_are_read_as_one_course(tmp_path: Path) -> None:
    directory = ObservationDirectory.create(tmp_path / "run")
    for number, start in ((1, 100), (2, 110)):
        counted = commits(start, [number * 1000.0 + 52 * n for n in range(10)])
        piece = Piece(waits(start, 100), counted, NOTHING)
        write(directory, number, piece, end_of(start, start + 10, notes=(ONCE,)))
    observed = summarise_observation(list(directory.segments()))
    assert observed.seconds == 20
    assert observed.classes["lock"] == pytest.approx(1.0)
    assert observed.events == {"Lock:tuple": pytest.approx(1.0)}
    # 52 a second, of which 40 in 20 s were the samplers' own; the step between both is one more.
    assert observed.courses["tps"][3] == pytest.approx(50.0)
    assert observed.notes == (ONCE,)
    assert observed.gaps_ns == ()
    assert observed.classic is not None
    (arm,) = observed.classic.arms
    assert observed.classic.intervals == 20
    spreads = {one.name: one.median for one in arm.figures}
    assert spreads["Lock"] == pytest.approx(1.0)
    assert spreads["speed"] is None, "the database’s own counters were not read"
    assert [(one.event, one.trials) for one in arm.events] == [("Lock:tuple", 2)]


def test_the_samplers_commits_are_of_the_time_that_was_recorded(tmp_path: Path) -> None:
    directory = ObservationDirectory.create(tmp_path / "run")
    for number, start in ((1, 100), (2, 140)):
        counted = commits(start, [52.0 * (start + n) for n in range(11)])
        write(
            directory, number, Piece(waits(start, 100), counted, NOTHING), end_of(start, start + 10)
        )
    observed = summarise_observation(list(directory.segments()))
    assert len(observed.gaps_ns) == 1
    # 52 a second, of which 40 in the 20 s of both segments were the samplers' own.
    assert observed.averages["tps"] == pytest.approx(50.0)


def test_running_and_queued_sessions_are_separated_where_the_host_was_read(
    tmp_path: Path,
) -> None:
    on_cpu = waits(100, 300) | {"wait_event_type": [None] * 300, "wait_event": [None] * 300}
    times = range(100, 131)
    host: dict[str, list[Any]] = {
        "time_ns": [at * S for at in times for _ in range(2)],
        "source": ["processes"] * 62,
        "object": ["client backend"] * 62,
        "name": ["run_ns", "queue_ns"] * 31,
        "value": [share * (at - 100) * S for at in times for share in (0.25, 0.75)],
    }
    for name, seen in (("known", host), ("unknown", NOTHING)):
        directory = ObservationDirectory.create(tmp_path / name)
        write(directory, 1, Piece(on_cpu, NOTHING, seen), end_of(100, 130))
    known, unknown = (
        summarise_observation(list(ObservationDirectory(tmp_path / name).segments()))
        for name in ("known", "unknown")
    )
    assert known.classes["cpu"] == pytest.approx(0.25, abs=0.01)
    assert known.classes["cpu_queue"] == pytest.approx(0.75, abs=0.01)
    assert known.events == pytest.approx({"CPU": 0.25, "CPU queue": 0.75}, abs=0.01)
    assert unknown.classes["cpu"] == pytest.approx(1.0)
    assert "cpu_queue" not in unknown.classes


def test_time_between_ticks_is_a_gap_across_segments(tmp_path: Path) -> None:
    directory = ObservationDirectory.create(tmp_path / "run")
    write(directory, 1, Piece(waits(100, 50), NOTHING, NOTHING), end_of(100, 110))
    nobody = Piece({name: [] for name in waits(0, 0)}, NOTHING, NOTHING)
    write(directory, 2, nobody, end_of(110, 120))
    write(directory, 3, Piece(waits(125, 50), NOTHING, NOTHING), end_of(120, 130))
    (gap,) = summarise_observation(list(directory.segments())).gaps_ns
    assert gap == (1049 * S // 10, 125 * S)


@pytest.mark.parametrize(("end_s", "gaps"), [(140, 0), (400, 1)])
def test_the_last_pause_of_seldom_looks_is_a_gap_by_the_rule_of_the_others(
    tmp_path: Path, end_s: int, gaps: int
) -> None:
    directory = ObservationDirectory.create(tmp_path / "run")
    seldom = {**waits(100, 4), "tick_ns": [at * S for at in (100, 110, 120, 130)]}
    write(directory, 1, Piece(seldom, NOTHING, NOTHING), end_of(100, end_s))
    assert len(summarise_observation(list(directory.segments())).gaps_ns) == gaps


def test_a_segment_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    directory = ObservationDirectory.create(tmp_path / "run")
    with pytest.raises(KeyboardInterrupt), directory.write_segment(1):
        raise KeyboardInterrupt
    assert directory.finished() == []
    assert directory.discard_if_empty()
    with refused("does-not-exist"):
        ObservationDirectory.open(tmp_path / "run")


def test_a_checkpoint_across_segments_is_reported_once_with_its_end() -> None:
    begun, ended = LogEvent(1, "checkpoint_start", "time"), LogEvent(9, "checkpoint_end")
    follower = CheckpointFollower()

    def reported(event: LogEvent, *, last: bool = False) -> tuple[Checkpoint, ...]:
        return follower.end_period(
            LogReading((event,), has_checkpoints=True), last=last
        ).checkpoints

    assert reported(begun) == ()
    (found,) = reported(ended)
    assert (found.started_ns, found.ended_ns) == (1, 9)
    assert reported(begun, last=True)[0].ended_ns is None


def test_a_checkpoint_counted_between_two_pieces_is_not_lost() -> None:
    def counted(at: int, value: float) -> dict[str, list[Any]]:
        return {
            "time_ns": [at],
            "source": ["checkpointer"],
            "object": [""],
            "name": ["checkpoints_timed"],
            "value": [value],
        }

    follower, no_log = CheckpointFollower(), LogReading(None, has_checkpoints=False)
    for at, value, new in ((1, 4.0, 0), (2, 5.0, 1), (3, 5.0, 0)):
        follower.count(counted(at, value))
        assert len(follower.end_period(no_log, last=False).checkpoints) == new
