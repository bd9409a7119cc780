"""How steady throughput is, and what the disks and the memory of the host show, by trial."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from pgassay.analysis.measures.costs import host_costs
from pgassay.analysis.measures.within_run import throughput_variation
from pgassay.analysis.reading.counters import CounterSeries
from pgassay.samples.forms.trial import Step
from pgassay.trials.model.columns import COUNTERS
from support.synthetic.stored_trials import step_of

S = 1_000_000_000


def intervals(done: list[int], *, step: int = 0, start: int = 0) -> list[dict[str, int]]:
    return [
        {"step": step, "start_ns": (start + at) * S, "transactions": count}
        for at, count in enumerate(done)
    ]


def steps(*lengths: int) -> list[Step]:
    ends = np.cumsum(lengths)
    return [step_of(index=at, end_ns=int(end) * S) for at, end in enumerate(ends)]


def test_variation_is_the_spread_of_the_seconds_over_their_mean() -> None:
    done = [90, 110, 90, 110, 90, 110]
    rows = pa.Table.from_pylist(intervals(done))
    wanted = 100 * np.std(done, ddof=1) / 100
    assert throughput_variation(steps(6), rows) == pytest.approx(wanted)


def test_a_step_up_of_the_load_is_not_variation() -> None:
    rows = intervals([100] * 6) + intervals([200] * 6, step=1, start=6)
    assert throughput_variation(steps(6, 6), pa.Table.from_pylist(rows)) == 0.0


def test_intervals_that_are_cut_are_left_out_and_few_have_no_spread() -> None:
    rows = pa.Table.from_pylist(intervals([100] * 6 + [30]))
    cut = [step_of(end_ns=6 * S + 3 * S // 10)]
    assert throughput_variation(cut, rows) == 0.0
    assert throughput_variation(steps(3), pa.Table.from_pylist(intervals([90, 100, 110]))) is None


def test_the_hosts_figures_are_those_of_whole_disks_and_of_memory_that_is_not_available() -> None:
    growing = {
        ("diskstats", "vda", "read_ms"): 10.0,
        ("diskstats", "vda", "write_ms"): 110.0,
        ("diskstats", "vda", "reads_completed"): 20.0,
        ("diskstats", "vda", "writes_completed"): 40.0,
        ("diskstats", "vda1", "write_ms"): 1e6,
        ("diskstats", "vda1", "writes_completed"): 1.0,
        ("vmstat", "", "pswpin"): 3.0,
        ("vmstat", "", "pswpout"): 4.0,
        ("meminfo", "", "MemTotal"): 0.0,
        ("meminfo", "", "MemAvailable"): 0.0,
    }
    at_first = {"MemTotal": 8000.0, "MemAvailable": 5000.0}
    host = CounterSeries(
        pa.Table.from_pylist(
            [
                {
                    "time_ns": second * S,
                    "source": source,
                    "object": thing,
                    "name": name,
                    "value": at_first.get(name, 0.0) + second * rate,
                }
                for (source, thing, name), rate in growing.items()
                for second in range(11)
            ],
            schema=COUNTERS,
        )
    )
    costs = host_costs(host, 1 * S, 9 * S, 100)
    assert costs["disk_await_ms"] == pytest.approx(2.0)
    assert costs["swapped_pages_per_s"] == pytest.approx(7.0)
    assert costs["memory_used_bytes"] == pytest.approx(3000 * 1024)
    assert host_costs(CounterSeries(pa.table({})), 0, S, 1)["memory_used_bytes"] is None
