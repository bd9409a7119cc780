"""A trial's estimates come out as they were put in."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay import _core
from pgassay.analysis.analyse import answer_of
from pgassay.analysis.measures.courses.chart_series import chart_series, mean_by_second
from pgassay.analysis.measures.trial import _by_duration, _clients, measure_trial
from pgassay.analysis.model import Analysis
from pgassay.analysis.reading.counters import CounterSeries
from pgassay.analysis.reading.histograms import Histogram
from pgassay.analysis.reading.metrics import METRICS, class_of
from pgassay.analysis.waits.wait_profile import WaitProfile
from pgassay.samples.storage.histogram_layout import HistogramLayout, layout_in
from pgassay.samples.storage.tables import TABLES
from pgassay.trials.model.columns import COUNTERS, LOAD, WAITS
from support.synthetic.directories import BASE_TPS, SPEC, synthetic_run

KEY = ("wal", "", "wal_bytes")
S = 1_000_000_000


def counters(points: list[tuple[int, float]]) -> CounterSeries:
    return CounterSeries(
        pa.Table.from_pylist(
            [
                {"time_ns": at, "source": KEY[0], "object": KEY[1], "name": KEY[2], "value": value}
                for at, value in points
            ],
            schema=COUNTERS,
        )
    )


def test_a_row_that_goes_and_comes_back_counts_only_while_it_is_there() -> None:
    """Behind a root sessions wait in seconds 0 to 4 and 30 to 34; the sum is read each second."""
    behind, total = ("blocking", "root", "longest_ms"), ("blocking", "(all)", "waiting")
    points = [(at, behind, 100.0 * at) for at in (*range(5), *range(30, 35))]
    points += [(at, total, float(at % 2)) for at in range(40)]
    rows = [
        {"time_ns": at * S, "source": key[0], "object": key[1], "name": key[2], "value": value}
        for at, key, value in sorted(points)
    ]
    series = CounterSeries(pa.Table.from_pylist(rows, schema=COUNTERS))
    edges = np.array([-1, 9, 19, 29, 39], np.int64) * S
    np.testing.assert_allclose(series.shares_there(behind, edges), [0.5, 0.0, 0.0, 0.5])
    means = series.level_means(behind, edges, is_steady=False)
    np.testing.assert_allclose(means, [200.0, np.nan, np.nan, 3200.0])


def test_equal_values_of_which_the_ends_are_stored_were_there_in_between() -> None:
    other = [(at, ("locks", "a", "waiting"), float(at % 2)) for at in range(10)]
    held = [(0, ("locks", "b", "waiting"), 3.0), (5, ("locks", "b", "waiting"), 3.0)]
    rows = [
        {"time_ns": at * S, "source": key[0], "object": key[1], "name": key[2], "value": value}
        for at, key, value in sorted([*other, *held])
    ]
    series = CounterSeries(pa.Table.from_pylist(rows, schema=COUNTERS))
    edges = np.array([-1, 4, 9], np.int64) * S
    np.testing.assert_allclose(series.shares_there(("locks", "b", "waiting"), edges), [1.0, 0.2])


def test_the_known_effect_of_a_made_up_run_is_found(tmp_path: Path) -> None:
    run, spec, plan = synthetic_run(tmp_path / "run", effects={"a2": 0.12})
    measures = [measure_trial(trial) for trial in run.trials()]
    (verdict,) = Analysis(answer_of(spec.question, plan, measures)).answer.verdicts()
    assert verdict.verdict == "better"
    assert verdict.ci95_pct is not None
    assert verdict.ci95_pct[0] < 12.75 < verdict.ci95_pct[1]
    values = measures[0].whole.values
    assert values["tps"] == pytest.approx(BASE_TPS, rel=0.2)
    assert set(values) <= set(METRICS)
    assert values["wal_bytes_per_tx"] == pytest.approx(
        2400 if measures[0].arm == "a1" else 700, rel=0.1
    )


def test_stages_that_come_back_to_a_load_are_one_level_of_it(tmp_path: Path) -> None:
    stages = SPEC.replace('clients = 8\nstep = "10s"', 'stages = "6s:8, 4s:16, 4s:8"')
    run, spec, plan = synthetic_run(tmp_path / "run", spec_text=stages, effects={"a2": 0.12})
    measures = [measure_trial(trial) for trial in run.trials()]
    for trial in measures:
        assert [step.level for step in trial.steps] == [8.0, 16.0]
        assert sum(step.transactions for step in trial.steps) == trial.whole.transactions
        both, one = trial.steps[0].values, trial.steps[1].values
        assert both["tps"] * 10 == pytest.approx(trial.steps[0].transactions)
        assert one["tps"] / both["tps"] == pytest.approx(2, rel=0.1)
        # Written at one rate whatever the load.
        assert both["wal_bytes_per_tx"] == pytest.approx(2 * one["wal_bytes_per_tx"], rel=0.1)
    found = Analysis(answer_of(spec.question, plan, measures)).answer.comparisons
    steps = [one.step for one in found if one.metric == "tps"]
    assert steps == [None, 8.0, 16.0]


def test_clients_that_are_always_busy_have_a_throughput_by_durations(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    summary = run.trial(1).summary()
    (step,) = summary.load.measured
    values = {"tps": 8 / 5, "latency_mean": 4900.0}
    assert _clients((step,)) == 8
    assert _clients((step.model_copy(update={"rate": 100.0}),)) == 0
    assert _by_duration(values, 8.0, 96) == pytest.approx(8 / 4.9)
    thinking = {**values, "latency_mean": 2000.0}
    assert _by_duration(thinking, 8.0, 96) is None, "idle for three fifths of the time"


def test_warm_up_is_not_measured(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    whole = measure_trial(run.trial(1)).whole
    assert (whole.end_ns - whole.start_ns) / 1e9 == 10.0
    series = chart_series(run.trial(1))
    assert series.offset_s[:3] == (-1.5, -0.5, 0.5)
    assert len(mean_by_second([series], series.arm)) == 12


def test_a_counter_is_interpolated_at_the_edges_of_a_window() -> None:
    found = counters([(0, 0.0), (10, 100.0), (20, 300.0)])
    assert found.increase(KEY, 5, 15) == pytest.approx(50 + 100)
    assert found.total("wal", ["wal_bytes"], 0, 20) == pytest.approx(300)
    assert found.total("wal", ["absent"], 0, 20) is None


def test_a_counter_goes_on_where_its_readings_end_inside_of_a_window() -> None:
    found = counters([(10 * S, 100.0), (20 * S, 300.0), (30 * S, 310.0)])
    assert found.increase(KEY, 5 * S, 35 * S) == pytest.approx(100 + 200 + 10 + 5)
    assert found.increase(KEY, 32 * S, 36 * S) == pytest.approx(4)
    table = [("a", 0, 0.0), ("a", 10, 50.0), ("b", 0, 0.0), ("b", 10, 10.0), ("b", 20, 20.0)]
    both = CounterSeries(
        pa.Table.from_pylist(
            [
                {"time_ns": at * S, "source": "io", "object": thing, "name": "writes",
                 "value": value}
                for thing, at, value in table
            ],
            schema=COUNTERS,
        )
    )  # fmt: skip
    assert both.increase(("io", "a", "writes"), 0, 25 * S) == 50, "it did not change since"
    assert both.increase(("io", "b", "writes"), 0, 25 * S) == pytest.approx(25)


def of_objects(readings: dict[str, list[float | None]]) -> CounterSeries:
    """Each object's counter at 0, 10, 20, …; None where it was not read."""
    return CounterSeries(
        pa.Table.from_pylist(
            [
                {"time_ns": 10 * S * at, "source": "io", "object": thing, "name": "writes",
                 "value": value}
                for thing, values in readings.items()
                for at, value in enumerate(values)
                if value is not None
            ],
            schema=COUNTERS,
        )
    )  # fmt: skip


