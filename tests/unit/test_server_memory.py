"""What is remembered of a server for whoever comes after a killed run."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from pgassay.errors import SetupError, TargetError
from pgassay.samples.journal import FileJournal, open_changes, run_of
from pgassay.target.local_host import lock_run
from pgassay.target.protocol import Change
from pgassay.target.server_memory import (
    RememberedJournal,
    forget_never_made,
    memory_file,
    remember,
    remembered,
)
from support import forked


def test_nothing_changed_leaves_no_file_not_even_one_that_was_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    change = Change(id="1", what="work_mem", do="SET", undo="RESET", server="lab")
    remember("lab", [change])
    kept = memory_file("lab")
    assert remembered("lab") == [change]
    done = subprocess.Popen(["true"])
    done.wait()
    kept.with_name(f".{kept.name}.{done.pid}.part").write_text("{")
    remember("lab", [])
    assert list(kept.parent.iterdir()) == []


# Begins when another one is ready to.
MANY = """
import sys, time
from pathlib import Path
from pgassay.samples.journal import FileJournal
from pgassay.target.protocol import Change
from pgassay.target.server_memory import RememberedJournal
journal = RememberedJournal(FileJournal(Path(sys.argv[1])))
journal.speaks_of("lab")
names = [f"{sys.argv[1]}-{number}" for number in range(30)]
Path(sys.argv[1]).with_suffix(".ready").touch()
end = time.monotonic() + 60
while len([*Path(sys.argv[1]).parent.glob("*.ready")]) < 2 and time.monotonic() < end:
    time.sleep(0.001)
for name in names:
    journal.record(Change(id=name, what="work_mem", do="SET", undo="RESET", server="lab"))
for name in names[1:]:
    journal.undone(name)
"""


def test_of_two_runs_that_remember_at_once_neither_loses_what_the_other_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    places = [str(tmp_path / name) for name in ("one.jsonl", "other.jsonl")]
    with Path(os.devnull).open("r+b") as nothing:
        runs = [
            forked.start(["-c", MANY, one], [nothing.fileno()] * 3, os.environ) for one in places
        ]
        assert [run.wait(timeout=60) for run in runs] == [0, 0]
    assert {change.id for change in remembered("lab")} == {f"{place}-0" for place in places}


def test_a_place_without_locks_is_told_and_not_taken_for_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    change = Change(id="1", what="work_mem", do="SET", undo="RESET", server="lab")
    words = (
        r"servers of this host: its file system keeps no locks \(No locks available\).*XDG_STATE"
    )
    with pytest.raises(SetupError, match=words):
        remembering(FileJournal(tmp_path / "journal.jsonl"), "lab").record(change)
    with pytest.raises(TargetError, match=r"keeps no locks .* `pgassay recover .* undoes what it"):
        lock_run(tmp_path)
    assert remembered("lab") == []


def remembering(journal: FileJournal, server: str) -> RememberedJournal:
    journalled = RememberedJournal(journal)
    journalled.speaks_of(server)
    return journalled


def test_a_change_that_never_came_into_its_journal_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = tmp_path / "journal.jsonl"
    change = Change(id="1", what="work_mem", do="SET", undo="RESET", server="lab")

    def dies(_: Change) -> None:
        raise KeyboardInterrupt

    journal = FileJournal(path)
    monkeypatch.setattr(journal, "record", dies)
    with pytest.raises(KeyboardInterrupt):
        remembering(journal, "lab").record(change)
    assert [one.id for one in remembered("lab")] == ["1"]
    forget_never_made(run_of(path), set())
    assert remembered("lab") == []


def test_what_a_run_left_open_outlives_its_folder_and_a_later_run_at_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = tmp_path / "journal.jsonl"
    for server, name in (("a", "1"), ("b", "2")):
        path.unlink(missing_ok=True)
        change = Change(id=name, what="work_mem", do="SET", undo="RESET", server=server)
        remembering(FileJournal(path), server).record(change)
        # One that goes on, as by --resume, has the same name.
        assert FileJournal(path).run == run_of(path) != ""
    assert [change.id for change in open_changes(path)] == ["2"]
    forget_never_made(run_of(path), {"2"})
    assert [change.id for change in remembered("a")] == ["1"]
    assert [change.id for change in remembered("b")] == ["2"]
    forget_never_made("", set())
    assert [change.id for change in remembered("a")] == ["1"]
