"""A store in memory, with a folder of runs in it, and a home of its own for copies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from support.synthetic.folders import folder_of_runs

LAB = "memory://lab/runs"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


@pytest.fixture
def store() -> Iterator[MemoryFileSystem]:
    """The store that memory:// means in this process."""
    system = MemoryFileSystem()
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs on this disk."""
    return folder_of_runs(tmp_path_factory.mktemp("stored") / "runs")


@pytest.fixture
def lab(store: MemoryFileSystem, runs: Path) -> str:
    """The same runs in the store."""
    for file in runs.rglob("*"):
        if file.is_file():
            store.pipe_file(f"/lab/runs/{file.relative_to(runs)}", file.read_bytes())
    return LAB