def test_a_sum_over_objects_is_unknown_if_one_of_them_was_reset() -> None:
    one: list[float | None] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]
    reset: list[float | None] = [5, 6, 7, 8, 9, 0, 1, 2, 3, 4]
    found = of_objects({"a": one, "b": reset})
    assert found.total("io", ["writes"], 0, 90 * S) is None
    # Where the reset lies outside, and of the objects that had none.
    assert found.total("io", ["writes"], 0, 20 * S) == pytest.approx(22)
    assert found.total("io", ["writes"], 0, 90 * S, counts="a".__eq__) == pytest.approx(90)


def test_an_object_that_was_not_read_in_the_window_leaves_the_sum_to_the_others() -> None:
    one: list[float | None] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]
    gone: list[float | None] = [5, 3, *[None] * 8]
    found = of_objects({"a": one, "b": gone})
    assert found.total("io", ["writes"], 40 * S, 90 * S) == pytest.approx(50)


def test_a_sum_over_objects_is_unknown_if_one_of_them_appeared_or_vanished_in_the_window() -> None:
    one: list[float | None] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]
    new: list[float | None] = [*[None] * 6, 0, 500, 900, 999]
    gone: list[float | None] = [0, 500, 900, 999, *[None] * 6]
    once: list[float | None] = [*[None] * 5, 7, *[None] * 4]
    for other in (new, gone, once):
        found = of_objects({"a": one, "b": other})
        assert found.total("io", ["writes"], 0, 90 * S) is None
    assert of_objects({"a": one, "b": new}).total("io", ["writes"], 0, 30 * S) == 30


