"""A run directory keeps what was finished, whole, and to its owner."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pgassay.samples.directory import MOST_STATEMENTS, default_run_path
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.samples.run_directory import RunDirectory
from pgassay.samples.storage import files
from pgassay.samples.storage.tables import TABLES
from pgassay.server.change import SettingChange
from support.refusals import refused
from support.runs.command import pgassay
from support.synthetic.directories import synthetic_run


def test_a_stored_trial_reads_back_with_every_table(tmp_path: Path) -> None:
    run, _, plan = synthetic_run(tmp_path / "run", blocks=1)
    trials = list(RunDirectory.open(run.path).trials())
    assert [trial.summary().number for trial in trials] == [1, 2]
    for name, schema in TABLES.items():
        table = trials[0].table(name)
        assert table.schema.names == schema.names
    assert trials[0].table("load").num_rows == sum(int(s.duration_s) for s in plan.steps)


def test_a_run_made_before_the_newer_columns_reads_them_as_null(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    path = run.path / "trials" / "0001" / "load.parquet"
    table = pq.read_table(path)
    older = table.select([field.name for field in TABLES["load"] if not field.nullable])
    pq.write_table(older, path)
    read = RunDirectory.open(run.path).trial(1).table("load")
    assert read.schema.names == TABLES["load"].names
    assert read["response_ns"].null_count == read.num_rows
    assert read["transactions"] == table["transactions"]


def test_only_the_owner_may_read_a_run(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1, create=RunDirectory.create)
    for path in [run.path, *run.path.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("umask", [0o000, 0o277])
def test_modes_do_not_hang_on_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        run, _, _ = synthetic_run(tmp_path / "run", blocks=1, create=RunDirectory.create)
        run.journal().record(SettingChange(id="1", name="work_mem", value="8MB", found=None))
        run.output_folder(9)
    finally:
        os.umask(before)
    for path in [run.path, *run.path.rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_a_folder_with_anything_in_it_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    with refused("already-exists", str(tmp_path)):
        RunDirectory.create(tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "keep me"


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.toml").touch()
    with refused("is-a-file", str(tmp_path / "x.toml"), kind=RunDirectory.KIND):
        RunDirectory.open(tmp_path / "x.toml")
    with refused("is-another-kind", str(tmp_path), kind=RunDirectory.KIND):
        RunDirectory.open(tmp_path)
    with refused("does-not-exist", str(tmp_path / "absent")):
        RunDirectory.open(tmp_path / "absent")


@pytest.mark.parametrize(
    ("mark", "code"),
    [
        ("observation.json", "is-an-observation"),
        ("trace.json", "is-a-trace"),
        ("profiles.json", "is-a-profile"),
    ],
)
def test_another_directory_of_pgassay_is_refused_by_what_it_is(
    tmp_path: Path, mark: str, code: str
) -> None:
    (tmp_path / mark).write_text("{}")
    with refused(code, str(tmp_path)):
        RunDirectory.open(tmp_path)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    (run.path / "plan.json").write_text("{")
    with refused("damaged", str(run.path / "plan.json")):
        run.read_json("plan.json")
    (run.path / "trials" / "0001" / "load.parquet").write_bytes(b"PAR1")
    with refused("cannot-be-read", str(run.trial(1).folder / "load.parquet")):
        run.trial(1).table("load")


def test_a_full_disk_says_so_and_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)

    def full(descriptor: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with refused("no-room-for-the-run", str(run.path / "analysis.json")):
        run.write_json("analysis.json", {"a": 1})
    assert [path.name for path in run.path.iterdir() if "analysis" in path.name] == []


def test_a_replaced_file_is_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    files.write_atomically(path, b"old")
    files.write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.json"]  # noqa: PTH208


def test_open_changes_that_only_an_older_version_can_undo_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = FileJournal(path)
    journal.record(SettingChange(id="1", name="work_mem", value="8MB", found=None))
    with path.open("a") as file:
        line = {"event": "change", "id": "2", "what": "x", "do": "mv", "undo": "mv\x1b[2J \n b"}
        file.write(json.dumps(line) + "\n")
    place = f"{path}, line 3"
    with refused("change-of-an-older-version", place, None, what="x", undo="mv\\x1b[2J \\n b"):
        open_changes(path)
    journal.undone("2")
    assert [change.id for change in open_changes(path)] == ["1"]


def test_the_journal_knows_what_was_not_undone_also_after_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = FileJournal(path)
    for name in ("1", "2", "3"):
        journal.record(SettingChange(id=name, name="work_mem", value=name, found=None))
    journal.undone("2")
    with path.open("a") as file:
        file.write('{"event": "cha')
    assert [change.id for change in open_changes(path)] == ["1", "3"]
    assert path.stat().st_mode & 0o077 == 0
    assert json.loads(path.read_text().splitlines()[1])["kind"] == "setting"


def test_a_run_without_a_name_gets_one_from_time_and_spec() -> None:
    path = default_run_path("lab")
    assert path.parent.name == "pgassay-runs"
    assert path.name.endswith("-lab")


def test_a_second_run_of_the_same_second_gets_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    moment = datetime(2026, 1, 31, 14, 25, 1, tzinfo=UTC)
    for name in ("2026-01-31-142501-lab", "2026-01-31-142501-lab-2", "2026-01-31-142501-lab-3"):
        path = default_run_path("lab", moment)
        assert path.name == name
        path.mkdir(parents=True)


def test_a_damaged_trial_is_named_and_the_list_survives_it(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    trial = run.path / "trials" / "0002" / "trial.json"
    trial.unlink()
    with refused("cannot-be-opened", str(trial)):
        run.trial(2).summary()
    trial.write_text('{"number": 2}')
    with refused("stored-key-missing", str(trial)):
        run.trial(2).summary()
    (run.path / "plan.json").write_bytes(b"\xff")
    listed = pgassay("list", tmp_path)
    assert listed.returncode == 0
    assert "unreadable" in listed.stdout


def test_a_run_without_a_trial_leaves_nothing_unless_there_is_something_to_undo(
    tmp_path: Path,
) -> None:
    run = RunDirectory.create(tmp_path / "run")
    assert run.discard_if_empty()
    assert not run.path.exists()
    run = RunDirectory.create(tmp_path / "run")
    run.journal().record(SettingChange(id="1", name="work_mem", value="8MB", found=None))
    assert not run.discard_if_empty()
    assert run.path.exists()


def test_texts_of_statements_are_kept_once_per_run_and_without_secrets(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run")
    run.add_statements({"1": "SELECT $1"})
    run.add_statements({"1": "SELECT other", "-2": "ALTER ROLE a PASSWORD 'open sesame'"})
    run.add_statements({})
    assert run.statements() == {"1": "SELECT $1", "-2": "ALTER ROLE a PASSWORD ***"}
    (tmp_path / "run" / "statements.json").unlink()
    assert run.statements() == {}


def test_no_more_texts_of_statements_are_kept_than_the_limit(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run")
    run.add_statements({"1": "SELECT $1"})
    run.add_statements({str(number): "SELECT" for number in range(2 * MOST_STATEMENTS)})
    assert len(run.statements()) == MOST_STATEMENTS
    assert run.statements()["1"] == "SELECT $1"
