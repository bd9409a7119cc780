"""A run with a URL goes into the store while it is carried out here, and nothing is lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from pgassay.samples.run_directory import RunDirectory
from pgassay.server.change import SettingChange
from pgassay.stores.address import working_copy_of
from pgassay.stores.mirrored_run import MirroredRun
from pgassay.workflows.reporting import report_run
from support.refusals import refused
from support.synthetic.directories import SPEC, synthetic_run

URL = "memory://lab/runs/one"
AT = "/lab/runs/one/"


@pytest.fixture
def warned() -> list[str]:
    return []


@pytest.fixture
def begun(store: MemoryFileSystem, warned: list[str]) -> MirroredRun:
    """A run of four trials that was not reported yet."""

    def create(_: Path) -> RunDirectory:
        return MirroredRun.begin(URL, SPEC, warned.append)

    run, _, _ = synthetic_run(Path(), blocks=2, create=create)
    assert isinstance(run, MirroredRun)
    return run


def contents(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def objects(store: MemoryFileSystem) -> dict[str, bytes]:
    return {name.removeprefix(AT): store.cat_file(name) for name in store.find(AT)}


def fail(*_: object) -> None:
    raise ConnectionError("no route to host")


def test_trials_are_stored_as_they_finish_and_at_the_end_nothing_stays_here(
    begun: MirroredRun, store: MemoryFileSystem, warned: list[str]
) -> None:
    begun.journal().record(SettingChange(id="1", name="work_mem", value="8MB", found=None))
    assert {name for name in objects(store) if name.endswith("trial.json")} == {
        f"trials/000{n}/trial.json" for n in range(1, 5)
    }
    assert "journal.jsonl" not in objects(store)
    begun.journal().undone("1")
    report_run(begun)
    assert "analysis.json" not in objects(store)
    here = contents(begun.path)
    assert begun.finish() == f"stored in {URL}"
    assert objects(store) == here
    assert not begun.path.exists()
    assert warned == []


def test_a_reader_never_sees_a_part_without_what_it_rests_on(
    begun: MirroredRun, store: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = list[str]()
    real: Callable[..., Any] = MemoryFileSystem.put_file

    def noting(self: MemoryFileSystem, lpath: str, rpath: str, **options: Any) -> None:
        put.append(rpath.removeprefix(AT.strip("/")).removeprefix(AT))
        real(self, lpath, rpath, **options)

    monkeypatch.setattr(MemoryFileSystem, "put_file", noting)
    begun._stored.clear()
    report_run(begun)
    begun.finish()
    assert put.index("plan.json") < put.index("trials/0001/load.parquet")
    for number in range(1, 5):
        folder = [name for name in put if name.startswith(f"trials/000{number}/")]
        assert folder[-1].endswith("trial.json")
    assert put[-2:] == ["analysis.json", "report.html"]


def test_a_store_that_fails_costs_a_warning_and_no_result(
    begun: MirroredRun,
    store: MemoryFileSystem,
    warned: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(MemoryFileSystem, "put_file", fail)
        report_run(begun)
        said = begun.finish()
    assert f"not all is in {URL}" in said
    assert str(begun.path) in said
    (warning,) = warned
    assert warning.startswith(f"{URL}: ")
    assert "no route to host" in warning
    here = contents(begun.path)
    with refused("already-exists", URL):
        MirroredRun.begin(URL, SPEC, warned.append)
    assert MirroredRun.again(URL, warned.append).finish() == f"stored in {URL}"
    assert objects(store) == here


def test_a_store_that_takes_nothing_is_refused_before_the_run(
    store: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MemoryFileSystem, "put_file", fail)
    with refused("store-failed", URL):
        MirroredRun.begin(URL, SPEC, print)
    assert not working_copy_of(URL).exists()


def test_a_run_without_a_trial_leaves_nothing_in_the_store(store: MemoryFileSystem) -> None:
    run = MirroredRun.begin(URL, SPEC, print)
    assert run.discard_if_empty()
    assert objects(store) == {}
    assert not run.path.exists()


def test_a_run_is_continued_here_or_from_the_store_on_another_machine(
    begun: MirroredRun, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert str(begun.path) in begun.finish()
    assert MirroredRun.again(URL, print).path == begun.path
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "other"))
    elsewhere = MirroredRun.again(URL, print)
    assert elsewhere.path != begun.path
    assert contents(elsewhere.path) == contents(begun.path)
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "third"))
    with refused("carried-out-elsewhere", URL):
        MirroredRun.of_this_machine(URL, print)


def test_a_run_that_went_on_elsewhere_is_not_continued_from_here(begun: MirroredRun) -> None:
    begun.finish()
    shutil.rmtree(begun.path / "trials" / "0004")
    with refused("continued-elsewhere", URL):
        MirroredRun.again(URL, print)


def test_changes_left_are_undone_on_the_machine_that_made_them(
    begun: MirroredRun, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun.journal().record(SettingChange(id="1", name="work_mem", value="8MB", found=None))
    report_run(begun)
    begun.finish()
    assert begun.path.exists()
    assert MirroredRun.of_this_machine(URL, print).path == begun.path
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "other"))
    with refused("changes-left-elsewhere", URL):
        MirroredRun.again(URL, print)
