"""Which commit of pgassay it is: what `make dist` wrote, or the checkout's."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgassay import commit as module
from pgassay.commit import commit, commit_and_changes


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    commit_and_changes.cache_clear()
    yield
    commit_and_changes.cache_clear()


def test_a_checkout_names_its_commit_and_whether_files_differ_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CHECKOUT", tmp_path)
    monkeypatch.setattr(module, "_PACKAGE", tmp_path)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    assert commit() == ""
    (tmp_path / "file").write_text("one")
    subprocess.run([*git, "add", "file"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    commit_and_changes.cache_clear()
    name = commit()
    assert len(name) == 10
    (tmp_path / "file").write_text("two")
    commit_and_changes.cache_clear()
    assert commit() == f"{name} and changes"


def test_a_wheel_names_what_was_written_and_a_bare_folder_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CHECKOUT", tmp_path)
    monkeypatch.setattr(module, "_PACKAGE", tmp_path)
    assert commit() == ""
    (tmp_path / module.WRITTEN).write_text("1234567890\n")
    commit_and_changes.cache_clear()
    assert commit() == "1234567890"
