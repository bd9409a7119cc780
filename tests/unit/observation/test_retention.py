"""Samples are dropped by age and room, their slices stay, and a kill at any moment loses none."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from pgassay.analysis.observation.stored_slices import slices_in
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.workflows.retention import make_room, store_slices
from support.synthetic.observed import S, busy_piece
from support.synthetic.segments import end_of, write

TPS = ("cluster", "", "xact_commit")
WEEK_S = 7 * 86400


def filled(tmp_path: Path, segments: int = 5) -> ObservationDirectory:
    directory = ObservationDirectory.create(tmp_path / "run")
    for number in range(1, segments + 1):
        piece = busy_piece(number * 120, 120, tps=100.0 * number)
        write(directory, number, piece, end_of(number * 120, number * 120 + 120))
        store_slices(directory, number)
    return directory


def commits(directory: ObservationDirectory) -> float:
    """Commits in all slices."""
    slices = slices_in(directory)
    assert (np.diff(slices.starts_ns) > 0).all()
    return float(np.nansum(slices.values[TPS] * slices.seconds))


ALL = 120 * 100.0 * (1 + 2 + 3 + 4 + 5)


def test_the_oldest_samples_go_first_and_the_newest_stay(tmp_path: Path) -> None:
    directory = filled(tmp_path)
    assert make_room(directory, now_ns=400 * S, keep_s=30, most_bytes=1 << 30) == 2
    assert directory.finished() == [3, 4, 5]
    assert slices_in(directory).width_s.tolist() == [60.0] * 4 + [10.0] * 36
    assert commits(directory) == pytest.approx(ALL, rel=1e-3)
    # Without room for all: samples before slices.
    segment, slices = directory.segment(5).bytes(), directory.thinned()[0].bytes()
    make_room(directory, now_ns=400 * S, keep_s=1e6, most_bytes=segment + 3 * slices)
    assert directory.finished() == [5]
    assert commits(directory) == pytest.approx(ALL, rel=1e-3)
    make_room(directory, now_ns=400 * S, keep_s=1e6, most_bytes=1)
    assert (directory.finished(), directory.thinned()) == ([5], [])


def test_slices_of_more_than_a_week_are_longer(tmp_path: Path) -> None:
    directory = filled(tmp_path)
    make_room(directory, now_ns=2000 * S, keep_s=30, most_bytes=1 << 30)
    make_room(directory, now_ns=(WEEK_S + 2000) * S, keep_s=1e9, most_bytes=1 << 30)
    assert [(one.last, one.width_s) for one in directory.thinned()] == [(4, 600)]
    assert slices_in(directory).width_s.tolist() == [480.0] + [10.0] * 12
    assert commits(directory) == pytest.approx(ALL, rel=1e-3)


def test_a_kill_between_two_steps_neither_loses_nor_doubles_slices(tmp_path: Path) -> None:
    directory = filled(tmp_path)
    make_room(directory, now_ns=400 * S, keep_s=30, most_bytes=1 << 30)
    (before,) = directory.thinned()
    copies = [directory.path / "segments" / "000003", before.path]
    for one in copies:
        aside = tmp_path / one.name
        shutil.copytree(one, aside) if one.is_dir() else shutil.copy(one, aside)
    make_room(directory, now_ns=600 * S, keep_s=30, most_bytes=1 << 30)
    assert directory.finished() == [4, 5]
    for one in copies:  # what was not removed yet
        shutil.move(tmp_path / one.name, one)
    assert commits(directory) == pytest.approx(ALL, rel=1e-3)


def test_an_older_observation_has_slices_without_stored_ones(tmp_path: Path) -> None:
    directory = filled(tmp_path)
    for number in directory.finished():
        (directory.segment(number).folder / "slices.parquet").unlink()
    assert commits(directory) == pytest.approx(ALL, rel=1e-3)
