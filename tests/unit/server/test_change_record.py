"""The change record: by it the next run learns what a killed run has changed on a server."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgassay.errors import SetupError
from pgassay.samples.journal import FileJournal, open_changes, run_of
from pgassay.server.change import Change, SettingChange
from pgassay.server.hosts.local import lock_run
from pgassay.server.undo.change_record import (
    RecordedJournal,
    forget_never_made,
    record_file,
    recorded,
    write_changes,
)
from pgassay.server.undo.killed_run import refuse_killed_run
from support.refusals import refused
from support.runs import forked


def test_nothing_changed_leaves_no_file_not_even_one_that_was_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    change = SettingChange(id="1", name="work_mem", value="8MB", found=None, server="lab")
    write_changes("lab", [change])
    kept = record_file("lab")
    assert recorded("lab") == [change]
    done = subprocess.Popen(["true"])
    done.wait()
    kept.with_name(f".{kept.name}.{done.pid}.part").write_text("{")
    write_changes("lab", [])
    assert list(kept.parent.iterdir()) == []


# Begins when another one is ready to.
MANY = """
import sys, time
from pathlib import Path
from pgassay.samples.journal import FileJournal
from pgassay.server.change import SettingChange
from pgassay.server.undo.change_record import RecordedJournal
journal = RecordedJournal(FileJournal(Path(sys.argv[1])))
journal.begin("lab")
names = [f"{sys.argv[1]}-{number}" for number in range(30)]
Path(sys.argv[1]).with_suffix(".ready").touch()
end = time.monotonic() + 60
while len([*Path(sys.argv[1]).parent.glob("*.ready")]) < 2 and time.monotonic() < end:
    time.sleep(0.001)
for name in names:
    journal.record(SettingChange(id=name, name="work_mem", value="8MB", found=None, server="lab"))
for name in names[1:]:
    journal.undone(name)
"""


def test_of_two_runs_that_record_at_once_neither_loses_the_changes_of_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    places = [str(tmp_path / name) for name in ("one.jsonl", "other.jsonl")]
    with Path(os.devnull).open("r+b") as nothing:
        runs = [
            forked.start(["-c", MANY, one], [nothing.fileno()] * 3, os.environ) for one in places
        ]
        assert [run.wait(timeout=60) for run in runs] == [0, 0]
    assert {change.id for change in recorded("lab")} == {f"{place}-0" for place in places}


def test_a_file_system_without_locks_is_an_error_and_not_taken_for_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    change = SettingChange(id="1", name="work_mem", value="8MB", found=None, server="lab")
    words = r"servers of this host: its file system has no locks \(No locks available\).*XDG_STATE"
    with pytest.raises(SetupError, match=words):
        recording(FileJournal(tmp_path / "journal.jsonl"), "lab").record(change)
    with refused("used-by-a-run"):
        lock_run(tmp_path)
    assert recorded("lab") == []


def recording(journal: FileJournal, server: str) -> RecordedJournal:
    journalled = RecordedJournal(journal)
    journalled.begin(server)
    return journalled


def test_a_change_that_never_came_into_its_journal_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = tmp_path / "journal.jsonl"
    change = SettingChange(id="1", name="work_mem", value="8MB", found=None, server="lab")

    def dies(_: Change) -> None:
        raise KeyboardInterrupt

    journal = FileJournal(path)
    monkeypatch.setattr(journal, "record", dies)
    with pytest.raises(KeyboardInterrupt):
        recording(journal, "lab").record(change)
    assert [one.id for one in recorded("lab")] == ["1"]
    forget_never_made(run_of(path), set())
    assert recorded("lab") == []


def test_the_changes_of_a_run_outlive_its_folder_and_a_later_run_at_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = tmp_path / "journal.jsonl"
    for server, name in (("a", "1"), ("b", "2")):
        path.unlink(missing_ok=True)
        change = SettingChange(id=name, name="work_mem", value="8MB", found=None, server=server)
        recording(FileJournal(path), server).record(change)
        # One that goes on, as by --resume, has the same name.
        assert FileJournal(path).run == run_of(path) != ""
    assert [change.id for change in open_changes(path)] == ["2"]
    forget_never_made(run_of(path), {"2"})
    assert [change.id for change in recorded("a")] == ["1"]
    assert [change.id for change in recorded("b")] == ["2"]
    forget_never_made("", set())
    assert [change.id for change in recorded("a")] == ["1"]


def change(**given: Any) -> SettingChange:
    return SettingChange(id="1", name="work_mem", value="8MB", found=None, server="7", **given)


def test_a_copy_of_the_server_with_the_same_identifier_is_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    journal = FileJournal(tmp_path / "journal.jsonl")
    made = replace(change(data="/srv/a", reached="db1:5432"), journal=journal.place)
    write_changes("7", [replace(made, run=journal.run)])
    refuse_killed_run("7", "/srv/b", "db1:5433")
    refuse_killed_run("8", "/srv/a", "db1:5432")
    for data, reached in (
        ("/srv/a", "db1:5432"),
        ("/srv/a", "db1:5433"),  # its port was changed, or it was reached another way
        ("/srv/b", "db1:5432"),  # it was moved
        (None, "db1:5433"),  # this user may not see the directory
    ):
        with refused("killed-run", what="this server"):
            refuse_killed_run("7", data, reached)
