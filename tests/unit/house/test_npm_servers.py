"""Servers of other versions are locked by hash, without an address; a missing one is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.servers import npm

LOCK = Path(npm.__file__).parents[2] / "servers" / "package-lock.json"


def test_every_package_is_locked_by_its_hash_and_by_no_address() -> None:
    packages = json.loads(LOCK.read_text())["packages"]
    locked = {name: one for name, one in packages.items() if name}
    assert len(locked) == len(npm.MAJORS)
    assert all(one["integrity"].startswith("sha512-") for one in locked.values())
    assert "://" not in LOCK.read_text()


def test_without_npm_the_heavy_tests_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(npm, "_INSTALLED", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(pytest.fail.Exception, match="install npm"):
        npm.npm_installation(13)
