"""What every kind of target does alike: owned, existing, with a service, behind ssh."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from pgassay.errors import SettingRejected, TargetError
from pgassay.server.connection.session import user_path
from pgassay.server.protocol import Target
from support.refusals import refused
from support.runs.targets import KINDS, Subject, subject
from support.servers.accounts import build_accounts
from support.servers.lab import RecordingJournal

HELD = {"max_wal_size": "2GB"}
REFUSED = [
    ("shared_bufers", "1GB", "did you mean shared_buffers"),
    ("block_size", "8192", "fixed when PostgreSQL is built"),
    ("work_mem", "1kB", "outside the range"),
    ("wal_level", "none", "replica"),
    ("port", "5433", "cannot be varied"),
]


def scalar(target: Target, query: str) -> Any:
    with target.connect() as session, user_path(session):
        row = session.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


@pytest.fixture(params=KINDS)
def tested(request: pytest.FixtureRequest, journal: RecordingJournal) -> Iterator[Subject]:
    """A target not yet open; after every test it is closed, and its server is as it was found."""
    subject_ = subject(request.param, journal, request)
    found = subject_.as_found()
    try:
        yield subject_
    finally:
        subject_.target.close()
        subject_.target.close()
    assert subject_.as_found() == found
    assert journal.open == []


def test_a_trial_has_its_settings_and_the_next_does_not(tested: Subject) -> None:
    target = tested.target
    with pytest.raises(TargetError, match="not open"):
        target.parameters()
    facts = target.open()
    assert facts.version_num >= 150000
    assert facts.settings["work_mem"].value == "4096"
    with refused("not-prepared", step="reset"):
        target.reset({})
    for name, value, words in REFUSED:
        with pytest.raises(SettingRejected, match=words) as caught:
            target.check_settings({name: value})
        assert caught.value.setting == name
        assert "\n" not in str(caught.value)
    with refused("no-such-knob"):
        target.check_host({"vm.swapiness": "1"})
    target.check_settings({**HELD, "work_mem": "8MB"})
    target.prepare(build_accounts, HELD)
    report = target.reset({"work_mem": "8MB"})
    assert report.settings == {"max_wal_size": "2GB", "work_mem": "8MB"}
    assert scalar(target, "SHOW work_mem") == "8MB"
    assert scalar(target, "SELECT count(*) FROM account") == 1000
    target.reset({})
    assert scalar(target, "SHOW work_mem") == "4MB"
    assert scalar(target, "SHOW max_wal_size") == "2GB"


def test_a_restart_is_made_or_refused_before_the_first_trial(tested: Subject) -> None:
    target = tested.target
    target.open()
    if not tested.restarts:
        with refused("setting-without-way-to-restart") as caught:
            target.check_settings({"shared_buffers": "64MB"})
        assert caught.value.setting == "shared_buffers"
        return
    for value in ("64MB", "32MB"):
        target.check_settings({"shared_buffers": value})
    target.prepare(build_accounts, HELD)
    for value in ("64MB", "64MB", "32MB"):
        report = target.reset({"shared_buffers": value, "work_mem": "8MB"})
        assert report.restarted
        assert scalar(target, "SHOW shared_buffers") == value
    assert scalar(target, "SELECT count(*) FROM account") == 1000


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("shared_preload_libraries", "not_there", 'could not access file "not_there"'),
        pytest.param(
            "shared_buffers", "900GB", "could not map anonymous shared", marks=pytest.mark.heavy
        ),
    ],
)
def test_a_setting_that_keeps_the_server_down_is_rejected_and_the_server_comes_back(
    tested: Subject, name: str, value: str, words: str
) -> None:
    target = tested.target
    target.open()
    if not tested.restarts:
        return  # the test before this one: it is refused before the first trial
    target.prepare(build_accounts, HELD)
    with pytest.raises(SettingRejected, match=words) as caught:
        target.reset({"work_mem": "8MB", name: value})
    assert caught.value.setting == name
    assert "\n" not in str(caught.value)
    assert scalar(target, "SHOW max_wal_size") == "2GB"
    assert scalar(target, "SHOW work_mem") == "4MB"
    assert scalar(target, "SELECT count(*) FROM account") == 1000


def test_an_interrupt_between_journal_and_change_is_restored(tested: Subject) -> None:
    found = tested.as_found()
    for at in (1, 2, 3):
        tested.journal.changes.clear()
        tested.journal.interrupt_at = at
        with suppress(KeyboardInterrupt):
            tested.target.open()
            tested.target.prepare(build_accounts, {**HELD, "work_mem": "8MB"})
        # An owned server is one change; the others make one for each setting and the schema.
        assert 1 <= len(tested.journal.changes) <= at
        tested.journal.interrupt_at = None
        tested.target.close()
        assert tested.journal.open == []
        assert tested.as_found() == found
