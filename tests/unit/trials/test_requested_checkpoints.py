"""Checkpoints that somebody asked for, against those that WAL volume caused."""

from __future__ import annotations

import pytest

from pgassay.trials.checkpoints.counted import ASKED_FOR, least_volume, with_asked_for
from pgassay.trials.model.record import Checkpoint, Columns

MIB, S = 1 << 20, 10**9


def settings(max_wal_mb: int = 1024) -> dict[str, str]:
    return {
        "wal_segment_size": str(16 * MIB), "max_wal_size": str(max_wal_mb),
        "checkpoint_completion_target": "0.9",
    }  # fmt: skip


def written(*mib: int) -> Columns:
    """The WAL's position, second by second."""
    count = len(mib)
    return {
        "time_ns": [second * S for second in range(count)],
        "source": ["wal_position"] * count,
        "object": [""] * count,
        "name": ["insert_bytes"] * count,
        "value": [float(one * MIB) for one in mib],
    }


def causes(
    counters: Columns, *at_s: float, max_wal_mb: int = 1024, redo_mib: int | None = 100
) -> list[str]:
    checkpoints = [Checkpoint(round(second * S), None, "requested") for second in at_s]
    redo = None if redo_mib is None else redo_mib * MIB
    found = with_asked_for(checkpoints, counters, settings(max_wal_mb), redo)
    return [one.cause for one in found]


def test_wal_volume_causes_no_checkpoint_before_so_many_segments() -> None:
    # 1 GB / 1.9 are 33 whole segments; it comes 32 boundaries after the last one began.
    assert least_volume(settings()) == 31 * 16 * MIB
    assert least_volume({}) is None


@pytest.mark.parametrize(
    ("counters", "cause"),
    [
        (written(100, 300, 590), ASKED_FOR),
        (written(100, 300, 610), "requested"),
        (written(100, 300), "requested"),
    ],
)
def test_a_requested_checkpoint_with_little_wal_since_the_last_was_asked_for(
    counters: Columns, cause: str
) -> None:
    assert causes(counters, 1.5, redo_mib=105) == [cause]


def test_the_next_checkpoint_is_judged_by_the_wal_since_the_one_before() -> None:
    counters = written(100, 690, 700, 710, 720)
    assert causes(counters, 1.5, 3.5) == ["requested", ASKED_FOR]


def test_no_cause_is_changed_where_few_segments_suffice_or_the_last_checkpoint_is_unknown() -> None:
    counters = written(100, 101, 102)
    assert causes(counters, 0.5, max_wal_mb=64) == ["requested"]
    assert causes(counters, 0.5, redo_mib=None) == ["requested"]


def test_a_cause_from_the_log_stays() -> None:
    one = Checkpoint(S, 2 * S, "time")
    assert with_asked_for([one], written(100, 101, 102), settings(), 100 * MIB) == [one]
