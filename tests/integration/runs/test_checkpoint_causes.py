"""Three causes of lost throughput, provoked on a real server, are recognised and told apart.

A checkpoint by the clock comes 30 s after a server's start at the earliest, so trials with one last
three quarters of a minute. The recorded runs of tests/golden hold the same promise in a second.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.checkpoints.provoke import can_be_provoked, provoke

from pgassay.findings.model import Confidence, Finding, FindingKind
from support.notes import codes_in

IMAGES = "findings/behaviour/checkpoint_causes/images.title"
WRITEBACK = "findings/behaviour/checkpoint_causes/writeback.title"
WAL_LOCKS = "findings/behaviour/wal_locks/title"


def provoked(name: str, tmp_path: Path) -> dict[str, Finding]:
    if not can_be_provoked(name):
        pytest.skip("slowing a disk down takes root and the blkio controller of cgroup version 1")
    context = provoke(name, tmp_path / "run")
    found = {codes_in(one.title)[0]: one for one in context.of_kind(FindingKind.DIAGNOSIS)}
    return {code: one for code, one in found.items() if code in (IMAGES, WRITEBACK, WAL_LOCKS)}


@pytest.mark.heavy
def test_the_dip_that_full_page_writes_make_is_confirmed_by_the_arm_without_them(
    tmp_path: Path,
) -> None:
    found = provoked("full-page-images", tmp_path)
    assert found[IMAGES].confidence is Confidence.CONFIRMED
    assert WAL_LOCKS not in found


@pytest.mark.heavy
def test_a_flush_to_a_slow_disk_is_not_taken_for_full_page_images(tmp_path: Path) -> None:
    found = provoked("slow-sync", tmp_path)
    assert {code: one.confidence for code, one in found.items()} == {
        WRITEBACK: Confidence.SUPPORTED
    }


@pytest.mark.heavy
def test_contention_for_the_wal_is_found_without_a_checkpoint(tmp_path: Path) -> None:
    found = provoked("wal-contention", tmp_path)
    assert {code: one.confidence for code, one in found.items()} == {
        WAL_LOCKS: Confidence.SUPPORTED
    }
