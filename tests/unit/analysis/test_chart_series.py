"""The series that charts over time draw: percentiles as merged histograms have them, and spans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pgassay.analysis.measures.courses import latencies
from pgassay.analysis.measures.courses.chart_samples import (
    SampledCourse,
    figure_course,
    mean_course,
)
from pgassay.analysis.measures.courses.chart_series import (
    FAILED,
    chart_series,
    events_by_second,
    p99_by_second,
    sampling_pauses,
)
from pgassay.analysis.measures.courses.even_series import read_even_series
from pgassay.analysis.measures.courses.latencies import latency_course
from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.reading.counters import CounterSeries
from pgassay.analysis.reading.histograms import Histogram
from pgassay.notes import Note
from pgassay.trials.model.columns import COUNTERS
from support.synthetic.directories import SPEC, synthetic_run

S = 10**9
_LOAD = pa.schema(
    [
        ("start_ns", pa.int64()),
        ("latency_ns", pa.list_(pa.int64())),
        ("latency_count", pa.list_(pa.int64())),
    ]
)


def load_of(rows: list[tuple[int, list[int], list[int]]]) -> pa.Table:
    return pa.Table.from_pylist(
        [dict(zip(_LOAD.names, (at * S, *rest), strict=True)) for at, *rest in rows], _LOAD
    )


def seconds_of_two_scenarios(seconds: int) -> pa.Table:
    source = np.random.default_rng(3)
    rows = []
    for at in range(seconds):
        for middle in (1e6, 7e6):
            values = sorted(set(source.lognormal(np.log(middle), 0.6, 400).astype(int).tolist()))
            rows.append((at, values, source.integers(1, 5, len(values)).tolist()))
    return load_of(rows)


def test_the_percentile_of_a_second_is_that_of_its_scenarios_merged() -> None:
    load = seconds_of_two_scenarios(5)
    found = latency_course(load, "latency", 2 * S, 5 * S)
    assert found.offset_s == (-1.5, -0.5, 0.5, 1.5, 2.5)
    for at, p99_ms in enumerate(found.p99_ms):
        own = load.filter(pa.compute.equal(load["start_ns"], at * S))
        exact = Histogram.merged(own).quantiles_ns([0.99])
        assert exact is not None
        assert p99_ms == pytest.approx(exact[0] / 1e6, rel=0.015)


def test_a_second_without_transactions_has_no_percentile() -> None:
    load = load_of([(0, [2_000_000], [3]), (1, [], []), (2, [3_000_000], [1])])
    first, second, third = latency_course(load, "latency", 0, 3 * S).p99_ms
    assert first == pytest.approx(2, rel=0.02)
    assert second is None
    assert third == pytest.approx(3, rel=0.02)


def test_neighbouring_seconds_of_a_long_trial_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latencies, "_MOST_POINTS", 4)
    load = seconds_of_two_scenarios(10)
    found = latency_course(load, "latency", 0, 10 * S)
    assert found.offset_s == (1.5, 4.5, 7.5, 9.5)
    exact = Histogram.merged(load.slice(0, 6)).quantiles_ns([0.99])
    assert exact is not None
    assert found.p99_ms[0] == pytest.approx(exact[0] / 1e6, rel=0.015)


def test_the_course_of_a_load_with_a_rate_is_that_of_response_times(tmp_path: Path) -> None:
    rated = SPEC.replace("clients = 8", "clients = 8\nrate = 2000")
    run, _, _ = synthetic_run(tmp_path / "run", spec_text=rated, blocks=1)
    series = [chart_series(trial) for trial in run.trials()]
    assert {one.latency.of for one in series} == {"response"}
    offsets, values = zip(*p99_by_second(series, "a1"), strict=True)
    assert offsets[:2] == (-1.5, -0.5)
    assert all(value is not None and value > 0 for value in values)


def test_checkpoints_autovacuum_and_errors_are_on_the_clock_of_the_trial(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    series = next(one for one in map(chart_series, run.trials()) if one.arm == "a1")
    assert [(one.start_s, one.end_s, one.what) for one in series.checkpoints][:2] == [
        (-1.0, 1.0, "wal"),
        (2.0, 4.0, "wal"),
    ]
    what = Note.of("analysis/measures/vacuum", kind="autovacuum", table="bench.public.t")
    assert [(one.start_s, one.end_s, one.what) for one in series.vacuums] == [(3.0, 3.0, what)]
    assert [(one.at_s, one.kind, one.count) for one in series.happened] == [(4.5, "error 40001", 3)]
    assert series.pauses == ()


def test_failed_transactions_are_counted_by_second(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    trial = run.trial(1)
    load = pa.table({"start_ns": [0, S, S], "failed": [0, 2, 3]})
    assert [(one.at_s, one.kind, one.count) for one in events_by_second(trial, load, S, 3 * S)] == [
        (0.5, FAILED, 5)
    ]


@pytest.mark.parametrize(
    ("every_ns", "pause_ns", "found"),
    [(S // 10, S, 0), (S // 10, 3 * S, 1), (10 * S, 30 * S, 0), (10 * S, 60 * S, 1)],
)
def test_a_pause_of_sampling_is_long_by_itself_and_beside_the_others(
    every_ns: int, pause_ns: int, found: int
) -> None:
    pauses: list[Any] = [every_ns] * 10 + [pause_ns] + [every_ns] * 10
    ticks = np.cumsum(np.array(pauses, np.int64))
    spans = sampling_pauses(ticks, 0)
    assert len(spans) == found
    assert all(one.end_s and one.end_s - one.start_s == pause_ns / S for one in spans)


def test_samples_are_stretches_on_one_clock_with_means_over_trials(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=2)
    own = [one.sampled for one in map(chart_series, run.trials()) if one.arm == "a1"]
    first = own[0]
    assert (first.first, first.width_s) == (-2, 1.0)
    assert all(len(values) == 12 for values in first.sessions.values())
    busy = [sum(v or 0.0 for v in at) for at in zip(*first.sessions.values(), strict=True)]
    assert sum(busy) / len(busy) == pytest.approx(0.7 * 8, rel=0.1)


def test_speed_and_the_host_are_stretches_of_the_measured_part(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=2)
    own = [one.figures for one in map(chart_series, run.trials()) if one.arm == "a1"]
    # 100 of user, 65 of system with interrupts, 5 of iowait, 0.5 of steal, 30 idle.
    shares = {name: own[0].figures[name][5] for name in ("us", "sy", "wa", "st")}
    assert shares == pytest.approx({"us": 49.9, "sy": 32.4, "wa": 2.5, "st": 0.25}, 0.1)
    assert own[0].figures["WAITINGS"][5] is not None

    middles, means = mean_course(own, lambda one: one.figures.get("us"))
    assert middles == [at + 0.5 for at in range(10)]
    assert means[5] == pytest.approx(sum(one.figures["us"][5] or 0.0 for one in own) / 2)


def test_a_mean_over_trials_is_of_those_that_know_the_stretch() -> None:
    early = SampledCourse(-1, 2.0, {"wal": (1.0, None, 3.0)})
    late = SampledCourse(0, 2.0, {"wal": (5.0, 7.0, 9.0)})
    found = mean_course([early, late, SampledCourse()], lambda one: one.sessions.get("wal"))
    assert found == ([-1.0, 1.0, 3.0, 5.0], [1.0, 5.0, 5.0, 9.0])


def test_a_host_that_was_not_read_has_no_figures(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    sources = TrialSources(run.trial(1))
    sources.host = CounterSeries(COUNTERS.empty_table())
    found = figure_course(read_even_series(run.trial(1), sources)).figures
    assert "WAITINGS" in found
    assert not {"us", "r", "vda/MB"} & found.keys()
