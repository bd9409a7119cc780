"""Whether copies of a data directory fit, as it is told beforehand."""

from __future__ import annotations

import pytest

from pgassay.target.copy_room import Room


def room(free: int, kind: str = "ext2/ext3", copies: int = 2) -> Room:
    return Room("/data of this host", copies, size=10 * 2**30, free=free * 2**30, file_system=kind)


@pytest.mark.parametrize(
    ("seen", "fits"), [(room(22), True), (room(20), False), (room(22, copies=3), False)]
)
def test_whole_copies_and_a_little_more_must_fit(seen: Room, fits: bool) -> None:
    assert seen.fits == fits


def test_a_file_system_that_may_share_blocks_is_not_judged_before_a_run_has_tried() -> None:
    assert not room(20).may_share
    assert room(20, "xfs").may_share
    assert "20.0 GB (next to nothing where xfs shares blocks)" in room(20, "xfs").described()


def test_it_is_told_in_sizes_that_people_read() -> None:
    assert room(22).described() == (
        "2 copies of the data directory, 20.0 GB and as many of the workload's data; 22.0 GB are"
        " free in /data of this host"
    )
    small = Room("/d of db1", 2, size=40 * 2**20, free=50 * 2**20, file_system="tmpfs")
    assert small.lacking.startswith("/d of db1 has 50 MB free; copies of the data beside it (2)")
    assert "take 80 MB" in small.lacking
