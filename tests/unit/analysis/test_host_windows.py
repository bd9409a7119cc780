"""Windows of a host are put together by time and by requests, and not over gaps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pgassay.analysis.host.windows import HostCourse, finest_windows, merged
from pgassay.analysis.measures.costs import host_costs
from pgassay.analysis.model import HostWindow
from pgassay.analysis.observation.summary import summarise_observation
from pgassay.analysis.reading.counters import CounterSeries
from pgassay.cli.show.shown import show_run
from pgassay.samples.forms.observation import ObservationFile
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.trials.model.columns import COUNTERS
from pgassay.trials.model.record import Piece
from support.refusals import refused
from support.runs.command import pgassay
from support.synthetic.segments import NOTHING, S, end_of, waits, write

IDLE = {"r/s": 0.0, "r_await": 0.0, "%util": 0.0}
STAT = ("user", "nice", "system", "irq", "softirq", "idle", "iowait", "steal")


def window(start_s: int, end_s: int, us: float | None, **sda: float | None) -> HostWindow:
    figures = IDLE | {name.replace("_s", "/s"): value for name, value in sda.items()}
    return HostWindow(start_s * S, end_s * S, {"us": us}, {"sda": figures})


def test_rates_count_by_their_time_and_waits_by_their_requests() -> None:
    long = window(0, 30, 10.0, r_s=100.0, r_await=1.0)
    short = window(30, 40, 50.0, r_s=900.0, r_await=9.0)
    both = merged([long, short])
    assert (both.start_ns, both.end_ns) == (0, 40 * S)
    assert both.vmstat["us"] == pytest.approx(20.0)
    assert both.iostat["sda"]["r/s"] == pytest.approx(300.0)
    # 3 000 reads of 1 ms and 9 000 of 9 ms.
    assert both.iostat["sda"]["r_await"] == pytest.approx(7.0)


def test_what_was_not_read_is_left_out_and_no_request_is_no_wait() -> None:
    assert merged([window(0, 1, None), window(1, 2, 4.0)]).vmstat["us"] == 4.0
    assert merged([window(0, 1, None)]).vmstat["us"] is None
    assert merged([window(0, 1, 0.0), window(1, 2, 0.0)]).iostat["sda"]["r_await"] == 0.0


def readings(start_s: int, end_s: int, busy: int) -> dict[str, list[Any]]:
    """A processor with `busy` of its 100 ticks a second in use, and a disk that writes."""
    columns: dict[str, list[Any]] = {name: [] for name in NOTHING}
    for at in range(start_s, end_s + 1):
        counters = {("stat", "cpu", name): 0.0 for name in STAT}
        counters["stat", "cpu", "user"] = float(busy * at)
        counters["stat", "cpu", "idle"] = float((100 - busy) * at)
        counters["diskstats", "sda", "sectors_written"] = 200.0 * at
        for (source, thing, name), value in counters.items():
            row = (at * S, source, thing, name, value)
            for column, cell in zip(columns, row, strict=True):
                columns[column].append(cell)
    return columns


def series(columns: dict[str, list[Any]]) -> CounterSeries:
    return CounterSeries(pa.Table.from_pydict(columns, schema=COUNTERS))


def test_a_course_has_windows_of_equal_length_and_none_where_the_host_was_away() -> None:
    course = HostCourse(0, 120 * S)
    first, second = readings(0, 30, 20), readings(90, 120, 60)
    course.add(series({name: [*first[name], *second[name]] for name in first}))
    assert [w.start_ns // S for w in course.windows()] == [0, 10, 20, 90, 100, 110]
    assert [round(w.vmstat["us"] or 0) for w in course.windows()] == [20] * 3 + [60] * 3
    whole = course.whole()
    assert whole is not None
    assert whole.vmstat["us"] == pytest.approx(40.0)
    assert whole.iostat["sda"]["wkB/s"] == pytest.approx(100.0)
    assert HostCourse(0, S).whole() is None


def observation(folder: Path) -> ObservationDirectory:
    directory = ObservationDirectory.create(folder)
    for number, (start, end) in enumerate([(100, 110), (111, 120)], start=1):
        piece = Piece(waits(start, 90), NOTHING, readings(start, end, 25))
        write(directory, number, piece, end_of(start, end))
    directory.write_file(directory.MARK, ObservationFile(server="db", ended_by="duration"))
    return directory


def test_show_prints_windows_across_segments(tmp_path: Path) -> None:
    directory = observation(tmp_path / "run")
    found = finest_windows(directory.segments(), "vmstat")
    assert [w.end_ns // S for w in found] == list(range(101, 121))
    assert {w.vmstat["us"] for w in found} == {25.0}
    shown = pgassay("show", directory.path, "--host", "iostat")
    header, *lines = shown.stdout.splitlines()
    assert header.split()[:3] == ["time", "Device", "r/s"]
    assert len(lines) == 20
    told = json.loads(pgassay("show", directory.path, "--host", "vmstat", "--json").stdout)
    assert told["schema"] == "pgassay.host/1"
    assert told["windows"][19]["vmstat"]["us"] == 25.0
    with refused("trial-of-an-observation", run=directory.path):
        show_run(directory.path, None, 1, as_json=False)


def test_an_observation_has_its_hosts_table(tmp_path: Path) -> None:
    observed = summarise_observation(list(observation(tmp_path / "run").segments()))
    assert observed.host is not None
    assert observed.host.vmstat["us"] == pytest.approx(25.0)
    # Twenty seconds are ten windows of two.
    assert len(observed.host_windows) == 10
    figures = {(one.device, one.name): one for one in observed.infrastructure}
    user = figures["", "us"]
    assert [one.median for one in user.spreads] == [pytest.approx(25.0)]
    assert [one.mean for one in user.figures] == [pytest.approx(25.0)]
    page = pgassay("report", tmp_path / "run")
    assert page.returncode == 0, page.stderr
    text = (tmp_path / "run" / "report.html").read_text()
    assert "<small>Processors, user, %</small>" in text
    assert 'aria-label="vmstat"' not in text, "one table has the host's figures"


def test_what_is_written_through_a_mapping_counts_once() -> None:
    columns: dict[str, list[Any]] = {name: [] for name in NOTHING}
    for at in (0, 1):
        for device in ("dm-0", "md127", "nvme0n1", "nvme0n1p2", "sdb1"):
            row = (at * S, "diskstats", device, "sectors_written", 100.0 * at)
            for column, cell in zip(columns, row, strict=True):
                columns[column].append(cell)
    # sdb itself was not read: its partition stands for it.
    costs = host_costs(series(columns), 0, S, 1)
    assert costs["disk_written_bytes_per_tx"] == 2 * 100 * 512