def test_a_counter_that_was_reset_is_a_gap_not_a_number() -> None:
    assert counters([(0, 50.0), (10, 100.0), (20, 3.0), (30, 9.0)]).increase(KEY, 0, 30) is None


def test_rows_left_out_because_nothing_changed_change_no_difference() -> None:
    whole = [(at, 0.0 if at < 90 else 5.0 * (at - 89)) for at in range(100)]
    ends = [(0, 0.0), *whole[89:]]
    one, other = (
        counters([(at * 10**9, value) for at, value in points]) for points in (whole, ends)
    )
    for window in ((3 * 10**9, 50 * 10**9), (80 * 10**9, 92_500_000_000)):
        assert one.increase(KEY, *window) == other.increase(KEY, *window)
    assert other.levels(KEY, np.array([50, 95]) * 10**9).tolist() == [0.0, 30.0]


def test_a_level_is_the_mean_of_the_readings_in_its_window() -> None:
    filling = counters([(at * S, value) for at, value in ((-6, 2000), (4, 16000), (14, 16200))])
    assert filling.mean_level(KEY, 0, 15 * S) == 16100
    assert filling.mean_level(KEY, -5 * S, -1 * S) == 2000  # none inside: the last one before it
    assert filling.mean_level(KEY, 90 * S, 95 * S) is None


def test_a_level_counts_readings_that_left_no_row() -> None:
    whole = [(at * S, 0.0 if at < 8 else 10.0) for at in range(10)]
    sparse = [row for row in whole if row[0] in (0, S, 8 * S, 9 * S)]
    assert counters(whole).mean_level(KEY, 0, 9 * S) == pytest.approx(20 / 9)
    assert counters(sparse).mean_level(KEY, 0, 9 * S) == pytest.approx(20 / 9)


