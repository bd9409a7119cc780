"""Real servers write their logs in every form, and we read them: here, and over SQL."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg
import pytest

from pgassay.doctor.checks import check_server
from pgassay.notes import Note
from pgassay.server.hosts import account as account_module
from pgassay.server.hosts.account import Account
from pgassay.server.owned.installation import Installation
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.trials.checkpoints.combined import checkpoints_in_log
from pgassay.trials.server_log.place import Missing, Place, find_place
from pgassay.trials.server_log.reader import LogReading, ServerLog
from support.servers.lab import (
    SECRET,
    LabServer,
    installation_named,
    running_lab_server,
    wait_until,
)
from support.servers.pool import on_every_version
from support.servers.sessions import connect

COLLECTOR = """
logging_collector = on
log_filename = 'pg-%H%M%S.log'
log_line_prefix = '%t %-12b|%10p|%q%a LOG: %u@%d '
log_timezone = 'America/St_Johns'
log_temp_files = 0
log_min_error_statement = error
log_lock_waits = off
"""
ELSEWHERE = "db.example"
"""A host whose files we cannot reach."""


@pytest.fixture(scope="module")
def logging_server(
    server_installation: Installation, account: Account, servers_base: Path
) -> Iterator[LabServer]:
    forms = ",".join(forms_of(server_installation))
    lines = f"{COLLECTOR}log_destination = '{forms}'\n"
    with running_lab_server(server_installation, account, servers_base, lines) as server:
        yield server


def forms_of(installation: Installation) -> list[str]:
    """jsonlog is new in 15."""
    return ["stderr", "csvlog", "jsonlog"][: 2 if installation.major < 15 else None]


def execute_in(server: LabServer, statement: str) -> None:
    with server.admin() as session:
        session.execute(statement.encode())


def write_to(server: LabServer, form: str) -> None:
    execute_in(server, f"ALTER SYSTEM SET log_destination = '{form}'")
    execute_in(server, "SELECT pg_reload_conf()")
    wait_until(lambda: current_file(server, form) is not None, f"a log in {form}")


def current_file(server: LabServer, form: str) -> str | None:
    with server.admin() as session:
        row = session.execute("SELECT pg_current_logfile(%s)", (form,)).fetchone()
    return row[0] if row else None


def rotate(server: LabServer, form: str) -> None:
    before = current_file(server, form)

    def rotated() -> bool:
        execute_in(server, "SELECT pg_rotate_logfile()")
        return current_file(server, form) != before

    wait_until(rotated, "a new log file")


def make_events(server: LabServer) -> None:
    """A forced checkpoint, an error, a temporary file; and an error of our own."""
    with server.admin() as session:
        with pytest.raises(psycopg.errors.DivisionByZero):
            session.execute("SELECT 1/0")
        session.execute("SET application_name = 'shop'")
        session.execute("CHECKPOINT")
        with pytest.raises(psycopg.errors.DivisionByZero):
            session.execute("SELECT 'topsecret', 1/0")
        session.execute("SET work_mem = '64kB'")
        session.execute("SELECT count(*) FROM (SELECT generate_series(1, 50000) g ORDER BY 1) s")


def read_until(log: ServerLog, wanted: Mapping[str, int]) -> LogReading:
    """The collector writes a moment after the session has its answer."""
    found: list[LogReading] = []

    def all_there() -> bool:
        found.append(log.read(goes_on=True))
        seen = kinds(found)
        return all(seen[kind] >= count for kind, count in wanted.items())

    wait_until(all_there, f"{dict(wanted)} in the log")
    events = tuple(event for reading in found for event in reading.events or ())
    return LogReading(events, found[-1].has_checkpoints, found[-1].notes, found[-1].described)


def kinds(readings: list[LogReading]) -> Counter[str]:
    seen: Counter[str] = Counter()
    for reading in readings:
        for event in reading.events or ():
            seen[event.kind] += event.count
    return seen


@pytest.mark.parametrize("form", ["stderr", "csvlog", "jsonlog"])
@pytest.mark.parametrize("host", ["127.0.0.1", ELSEWHERE], ids=["here", "over-sql"])
@on_every_version
def test_events_are_read_across_a_rotation(logging_server: LabServer, form: str, host: str) -> None:
    if form not in forms_of(logging_server.cluster.installation):
        return
    write_to(logging_server, form)
    log = ServerLog(logging_server.admin, host)
    make_events(logging_server)
    rotate(logging_server, form)
    make_events(logging_server)
    wanted = {"checkpoint_end": 2, "error": 2, "temp_file": 2}
    reading = read_until(log, wanted)
    assert reading.described["form"] == form
    assert ("over the connection" in reading.described["where"]) == (host == ELSEWHERE)
    assert reading.notes == ()
    events = reading.events or ()
    found = checkpoints_in_log(events)
    assert ["force" in checkpoint.cause for checkpoint in found] == [True, True]
    assert all(c.ended_ns is not None and c.total_s is not None for c in found)
    errors = [event for event in events if event.kind == "error"]
    assert sum(event.count for event in errors) == 2, "none of our own sessions"
    assert {e.sqlstate for e in errors} == ({None} if form == "stderr" else {"22012"})
    assert "topsecret" not in repr(reading)


def test_a_log_truncated_by_another_program_is_a_note(logging_server: LabServer) -> None:
    write_to(logging_server, "jsonlog")
    log = ServerLog(logging_server.admin, "127.0.0.1")
    make_events(logging_server)
    read_until(log, {"checkpoint_end": 1, "error": 1, "temp_file": 1})
    name = current_file(logging_server, "jsonlog")
    assert name is not None
    # As logrotate's copytruncate does; the server goes on at the end of what is there.
    os.truncate(logging_server.cluster.workspace.data / name, 0)
    reading = log.read(goes_on=True)
    (note,) = reading.notes
    assert note.code == "trials/server_log/cut-short"
    assert reading.described["cut_short"] == 1
    make_events(logging_server)
    assert read_until(log, {"checkpoint_end": 1, "error": 1}).notes == ()


def test_what_was_read_before_a_file_that_cannot_be_counts(logging_server: LabServer) -> None:
    write_to(logging_server, "jsonlog")
    log = ServerLog(logging_server.admin, "127.0.0.1")
    data, first = logging_server.cluster.workspace.data, current_file(logging_server, "jsonlog")
    make_events(logging_server)
    wait_until(lambda: "22012" in (data / str(first)).read_text(), "the error in the log")
    rotate(logging_server, "jsonlog")
    present = data / str(current_file(logging_server, "jsonlog"))
    aside = present.rename(present.with_suffix(".aside"))
    broken = log.read(goes_on=True)
    aside.rename(present)
    assert broken.notes[0].code == "trials/server_log/not-to-end"
    assert kinds([broken])["error"] == 1
    assert broken.has_checkpoints
    make_events(logging_server)
    whole = read_until(log, {"error": 1, "checkpoint_end": 1})
    assert kinds([whole])["error"] == 1
    assert whole.has_checkpoints


def plain(server: LabServer) -> Connection:
    return connect(ConnectionParameters("127.0.0.1", server.port, "plain", "lab", password=SECRET))


def place_for_plain(server: LabServer) -> Place | Missing:
    with plain(server) as session:
        return find_place(session, lambda: plain(server), ELSEWHERE)


def test_the_note_about_a_missing_privilege_has_the_line_that_grants_it(
    logging_server: LabServer,
) -> None:
    write_to(logging_server, "csvlog")
    try:
        seen = []
        for _ in range(2):
            found = place_for_plain(logging_server)
            if not isinstance(found, Missing):
                break
            seen.append(found.reason)
            for line in re.findall(r"GRANT [^;]*;", found.fix):
                execute_in(logging_server, line)
        assert isinstance(found, Place), found
        assert found.form == "csvlog"
        assert seen == [Note("trials/server_log/may-not-ask")]
        log = ServerLog(lambda: plain(logging_server), ELSEWHERE)
        make_events(logging_server)
        reading = read_until(log, {"checkpoint_end": 1, "error": 1})
        assert reading.notes == ()
    finally:
        execute_in(logging_server, "REVOKE pg_monitor FROM plain")
        execute_in(
            logging_server,
            "REVOKE EXECUTE ON FUNCTION pg_current_logfile(text), "
            "pg_read_binary_file(text, bigint, bigint, boolean) FROM plain",
        )


def test_doctor_lists_what_the_log_has_and_the_line_that_enables_the_rest(
    logging_server: LabServer,
) -> None:
    write_to(logging_server, "jsonlog")
    seen = {check.name: check for check in check_server(logging_server.dsn())}
    assert seen["server log"].state == "ok"
    assert seen["server log"].found.startswith("jsonlog, ")
    assert "log_lock_waits = on" in seen["lock waits in the log"].fix
    assert "temporary files in the log" not in seen
    assert "pg_stat_statements" in seen["pg_stat_statements"].fix
    assert seen["sampling"].state == "ok"
    lacking = {check.name: check for check in check_server(logging_server.dsn("plain"))}
    assert lacking["server log"].state == "note"
    assert "GRANT pg_monitor TO plain;" in lacking["server log"].fix
    assert "CHECKPOINT" not in seen
    assert lacking["CHECKPOINT"].fix in ("GRANT pg_checkpoint TO plain;", "connect as a superuser")


def test_without_grants_a_trial_goes_on_with_a_note(logging_server: LabServer) -> None:
    log = ServerLog(lambda: plain(logging_server), ELSEWHERE)
    reading = log.read()
    assert reading.events is None
    assert not reading.has_checkpoints
    (note,) = reading.notes
    assert "GRANT pg_monitor TO plain;" in str(note.values["fix"])


def test_a_server_that_does_not_log_checkpoints_gives_a_note(logging_server: LabServer) -> None:
    write_to(logging_server, "jsonlog")
    try:
        execute_in(logging_server, "ALTER SYSTEM SET log_checkpoints = off")
        execute_in(logging_server, "SELECT pg_reload_conf()")

        def off() -> bool:
            with logging_server.admin() as session:
                return session.execute("SHOW log_checkpoints").fetchone() == ("off",)

        wait_until(off, "log_checkpoints off")
        reading = ServerLog(logging_server.admin, "127.0.0.1").read()
        assert reading.events == ()
        assert not reading.has_checkpoints
        assert reading.notes[0].code == "trials/server_log/no-checkpoints"
    finally:
        execute_in(logging_server, "ALTER SYSTEM RESET log_checkpoints")
        execute_in(logging_server, "SELECT pg_reload_conf()")


def test_standard_error_in_a_file_is_found_through_the_servers_own_process(
    lab_server: LabServer,
) -> None:
    """As pg_ctl -l and Debian's pg_ctlcluster start a server, without the collector."""
    with lab_server.admin() as session:
        found = find_place(session, lab_server.admin, "127.0.0.1")
        away = find_place(session, lab_server.admin, ELSEWHERE)
    assert isinstance(found, Place), found
    assert found.form == "stderr"
    assert found.where == str(lab_server.cluster.workspace.log_file)
    assert isinstance(away, Missing)
    assert "logging_collector = on" in away.fix
    log = ServerLog(lab_server.admin, "127.0.0.1")
    execute_in(lab_server, "CHECKPOINT")
    reading = read_until(log, {"checkpoint_end": 1})
    assert [e.kind for e in reading.events or ()] == ["checkpoint_start", "checkpoint_end"]


