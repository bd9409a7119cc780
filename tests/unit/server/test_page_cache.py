"""The page cache of a directory's files: measured, filled, emptied; links are never followed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pgassay.server.data.caches import caveat
from pgassay.server.hosts import page_cache
from pgassay.server.protocol import CacheState
from pgassay.spec.server.reset import Caches
from support.notes import codes_in

PAGE = os.sysconf("SC_PAGESIZE")


def test_pages_that_were_read_are_in_the_cache(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("one", "deep/two"):
        (tmp_path / name).write_bytes(bytes(3 * PAGE + 1))
    page_cache.drop([tmp_path])
    page_cache.read([tmp_path])
    assert page_cache.cached_share([tmp_path]) == 1.0


def test_files_without_bytes_have_no_cached_share(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert page_cache.cached_share([tmp_path]) is None
    assert page_cache.cached_share([tmp_path / "absent"]) is None
    assert not page_cache.readable([tmp_path / "absent"])
    assert not page_cache.readable([])
    assert page_cache.readable([tmp_path])


def test_links_and_pipes_are_skipped(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
    (outside / "file").write_bytes(bytes(PAGE))
    (inside / "file").symlink_to(outside / "file")
    (inside / "folder").symlink_to(outside)
    os.mkfifo(inside / "pipe")
    assert page_cache.cached_share([inside]) is None
    page_cache.drop([inside])
    page_cache.read([inside])


@pytest.mark.parametrize(
    ("rule", "share", "code"),
    [
        (Caches.COLD, 0.01, None),
        (Caches.COLD, 0.3, "not-cold"),
        (Caches.COLD, None, "caches-unknown"),
        (Caches.WARM, None, None),
    ],
)
def test_caches_that_should_be_cold_and_are_not_give_a_caveat(
    rule: Caches, share: float | None, code: str | None
) -> None:
    found = caveat(CacheState(rule, "somehow", share))
    assert codes_in(found) == ([] if code is None else [f"server/data/{code}"])
    assert caveat(None) is None