def test_a_window_the_samples_do_not_reach_has_no_difference() -> None:
    assert counters([(0, 0.0), (10, 1.0), (20, 2.0)]).increase(KEY, 0, 100) is None
    assert counters([(0, 0.0)]).increase(KEY, 0, 10) is None


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=200), st.integers(1, 5))
def test_merged_histograms_have_the_quantiles_of_all_values(values: list[int], parts: int) -> None:
    values.append(1_000_000)  # no edge of a bucket of the engine's: these are taken as they are
    rows = []
    for part in range(parts):
        own = sorted(values[part::parts])
        rows.append(
            {
                "start_ns": part, "step": 0, "measured": True, "scenario": "s",
                "transactions": len(own), "failed": 0, "latency_sum_ns": sum(own),
                "latency_ns": own, "latency_count": [1] * len(own),
            }
        )  # fmt: skip
    merged = Histogram.merged(pa.Table.from_pylist(rows, schema=LOAD))
    shares = [0.01, 0.5, 0.95, 1.0]
    expected = np.quantile(values, shares, method="inverted_cdf")
    found = merged.quantiles_ns(shares)
    assert found is not None
    assert np.abs(np.array(found) - expected).max() <= 1.0
    assert found[-1] == max(values)


@pytest.mark.parametrize("layout", [HistogramLayout(_core.LEADING_BITS), None])
def test_quantiles_of_many_are_finer_than_the_buckets_they_are_stored_in(
    layout: HistogramLayout | None,
) -> None:
    durations = np.random.default_rng(1).lognormal(math.log(5e6), 0.5, 200_000).astype(np.int64)
    dropped = np.frexp(durations.astype(np.float64))[1] - _core.LEADING_BITS
    edges, counts = np.unique(durations | ((1 << dropped) - 1), return_counts=True)
    found = Histogram(edges, counts, layout).quantiles_ns([0.1, 0.5, 0.95, 0.99])
    assert found == pytest.approx(np.quantile(durations, [0.1, 0.5, 0.95, 0.99]), rel=5e-4)