def test_russian_messages_give_the_same_events(
    account: Account, servers_base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation = installation_named("debian-15")
    clean = account_module.clean_environment

    def in_russian(environment: Mapping[str, str], libraries: Path | None = None) -> dict[str, str]:
        # gettext goes by LANGUAGE under any locale but C, so no Russian locale need be made. Under
        # C the processes without a database would write question marks.
        return clean(environment, libraries) | {"LANGUAGE": "ru", "LC_ALL": "C.UTF-8"}

    monkeypatch.setattr(account_module, "clean_environment", in_russian)
    lines = COLLECTOR + "lc_messages = 'C.UTF-8'\n"
    with running_lab_server(installation, account, servers_base, lines) as server:
        log = ServerLog(server.admin, "127.0.0.1")
        with server.admin() as session:
            session.execute("SET application_name = 'shop'")
            with pytest.raises(psycopg.Error) as reported:
                session.execute("SELECT 1/0")
        assert "деление на ноль" in str(reported.value)
        make_events(server)
        reading = read_until(log, {"checkpoint_end": 1, "error": 2, "temp_file": 1})
        assert reading.notes == ()
        (checkpoint,) = checkpoints_in_log(reading.events or ())
        assert checkpoint.cause == "immediate force wait"
        assert checkpoint.distance_kb is not None
