"""A log in a language that is not read hides nothing: the counters have what it would have said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pgassay.doctor.checks import check_server
from pgassay.notes import Note
from pgassay.server.hosts import account as account_module
from pgassay.server.hosts.account import Account
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.trials.checkpoints.combined import checkpoints_in_log
from pgassay.trials.server_log.reader import LogReading, ServerLog
from support.servers.lab import (
    SECRET,
    LabServer,
    configure,
    installation_named,
    running_lab_server,
    scalar,
    wait_until,
)
from support.servers.sessions import connect

LINES = """
logging_collector = on
log_checkpoints = on
log_line_prefix = '%m [%p] '
lc_messages = 'C.UTF-8'
"""
LANGUAGES = ["de", "fr", "es", "ja", "it", "uk", "zh_CN", "C"]


@pytest.fixture
def speaking(
    request: pytest.FixtureRequest,
    account: Account,
    servers_base: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[LabServer]:
    """Debian's server, which has its translations with it; a locale that is not plain C takes the
    language from LANGUAGE in the server's surroundings."""
    clean = account_module.clean_environment
    monkeypatch.setattr(
        account_module,
        "clean_environment",
        lambda *given: clean(*given) | {"LANGUAGE": request.param},
    )
    with running_lab_server(
        installation_named("debian-15"), account, servers_base, LINES
    ) as server:
        yield server


def reading_after_a_checkpoint(server: LabServer, log: ServerLog) -> LogReading:
    """What is read of a log that has a checkpoint, in whatever words."""
    done = "SELECT checkpoints_req FROM pg_stat_bgwriter"
    with server.admin() as session:
        before = scalar(session, done)
        session.execute("CREATE TABLE IF NOT EXISTS t (i int)")
        session.execute("CHECKPOINT")
    found: list[LogReading] = []

    def is_logged() -> bool:
        found.append(log.read(goes_on=True))
        with server.admin() as session:
            counted = int(scalar(session, done)) > before
        kinds = ("entries", "unread_lines")
        read = sum(int(one.described.get(kind, 0)) for one in found for kind in kinds)
        return counted and read >= 2  # it has begun, and is complete

    wait_until(is_logged, "a checkpoint in the log")
    events = tuple(event for one in found for event in one.events or ())
    return LogReading(events, found[-1].has_checkpoints, found[-1].notes)


@pytest.mark.parametrize("form", ["stderr", "csvlog", "jsonlog"])
@pytest.mark.parametrize("speaking", ["fr"], indirect=True)
def test_no_form_of_a_log_in_an_unknown_language_is_a_source(
    speaking: LabServer, form: str
) -> None:
    with speaking.admin() as session:
        session.execute(f"ALTER SYSTEM SET log_destination = '{form}'".encode())
        session.execute("SELECT pg_reload_conf()")
    wait_until(lambda: writes_to(speaking, form), f"a log in {form}")
    reading = reading_after_a_checkpoint(speaking, ServerLog(speaking.admin, "127.0.0.1"))
    assert not reading.has_checkpoints
    assert Note("trials/server_log/language", {"language": "C.UTF-8"}) in reading.notes


def writes_to(server: LabServer, form: str) -> bool:
    with server.admin() as session:
        return bool(scalar(session, f"SELECT pg_current_logfile('{form}') IS NOT NULL"))


@pytest.mark.parametrize(
    "speaking",
    [
        pytest.param(one, marks=[] if one in ("de", "C") else [pytest.mark.heavy])
        for one in LANGUAGES
    ],
    indirect=True,
)
def test_what_is_not_understood_is_not_known_and_named_with_its_fix(
    speaking: LabServer, request: pytest.FixtureRequest
) -> None:
    is_read = request.node.callspec.params["speaking"] == "C"
    reading = reading_after_a_checkpoint(speaking, ServerLog(speaking.admin, "127.0.0.1"))
    assert reading.has_checkpoints == is_read
    assert bool(checkpoints_in_log(reading.events or ())) == is_read
    fix = "ALTER SYSTEM SET lc_messages = 'C'; SELECT pg_reload_conf();"
    assert ("trials/server_log/language" in [one.code for one in reading.notes]) != is_read
    fixes = {check.name: check.fix for check in check_server(speaking.dsn())}
    assert fixes.get("language of the log") == (None if is_read else fix)


@pytest.mark.parametrize("speaking", ["de"], indirect=True)
def test_english_of_one_role_says_nothing_of_the_servers_own_processes(
    speaking: LabServer,
) -> None:
    with speaking.admin() as session:
        session.execute("ALTER ROLE lab SET lc_messages = 'C'")

    def as_lab() -> Connection:
        return connect(
            ConnectionParameters("127.0.0.1", speaking.port, "lab", "lab", password=SECRET)
        )

    log = ServerLog(as_lab, "127.0.0.1")
    assert not reading_after_a_checkpoint(speaking, log).has_checkpoints
    configure(speaking.cluster, "lc_messages = 'C'\n")
    with speaking.admin() as session:
        session.execute("SELECT pg_reload_conf()")
    assert reading_after_a_checkpoint(speaking, log).has_checkpoints
