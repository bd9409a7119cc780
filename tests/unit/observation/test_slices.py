"""Slices of an observation have the signals of a trial, merge by time read, are stored small."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pgassay.analysis.measures.signals import read_signals
from pgassay.analysis.observation.slices import Slices, joined
from pgassay.analysis.observation.slicing import slices_of
from pgassay.analysis.observation.stored_slices import as_table, from_table, slices_in
from pgassay.samples.forms.observation import SegmentFile
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.samples.storage.files import write_atomically
from pgassay.samples.storage.json_files import without_secrets
from pgassay.samples.stored_parts import StoredSegment
from support.refusals import refused
from support.synthetic.directories import synthetic_run
from support.synthetic.observed import S, busy_piece, slices_from
from support.synthetic.segments import NOTHING, end_of, write

LOCK, COMMITS = ("sessions", "", "Lock:tuple"), ("cluster", "", "xact_commit")
LOCK_MS = ("metric", "", "wait_lock_ms_per_tx")
TPS = ("metric", "", "tps")


def test_merged_slices_are_the_signals_of_a_trial_on_the_same_samples(tmp_path: Path) -> None:
    trial = synthetic_run(tmp_path / "run")[0].trial(1)
    summary, folder = trial.summary(), tmp_path / "segment"
    measured = summary.load.measured
    shutil.copytree(trial.folder, folder)
    end = end_of(0, 0, log=summary.log, sampler_cost={})
    spanned = replace(end, started_ns=measured[0].start_ns, ended_ns=measured[-1].end_ns)
    stored = SegmentFile.ended(1, spanned)
    write_atomically(folder / "segment.json", without_secrets(stored))
    merged = slices_of(StoredSegment(folder), 1.0).merged(1e6)
    assert len(merged) == 1
    wanted = read_signals(trial).values
    assert wanted
    found = {key: merged.values[key][0] for key in wanted}
    assert found == pytest.approx(dict(wanted), rel=1e-6)


def observed(tmp_path: Path, *lengths_s: int) -> ObservationDirectory:
    directory = ObservationDirectory.create(tmp_path / "observed")
    start = 100
    for number, seconds in enumerate(lengths_s, start=1):
        write(directory, number, busy_piece(start, seconds), end_of(start, start + seconds))
        start += seconds
    return directory


def test_a_segment_is_divided_evenly_and_its_sampler_is_not_counted(tmp_path: Path) -> None:
    found = slices_in(observed(tmp_path, 41))
    assert found.width_s == pytest.approx([10.25] * 4)
    assert found.seconds == pytest.approx([10.25] * 4, rel=1e-3)
    assert found.values[LOCK] == pytest.approx([0.6] * 4, abs=0.02)
    assert found.values["query", "42", "IO:WalSync"] == pytest.approx([0.4] * 4, abs=0.02)
    assert found.values["database", "lab", "numbackends"] == pytest.approx([3.5] * 4, abs=0.06)
    assert found.values[TPS] == pytest.approx([100 - 20 / 41] * 4)
    assert found.values[LOCK_MS] == pytest.approx([6.0] * 4, rel=0.05)


def test_windows_weigh_slices_by_the_time_read_and_ratios_are_of_averages() -> None:
    slices = slices_from({TPS: [100.0, 300.0], ("class", "", "lock"): [1.0, np.nan]})
    halved = Slices(slices.starts_ns, np.array([10.0, 5.0]), slices.width_s, slices.values)
    merged = halved.merged(20)
    assert merged.seconds == pytest.approx([15.0])
    assert merged.values[TPS] == pytest.approx([500 / 3])
    assert merged.values[LOCK_MS] == pytest.approx([6.0])


def test_windows_that_were_read_are_the_trials_of_an_arm() -> None:
    slices = slices_from({TPS: [100.0, 200.0, 300.0, 400.0]})
    read = Slices(slices.starts_ns, np.array([10.0, 10.0, 0.0, 4.0]), slices.width_s, slices.values)
    arm = read.signals("before", 20)
    assert [(one.arm, one.block, one.transactions) for one in arm.trials] == [("before", 1, 3000)]


def test_what_was_not_there_to_count_is_zero_only_where_it_was_looked_for() -> None:
    looked = ("class", "", "cpu")
    first = slices_from({looked: [1.0, np.nan], LOCK: [2.0, np.nan]})
    second = slices_from({looked: [1.0]}, start_s=20)
    assert joined([first, second]).values[LOCK] == pytest.approx([2.0, np.nan, 0.0], nan_ok=True)


def test_stored_slices_leave_out_what_repeats_and_read_back_the_same() -> None:
    slices = slices_from({LOCK: [1.0, 1.0, np.nan, np.nan, 2.0], COMMITS: [5.0] * 5})
    table = as_table(slices)
    assert table.num_rows == 5 + 1 + 3 + 1
    found = from_table(table, Path())
    assert found.starts_ns.tolist() == slices.starts_ns.tolist()
    assert found.seconds == pytest.approx(slices.seconds)
    assert found.values.keys() == slices.values.keys()
    for key, row in slices.values.items():
        assert found.values[key] == pytest.approx(row, nan_ok=True)


@pytest.mark.parametrize("order", [[1, 0, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 6, 5]])
def test_slices_out_of_order_are_refused(order: list[int]) -> None:
    table = as_table(slices_from({LOCK: [1.0, 2.0, 3.0]})).take(order)
    with refused("damaged"):
        from_table(table, Path("slices.parquet"))


def test_a_period_has_the_slices_whose_middle_lies_in_it(tmp_path: Path) -> None:
    directory = observed(tmp_path, 30, 30)
    assert slices_in(directory, 116 * S, 140 * S).starts_ns.tolist() == [120 * S, 130 * S]
    assert len(slices_in(directory, 500 * S)) == 0


def test_statements_are_read_by_the_minute_and_grow_only_in_their_own(tmp_path: Path) -> None:
    directory = ObservationDirectory.create(tmp_path / "observed")
    pairs = [("7", 100, 0.0), ("7", 160, 600.0), ("8", 160, 5.0), ("8", 220, 65.0)]
    rows = [(at * S, "statements", item, "calls", value) for item, at, value in pairs]
    rows += [(220 * S, "statements", "7", "calls", 900.0), (280 * S, *rows[0][1:4], 1500.0)]
    counters = dict(zip(NOTHING, map(list, zip(*rows, strict=True)), strict=True))
    write(directory, 1, busy_piece(100, 180), end_of(100, 280, counters=counters))
    found = slices_in(directory).values
    assert found["statements", "7", "calls"] == pytest.approx([10.0] * 6 + [0.0] * 6 + [10.0] * 6)
    assert found["statements", "8", "calls"] == pytest.approx([0.0] * 6 + [1.0] * 6 + [0.0] * 6)
