"""How a target gets to its server: a refusal is one line with its fix, and without the password."""

from __future__ import annotations

import socket

import pytest
from psycopg.conninfo import make_conninfo

from pgassay.errors import ConnectionRefused
from pgassay.server.existing.target import ExistingTarget
from support.refusals import refused
from support.servers.accounts import build_accounts
from support.servers.lab import SECRET, LabServer, RecordingJournal


def refusal(dsn: str) -> str:
    target = ExistingTarget(dsn, RecordingJournal())
    with pytest.raises(ConnectionRefused) as caught:
        target.open()
    target.close()
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_wrong_password_is_one_line_with_a_fix(lab_server: LabServer) -> None:
    message = refusal(lab_server.dsn(password="wr0ng"))
    assert "password authentication failed" in message
    assert "PGPASSWORD" in message
    assert "wr0ng" not in message


def test_a_missing_database_is_one_line_with_a_fix(lab_server: LabServer) -> None:
    assert 'database "nowhere" does not exist; create it' in refusal(
        lab_server.dsn(dbname="nowhere")
    )


def test_an_unreachable_server_is_one_line_with_a_fix() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        assert "this server is not running; start it" in refusal(
            f"host=127.0.0.1 port={port} user=x"
        )


def test_a_connection_string_libpq_cannot_read_is_not_repeated() -> None:
    for dsn in ("host=x secret word", "postgresql://u:sec@ret@h:1/x", "postgres//u:secret@h"):
        assert "sec" not in refusal(dsn)


def test_the_users_own_options_stay(lab_server: LabServer, journal: RecordingJournal) -> None:
    dsn = make_conninfo(lab_server.dsn(), options="-c work_mem=5MB")
    target = ExistingTarget(dsn, journal, allow_changes=True)
    try:
        target.open()
        parameters = target.parameters()
        assert parameters.options == "-c work_mem=5MB"
        assert parameters.startup["search_path"] == "pgassay,public"
        assert SECRET not in repr(parameters) + repr(target)
        assert parameters.password == SECRET
        with refused("setting-overridden"):
            target.check_settings({"work_mem": "8MB"})
    finally:
        target.close()


def test_a_database_without_an_encoding_is_a_target_like_any_other(
    lab_server: LabServer, journal: RecordingJournal
) -> None:
    with lab_server.admin("postgres") as session:
        session.execute("CREATE DATABASE plain ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    target = ExistingTarget(lab_server.dsn(dbname="plain"), journal)
    try:
        facts = target.open()
        assert isinstance(facts.version, str)
        target.prepare(build_accounts, {})
        assert target.reset({}).level
    finally:
        target.close()
        with lab_server.admin("postgres") as session:
            session.execute("DROP DATABASE plain")
