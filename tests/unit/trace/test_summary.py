"""A stored trace as figures, and what its report and its JSON object show of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgassay.analysis.trace.cost import Window, cost_of
from pgassay.analysis.trace.model import TraceSummary
from pgassay.analysis.trace.summary import checkpoints_of, summarise_trace
from pgassay.report.formats.markdown import render_markdown
from pgassay.trials.trace.programs import PARTS
from pgassay.workflows.reporting import trace_context
from support.runs.command import pgassay
from support.runs.json_page import documented
from support.synthetic.traces import CHECKPOINT_S, SECONDS, at, synthetic_trace


@pytest.fixture
def traced(tmp_path: Path) -> TraceSummary:
    return summarise_trace(synthetic_trace(tmp_path / "trace"))


def test_figures_of_a_point_are_per_second_of_the_whole_trace(traced: TraceSummary) -> None:
    (point,) = traced.points
    assert (point.point, point.key, point.count) == ("lwlock_wait", "WALWrite", 25_000)
    assert point.per_s == pytest.approx(25_000 / SECONDS)
    # 20 s of half a session, 5 s of a whole one, 5 s without any.
    assert point.in_it == pytest.approx((20 * 0.5 + 5 * 1.0) / SECONDS)
    assert point.mean_us == pytest.approx(15e6 / 25_000)
    assert point.per_tx_us == pytest.approx(15e6 / 3000)
    assert point.p99_us == pytest.approx(1024.0)
    assert point.longest_us == 8192


def test_a_checkpoint_has_its_phases_and_its_cause(traced: TraceSummary) -> None:
    (found,) = traced.checkpoints
    assert (found.start_ns, found.end_ns) == tuple(map(at, CHECKPOINT_S))
    assert found.cause == "wal"
    assert found.write_s == pytest.approx(3.9)
    assert found.sync_s == pytest.approx(0.9)


def test_a_checkpoint_is_compared_with_the_seconds_beside_it(traced: TraceSummary) -> None:
    assert [one.name for one in traced.periods] == ["before", "during", "after"]
    assert [one.seconds for one in traced.periods] == [10.0, 5.0, 10.0]
    assert [one.points[0].in_it for one in traced.periods] == pytest.approx([0.5, 1.0, 0.5])
    assert [one.tps for one in traced.periods] == pytest.approx([100.0] * 3)


def test_the_cost_is_the_pairs_times_what_each_takes(traced: TraceSummary) -> None:
    assert traced.pairs == 25_000
    assert traced.cost_share == pytest.approx(25_000 * 1000e-9 / SECONDS)


def test_phases_without_their_checkpoint_are_a_checkpoint_too() -> None:
    """A restartpoint has only the phases, and a trace may begin within a checkpoint."""
    events = [
        {"phase": "write", "begins": False, "time_ns": 5, "flags": 0},
        {"phase": "sync", "begins": True, "time_ns": 5, "flags": 0},
        {"phase": "sync", "begins": False, "time_ns": 9, "flags": 0},
        {"phase": "checkpoint", "begins": False, "time_ns": 10, "flags": 0},
        {"phase": "checkpoint", "begins": True, "time_ns": 20, "flags": 0x100},
    ]
    first, second = checkpoints_of(events, 1)
    assert (first.start_ns, first.end_ns, first.write_s) == (1, 10, None)
    assert (second.start_ns, second.end_ns, second.cause) == (20, None, "time")


def test_the_measured_cost_is_a_ratio_over_pairs_of_windows() -> None:
    pairs = [
        (Window(tps=without, cpu_s=0.5), Window(tps=probed, cpu_s=0.5))
        for without, probed in ((100.0, 98.0), (110.0, 107.8), (90.0, 89.1))
    ]
    found = cost_of(pairs, 5.0)
    assert found is not None
    assert found.tps.ratio == pytest.approx(0.9833, abs=1e-3)
    assert found.tps.low is not None
    assert found.tps.high is not None
    assert found.tps.low < found.tps.ratio < found.tps.high
    assert found.cpu_per_tx_us.ratio == pytest.approx(1 / 0.9833, abs=1e-3)
    assert cost_of([(Window(0.0, 0.5), Window(98.0, 0.5))], 5.0) is None


def test_the_report_is_made_again_from_what_is_stored(tmp_path: Path) -> None:
    directory = synthetic_trace(tmp_path / "trace")
    shown = pgassay("report", directory.path).stdout
    assert "LWLock WALWrite" in shown
    page = (directory.path / "report.html").read_text("utf-8")
    assert "Checkpoint 1" in page
    assert "accounts" in page
    assert "LWLock WALWrite" in pgassay("show", directory.path).stdout
    text = render_markdown(trace_context(directory))
    assert "not traced: wal" in text.replace("\\", "")
    assert "3 of 25\u202f003 had only one end" in text


def test_the_keys_of_a_trace_are_the_documented_ones(tmp_path: Path) -> None:
    directory = synthetic_trace(tmp_path / "trace")
    found = json.loads(pgassay("report", directory.path, "--format", "json").stdout)
    assert set(found) == documented("the trace", found["schema"])
    assert json.loads(pgassay("show", directory.path, "--json").stdout).keys() == found.keys()
    assert set(found["points"][0]) == documented("`points[]`", found["schema"])
    assert set(found["checkpoints"][0]) == documented("`checkpoints[]`", found["schema"])
    assert set(found["periods"][0]) == documented("`periods[]`", found["schema"])
    assert set(found["relations"][0]) == documented("`relations[]`", found["schema"])


def test_an_unknown_part_is_refused_by_name(tmp_path: Path) -> None:
    done = pgassay("trace", "--what", "lwlocks,locks", "--out", tmp_path / "t")
    assert done.returncode == 1
    assert "--what" in done.stderr
    assert ", ".join(PARTS) in done.stderr
