"""Counters, states and waits of a trial at even intervals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pgassay.analysis.measures.courses.even_series import (
    EvenSeries,
    even_series,
    joined,
    read_even_series,
    wait_type,
)
from pgassay.analysis.reading.counters import CounterSeries
from pgassay.analysis.waits.wait_profile import WaitProfile
from pgassay.samples.storage.tables import TABLES
from support.synthetic.directories import synthetic_run
from support.synthetic.even import Array
from support.synthetic.segments import NOTHING, S, waits

START = 1000
Counters = dict[tuple[str, str, str], Array]


def counters(values: Counters, table: str = "postgres") -> CounterSeries:
    """Readings each second, from a second before the start on."""
    columns = {name: list(column) for name, column in NOTHING.items()}
    for key, readings in values.items():
        for second, value in enumerate(readings.tolist(), START - 1):
            for name, cell in zip(columns, (second * S, *key, value), strict=True):
                columns[name].append(cell)
    return CounterSeries(pa.table(columns).cast(TABLES[table]))


def of(
    postgres: Counters,
    host: Counters | None = None,
    *,
    seconds: int = 10,
    load: tuple[Array, Array] | None = None,
    own: float = 0.0,
) -> EvenSeries:
    sampled = pa.table(waits(START, 10 * seconds)).cast(TABLES["waits"])
    at_load = None if load is None else (load[0].astype(np.int64), load[1])
    return even_series(
        counters(postgres),
        counters(host or {}, "host"),
        WaitProfile(sampled),
        spans_ns=[(START * S, (START + seconds) * S)],
        checkpoints_ns=np.array([(START + 3) * S]),
        trial=(1, 1, "a1"),
        own_commits_per_s=own,
        load=at_load,
    )


def commits(per_second: Array) -> Counters:
    return {("database", "", "xact_commit"): np.r_[0.0, 0.0, np.cumsum(per_second)]}


def test_counters_are_growth_a_second_states_are_means_and_waits_are_sessions() -> None:
    rates = np.arange(1.0, 11.0) * 100.0
    host = {
        ("stat", "", "procs_running"): np.full(13, 4.0),
        ("diskstats", "sda", "io_ms"): np.arange(0.0, 6500.0, 500.0),
    }
    found = of(commits(rates), host)
    assert found.values["commits"] == pytest.approx(rates)
    assert found.values["procs_running"] == pytest.approx(np.full(10, 4.0))
    assert found.values["sda/busy_ms"] == pytest.approx(np.full(10, 500.0))
    assert found.values["wait/Lock"] == pytest.approx(np.ones(10))
    assert found.values["wait/IO"] == pytest.approx(np.zeros(10))
    assert found.disks == ("sda",)
    assert found.steps == ((0, 10),)
    assert found.checkpoints_s.tolist() == [3.0]
    assert "read" not in found.values, "what was not read is absent, not zero"


def test_longer_intervals_average_those_that_are_known() -> None:
    found = of(commits(np.arange(1.0, 11.0)))
    assert found.averaged(3.0)["commits"] == pytest.approx([2.0, 5.0, 8.0])
    values = np.array([1.0, np.nan, 3.0, np.nan, np.nan, 6.0])
    gaps = EvenSeries(1, 1, "a1", 1.0, (), np.empty(0), {"commits": values}, ())
    assert gaps.averaged(3.0)["commits"] == pytest.approx([2.0, np.nan], nan_ok=True)


def test_what_sessions_report_late_is_put_into_the_seconds_of_the_load() -> None:
    done = np.array([100.0, 200.0, 100.0, 300.0, 100.0, 100.0, 400.0, 100.0, 100.0, 100.0])
    # Every other second nothing is reported, then both; the last second's report is missing.
    late = np.where(np.arange(10) % 2, done + np.r_[0.0, done[:-1]], 0.0)
    late[9] = 0.0
    unrelated = np.array([5.0, 1.0, 7.0, 2.0, 9.0, 1.0, 4.0, 8.0, 3.0, 6.0])
    reported = {
        **commits(late),
        ("database", "", "blks_hit"): np.r_[0.0, 0.0, np.cumsum(10.0 * late)],
        ("database", "", "blks_read"): np.r_[0.0, 0.0, np.cumsum(unrelated)],
    }
    edges = (START + np.arange(11.0)) * S
    found = of(reported, load=(edges, np.r_[0.0, np.cumsum(done)])).values
    share = late[:9].sum() / done[:9].sum()
    assert found["commits"] == pytest.approx(done * share)
    assert found["hit"] == pytest.approx(10.0 * done * share)
    # Divided by reports it does not follow, it would look correlated with what does.
    assert found["read"] == pytest.approx(unrelated)


def test_joined_parts_keep_their_steps_and_have_gaps_where_one_was_not_read() -> None:
    both = commits(np.full(10, 5.0)) | {("database", "", "blks_hit"): np.arange(0.0, 26.0, 2.0)}
    found = joined([of(both), of(commits(np.full(10, 7.0)))])
    assert found.values["commits"] == pytest.approx(np.repeat([5.0, 7.0], 10))
    assert found.values["hit"] == pytest.approx(
        np.r_[np.full(10, 2.0), np.full(10, np.nan)], nan_ok=True
    )
    assert found.steps == ((0, 10), (10, 20))
    assert found.checkpoints_s.tolist() == [3.0, 13.0]


def test_the_commits_of_the_sampler_are_not_the_servers() -> None:
    found = of(commits(np.full(10, 30.0)), own=10.0)
    assert found.values["commits"] == pytest.approx(np.full(10, 20.0))


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ("IO:DataFileRead", "IO"),
        ("LWLock:WALWrite", "LWLock"),
        ("BufferPin:BufferPin", "BufferPin"),
        ("Buffer:BufferExclusive", "BufferPin"),
        ("Client:ClientRead", ""),
        ("Activity:CheckpointerMain", ""),
        ("CPU", ""),
        (None, ""),
    ],
)
def test_activity_and_client_are_no_waits(event: str | None, expected: str) -> None:
    assert wait_type(event) == expected


def test_a_stored_trial_is_read_without_its_warm_up(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=2)
    trial = next(iter(run.trials()))
    found = read_even_series(trial)
    assert (found.number, found.arm, found.intervals) == (1, trial.summary().arm, 10)
    assert found.values["cpu_user"].mean() == pytest.approx(100.0, rel=0.1)
    assert found.values["wait/LWLock"].mean() > 0.5