def test_a_stored_trial_says_how_wide_its_buckets_are(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    stored = run.trial(1).table("load")
    assert layout_in(stored.schema.metadata) == HistogramLayout(None)
    # Exact latencies stay exact, even where all of them could be the ends of buckets.
    edges, counts = np.array([1023, 2047]), np.array([1, 1])
    assert Histogram(edges, counts, HistogramLayout(None)).quantiles_ns([0.5]) == [1023.0]
    assert Histogram(edges, counts, HistogramLayout(9)).quantiles_ns([0.25]) == [1022.0]


def test_an_empty_histogram_has_no_quantiles() -> None:
    assert Histogram.merged(LOAD.empty_table()).quantiles_ns([0.5]) is None


def test_response_times_are_only_there_where_they_were_measured() -> None:
    row = {
        "start_ns": 0, "step": 0, "measured": True, "scenario": "s", "transactions": 3,
        "failed": 0, "latency_sum_ns": 30, "latency_ns": [10], "latency_count": [3],
    }  # fmt: skip
    assert (
        Histogram.merged(pa.Table.from_pylist([row], LOAD), "response").quantiles_ns([0.5]) is None
    )
    row |= {"response_ns": [20, 40], "response_count": [2, 1]}
    merged = Histogram.merged(pa.Table.from_pylist([row], LOAD), "response")
    assert merged.quantiles_ns([2 / 3, 1.0]) == [20.0, 40.0]


def test_a_trial_has_its_latency_curve_and_the_cpu_of_its_server(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    path = run.path / "trials" / "0001" / "trial.json"
    summary = json.loads(path.read_text("utf-8"))
    done = sum(step["transactions"] for step in summary["load"]["steps"])
    summary["fingerprint"] = {"processors": {"server_s": done / 2000}}
    path.write_text(json.dumps(summary), "utf-8")
    whole = measure_trial(run.trial(1)).whole
    assert whole.values["server_cpu_ms_per_tx"] == pytest.approx(0.5)
    assert whole.latency_curve is not None
    assert whole.latency_curve.of == "latency"
    assert list(whole.latency_curve.quantiles_ms) == sorted(whole.latency_curve.quantiles_ms)
    assert whole.values["latency_p50"] == whole.latency_curve.quantiles_ms[4]
    waits = [v for name, v in whole.values.items() if name.startswith("wait_")]
    cpu = whole.values["wait_cpu_ms_per_tx"]
    assert whole.values["waiting_ms_per_tx"] == pytest.approx(sum(waits) - cpu)


def test_parallel_workers_are_counted_among_the_sessions_and_by_themselves() -> None:
    row = dict.fromkeys(WAITS.names) | {"pid": 1, "backend_type": "client backend"}
    worker = row | {"pid": 2, "leader_pid": 1, "backend_type": "parallel worker"}
    rows = [one | {"tick_ns": at} for at in (0, 10, 20, 30) for one in (row, worker)][:-1]
    profile = WaitProfile(pa.Table.from_pylist(rows, schema=WAITS))
    assert profile.parallel_sessions(0, 40) == pytest.approx(0.75)
    sessions = profile.average_sessions(0, 40)
    assert sessions is not None
    assert sessions["cpu"] == pytest.approx(1.75)
    assert profile.parallel_sessions(100, 200) == 0.0


def test_a_sample_without_sessions_counts() -> None:
    row = dict.fromkeys(WAITS.names)
    rows = [
        row | {"tick_ns": 0, "pid": 1, "backend_type": "client backend"},
        row | {"tick_ns": 10},
        row | {"tick_ns": 20, "pid": 2, "backend_type": "checkpointer"},
        row | {"tick_ns": 30, "pid": 1, "backend_type": "client backend",
               "wait_event_type": "IO", "wait_event": "WalSync"},
    ]  # fmt: skip
    profile = WaitProfile(pa.Table.from_pylist(rows, schema=WAITS))
    sessions = profile.average_sessions(0, 40)
    assert sessions is not None
    assert sessions["cpu"] == 0.25
    assert sessions["wal"] == 0.25
    assert profile.event_sessions(0, 40) == {"CPU": 0.25, "IO:WalSync": 0.25}
    assert profile.average_sessions(50, 60) is None


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ((None, None), "cpu"), (("LWLock", "WALWrite"), "wal"),
        (("LWLock", "BufferContent"), "lwlock"),
        (("IO", "WALSync"), "wal"), (("IO", "WalSync"), "wal"), (("IO", "DataFileRead"), "data_io"),
        (("IO", "AioIoCompletion"), "data_io"), (("Lock", "transactionid"), "lock"),
        (("Client", "ClientRead"), "client"), (("Timeout", "SpinDelay"), "cpu"),
        (("Timeout", "PgSleep"), "throttle"), (("IPC", "SyncRep"), "wal"),
        (("IPC", "ParallelFinish"), "ipc"), (("Extension", "x"), "other"),
    ],
)  # fmt: skip
def test_events_fall_into_the_classes_a_dba_thinks_in(
    event: tuple[str | None, str | None], expected: str
) -> None:
    assert class_of(*event) == expected


@pytest.mark.parametrize("rows_at_once", [1, 2, 5])
def test_counters_are_in_order_of_time_however_their_rows_lie(rows_at_once: int) -> None:
    rows = [(3, "b", 3.0), (1, "a", 10.0), (2, "b", 2.0), (2, "a", 20.0), (1, "b", 1.0)]
    columns: dict[str, list[object]] = {
        "time_ns": [time for time, _, _ in rows],
        "source": ["s"] * len(rows),
        "object": [name for _, name, _ in rows],
        "name": ["n"] * len(rows),
        "value": [value for _, _, value in rows],
    }
    parts = [
        {name: values[at : at + rows_at_once] for name, values in columns.items()}
        for at in range(0, len(rows), rows_at_once)
    ]
    tables = [pa.Table.from_pydict(part, schema=TABLES["postgres"]) for part in parts]
    found = CounterSeries(pa.concat_tables(tables))
    assert [list(part) for part in found.points(("s", "a", "n"))] == [[1, 2], [10.0, 20.0]]
    assert [list(part) for part in found.points(("s", "b", "n"))] == [[1, 2, 3], [1.0, 2.0, 3.0]]
