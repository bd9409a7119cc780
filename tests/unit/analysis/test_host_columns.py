"""vmstat's and iostat's columns from made-up counters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.analysis.host.columns import COLUMNS, HostColumns
from pgassay.analysis.reading.counters import CounterSeries
from pgassay.cli.show.shown import show_run
from pgassay.trials.model.columns import COUNTERS
from support.refusals import refused
from support.runs.command import pgassay
from support.synthetic.directories import synthetic_run

SECOND = 10**9
START = 1_800_000_000 * SECOND
Readings = Mapping[tuple[str, str, str], list[float]]

CPU = {
    "user": 30, "nice": 10, "system": 15, "irq": 2, "softirq": 3, "idle": 120, "iowait": 10,
    "steal": 10,
}  # fmt: skip
DISK = {
    "reads_completed": 10, "reads_merged": 30, "sectors_read": 800, "read_ms": 25,
    "writes_completed": 100, "writes_merged": 0, "sectors_written": 1600, "write_ms": 50,
    "discards_completed": 0, "discards_merged": 0, "sectors_discarded": 0, "discard_ms": 0,
    "flushes_completed": 4, "flush_ms": 2, "weighted_io_ms": 500, "io_ms": 250,
}  # fmt: skip


def columns(readings: Readings) -> HostColumns:
    rows = [
        {
            "time_ns": START + at * SECOND,
            "source": source,
            "object": thing,
            "name": name,
            "value": value,
        }
        for (source, thing, name), values in readings.items()
        for at, value in enumerate(values)
    ]
    return HostColumns(CounterSeries(pa.Table.from_pylist(rows, schema=COUNTERS)))


def growing(step: float, base: float = 1e6) -> list[float]:
    return [base + at * step for at in range(5)]


def the_host() -> dict[tuple[str, str, str], list[float]]:
    return {
        **{("stat", "cpu", name): growing(ticks) for name, ticks in CPU.items()},
        **{("diskstats", "sda", name): growing(count) for name, count in DISK.items()},
        ("stat", "", "ctxt"): growing(5000),
        ("stat", "", "intr"): growing(700),
        ("stat", "", "procs_running"): [3.0, 3.0, 5.0, 1.0, 3.0],
        ("stat", "", "procs_blocked"): [0.0] * 5,
        ("meminfo", "", "SwapTotal"): [2048.0] * 5,
        ("meminfo", "", "SwapFree"): [1024.0] * 5,
        ("meminfo", "", "Cached"): [9000.0] * 5,
        ("meminfo", "", "SReclaimable"): [1000.0] * 5,
        ("vmstat", "", "pgpgout"): growing(640),
        ("vmstat", "", "pswpin"): growing(2),
        ("vmstat", "", "nr_dirty"): growing(3, 1000),
        ("meminfo", "", "Dirty"): growing(12, 4000),
    }


def test_vmstats_columns_are_those_of_its_manual() -> None:
    window = columns(the_host()).window(START, START + SECOND)
    found = window.vmstat
    assert list(found) == [column.column for column in COLUMNS["vmstat"]]
    expected = {
        "r": 2, "b": 0, "swpd": 1024, "cache": 10_000, "bo": 640, "si": 8, "in": 700, "cs": 5000,
        "us": 20, "sy": 10, "id": 60, "wa": 5, "st": 5,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert found["free"] is None
    assert found["bi"] is None


def test_iostats_columns_are_those_of_its_manual() -> None:
    window = columns(the_host()).window(START, START + 2 * SECOND)
    found = window.iostat["sda"]
    expected = {
        "r/s": 10, "rkB/s": 400, "rrqm/s": 30, "%rrqm": 75, "r_await": 2.5, "rareq-sz": 40,
        "w/s": 100, "wkB/s": 800, "wrqm/s": 0, "%wrqm": 0, "w_await": 0.5, "wareq-sz": 8,
        "d/s": 0, "dkB/s": 0, "drqm/s": 0, "%drqm": 0, "d_await": 0, "dareq-sz": 0,
        "f/s": 4, "f_await": 0.5, "aqu-sz": 0.5, "%util": 25,
    }  # fmt: skip
    assert dict(found) == pytest.approx(expected)
    assert list(found) == [column.column for column in COLUMNS["iostat"]]


def test_a_whole_trial_has_the_mean_of_tasks_and_sizes() -> None:
    whole = columns(the_host()).window(START, START + 4 * SECOND)
    assert whole.vmstat["r"] == 2


@given(values=st.lists(st.integers(0, 1000), min_size=3, max_size=8))
def test_a_counter_that_goes_backwards_is_a_gap_and_never_a_spike(values: list[int]) -> None:
    one = ("diskstats", "sda", "writes_completed")
    counts = columns({one: [float(value) for value in values]})
    edges = counts.readings("iostat")
    for place, window in enumerate(counts.windows(edges)):
        figure = window.iostat["sda"]["w/s"]
        fell = values[place + 1] < values[place]
        assert figure is None or figure >= 0
        assert not fell or figure is None


def test_a_kernel_without_flush_counts_leaves_their_columns_empty() -> None:
    old = {key: values for key, values in the_host().items() if "flush" not in key[2]}
    found = columns(old).window(START, START + SECOND).iostat["sda"]
    assert found["f/s"] is None
    assert found["w/s"] == pytest.approx(100)


def test_show_prints_a_line_for_each_interval_and_device(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    shown = pgassay("show", run.path, "--host", "iostat", "--trial", "1")
    assert shown.returncode == 0, shown.stderr
    title, header, *lines = shown.stdout.splitlines()
    assert title == "trial 1"
    assert header.split()[:3] == ["time", "Device", "r/s"]
    assert {line.split()[1] for line in lines} == {"vda"}
    as_json = json.loads(pgassay("show", run.path, "--host", "vmstat", "--json").stdout)
    assert as_json["schema"] == "pgassay.host/1"
    assert len(as_json["trials"]) == 2
    assert as_json["trials"][0]["windows"][0]["vmstat"]["us"] > 0


def test_show_refuses_a_trial_that_does_not_exist(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    with refused("no-such-trial", str(run.path), trial=9, known="1, 2"):
        show_run(run.path, "vmstat", 9, as_json=False)
    with refused("trial-without-host"):
        show_run(run.path, None, 1, as_json=False)


@pytest.mark.parametrize(("page_kib", "size"), [(4, 4), (16, 16), (64, 64), (4.8, 4), (36, None)])
def test_swapping_is_computed_with_the_hosts_page_size(page_kib: float, size: int | None) -> None:
    host = the_host()
    host["meminfo", "", "Dirty"] = [page_kib * pages for pages in host["vmstat", "", "nr_dirty"]]
    found = columns(host)
    assert found.page_kib == size
    swapped = found.window(START, START + 4 * SECOND).vmstat["si"]
    assert swapped == (None if size is None else pytest.approx(2 * size))


def test_without_dirty_memory_only_a_host_that_does_not_swap_has_a_figure() -> None:
    host = the_host()
    host["vmstat", "", "nr_dirty"] = host["meminfo", "", "Dirty"] = [0.0] * 5
    assert columns(host).window(START, START + 4 * SECOND).vmstat["si"] is None
    host["vmstat", "", "pswpin"] = [7.0] * 5
    assert columns(host).window(START, START + 4 * SECOND).vmstat["si"] == 0.0
