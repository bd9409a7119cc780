"""The page cache of a directory's files: seen, filled, emptied; links are never followed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pgassay.spec.reset import Caches
from pgassay.target import page_cache
from pgassay.target.caches import doubt
from pgassay.target.protocol import CacheState

PAGE = os.sysconf("SC_PAGESIZE")


def test_what_was_read_is_held(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("one", "deep/two"):
        (tmp_path / name).write_bytes(bytes(3 * PAGE + 1))
    page_cache.drop([tmp_path])
    page_cache.read([tmp_path])
    assert page_cache.cached_share([tmp_path]) == 1.0


def test_nothing_to_look_at_has_no_share(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert page_cache.cached_share([tmp_path]) is None
    assert page_cache.cached_share([tmp_path / "absent"]) is None
    assert not page_cache.readable([tmp_path / "absent"])
    assert not page_cache.readable([])
    assert page_cache.readable([tmp_path])


def test_links_and_pipes_are_passed_over(tmp_path: Path) -> None:
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
    ("rule", "share", "told"),
    [
        (Caches.COLD, 0.01, None),
        (Caches.COLD, 0.3, "the host still holds 30 % of the data"),
        (Caches.COLD, None, "could not be seen"),
        (Caches.WARM, None, None),
    ],
)
def test_only_caches_that_should_be_cold_and_are_not_are_doubted(
    rule: Caches, share: float | None, told: str | None
) -> None:
    found = doubt(CacheState(rule, "somehow", share))
    assert found is None if told is None else told in (found or "")
    assert doubt(None) is None
