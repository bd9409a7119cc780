"""A member's changes are in the journal of the run before they are made, or are not made."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.errors import TargetError
from pgassay.fleet import asking
from pgassay.fleet.asking import AskingJournal, Notes, place_of
from pgassay.fleet.existing import FoundServer, names_of
from pgassay.fleet.member import shown_facts
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.server.change import SettingChange
from pgassay.server.protocol import ServerFacts, Setting
from pgassay.server.undo.change_record import recorded
from support.refusals import refused

NORTH = FoundServer("service=north", "north", "7001", "north:5432", None)
CHANGE = SettingChange(id="c1", name="work_mem", value="8MB", found=None, server="7001")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@contextmanager
def noted(member: AskingJournal, notes: Notes) -> Iterator[None]:
    """As between a member and the machine that began the run, without a network between."""
    ended = threading.Event()

    def note() -> None:
        answer = None
        while not ended.is_set():
            ask = member.next_ask(answer)
            answer = None if ask is None else notes.answer(ask)

    thread = threading.Thread(target=note)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_a_change_is_in_the_journal_with_its_server_when_the_call_returns(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = FileJournal(path)
    member = AskingJournal(place_of(journal))
    assert (member.place, member.run) == (str(path), journal.run)
    with noted(member, Notes(NORTH, journal)):
        member.begin("7001")
        member.record(CHANGE)
        (change,) = open_changes(path)
        assert change == replace(CHANGE, dsn=NORTH.dsn, reached=NORTH.address)
        assert [one.journal for one in recorded("7001")] == [str(path)]
        member.undone("c1")
        assert open_changes(path) == []
        assert recorded("7001") == []


def test_a_change_that_cannot_be_noted_is_refused(tmp_path: Path) -> None:
    member = AskingJournal(place_of(FileJournal(tmp_path / "journal.jsonl")))
    notes = Notes(NORTH, FileJournal(tmp_path / "gone" / "journal.jsonl"))
    with noted(member, notes), pytest.raises(TargetError, match="gone"):
        member.record(CHANGE)


def test_nothing_is_changed_where_nobody_answers_and_undoing_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "PATIENCE_S", 0.01)
    member = AskingJournal(place_of(FileJournal(tmp_path / "journal.jsonl")))
    with refused("change-not-noted"):
        member.record(CHANGE)
    member.undone("c1")


def test_a_node_that_is_led_to_another_server_is_refused(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "journal.jsonl")
    member = AskingJournal(place_of(journal))
    with (
        noted(member, Notes(NORTH, journal)),
        pytest.raises(TargetError, match=r"^service=north "),
    ):
        member.begin("7002")


def test_a_run_that_goes_on_is_not_taken_for_another_one(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "journal.jsonl")
    member = AskingJournal(place_of(journal))
    with noted(member, Notes(NORTH, journal)):
        member.record(CHANGE)
    with refused("killed-run-is-this-one", what="this server"):
        NORTH.refuse_killed_run(tmp_path)
    with refused("killed-run"):
        NORTH.refuse_killed_run(None)


def test_what_a_member_returns_has_no_secrets() -> None:
    text = {"unit": None, "context": "sighup", "vartype": "string", "enumvals": ()}
    known = {
        "min_val": None,
        "max_val": None,
        "boot_val": "",
        "source": "",
        "pending_restart": False,
    }
    values = {"primary_conninfo": "host=a password=hunter2", "work_mem": "4096"}
    settings = {
        name: Setting(name=name, value=value, **text, **known)  # type: ignore[arg-type]
        for name, value in values.items()
    }
    facts = ServerFacts(180000, "18.0", None, is_local=False, log_file=None, settings=settings)
    found = shown_facts(facts).settings
    assert "hunter2" not in found["primary_conninfo"].value
    assert found["work_mem"].value == "4096"


def test_servers_have_short_names() -> None:
    dsns = ["service=lab1", "host=db1 port=5433", "postgresql://bench@db1/lab", "host=db1 user=x"]
    assert names_of(dsns) == ["lab1", "db1:5433", "db1", "db1 (2)"]
