"""A counted checkpoint that somebody asked for, told from one that the volume of WAL has."""

from __future__ import annotations

from typing import Any

import pytest

from pgassay.trials.fingerprint import Fingerprint
from pgassay.trials.record import Checkpoint, Columns
from pgassay.trials.requested_checkpoints import ASKED_FOR, least_volume, told_apart

MIB, S = 1 << 20, 10**9


def server(max_wal_mb: int = 1024, **more: Any) -> Fingerprint:
    settings = {
        "wal_segment_size": str(16 * MIB), "max_wal_size": str(max_wal_mb),
        "checkpoint_completion_target": "0.9",
    }  # fmt: skip
    known: dict[str, Any] = {
        "version": "18.1", "started_at_s": 0.0, "database_bytes": 0, "foreign_sessions": 0,
        "foreign_active": 0, "foreign_maintenance": 0, "autovacuum_workers": 0, "base_backups": 0,
        "replicas": "", "clock_offset_ns": 0, "host": None, "postmaster": None,
        "settings": settings, "redo_position": 100 * MIB,
    }  # fmt: skip
    return Fingerprint(**(known | more))


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


def causes(counters: Columns, before: Fingerprint, *at_s: float) -> list[str]:
    found = [Checkpoint(round(second * S), None, "requested") for second in at_s]
    return [one.cause for one in told_apart(found, counters, before)]


def test_volume_asks_for_none_before_so_many_segments() -> None:
    # 1 GB / 1.9 are 33 whole segments; it comes 32 boundaries after the last one began.
    assert least_volume(server()) == 31 * 16 * MIB
    assert least_volume(server(settings={})) is None


@pytest.mark.parametrize(
    ("counters", "cause"),
    [
        (written(100, 300, 590), ASKED_FOR),
        (written(100, 300, 610), "requested"),
        (written(100, 300), "requested"),
        (written(), "requested"),
    ],
)
def test_one_with_little_wal_since_the_last_was_asked_for(counters: Columns, cause: str) -> None:
    assert causes(counters, server(redo_position=105 * MIB), 1.5) == [cause]


def test_the_next_is_reckoned_from_the_one_before() -> None:
    counters = written(100, 690, 700, 710, 720)
    assert causes(counters, server(), 1.5, 3.5) == ["requested", ASKED_FOR]


def test_nothing_is_said_where_a_few_segments_do_or_the_last_is_not_known() -> None:
    counters = written(100, 101, 102)
    assert causes(counters, server(max_wal_mb=64), 0.5) == ["requested"]
    assert causes(counters, server(redo_position=None), 0.5) == ["requested"]


def test_what_a_log_says_stays() -> None:
    one = Checkpoint(S, 2 * S, "time")
    assert told_apart([one], written(100, 101, 102), server()) == [one]
