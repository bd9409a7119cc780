"""Settings that a copy takes over from its original, and those that would reach its neighbours."""

from __future__ import annotations

import pytest

from pgassay.notes import Note
from pgassay.server.copied.base_backup import connection_words
from pgassay.server.copied.carried import carry
from pgassay.server.protocol import ConnectionParameters, Context, Setting


def setting(name: str, value: str, source: str = "configuration file", boot: str = "") -> Setting:
    return Setting(
        name, value, None, Context.POSTMASTER, "string", (), None, None, boot, source, False
    )


def carried(*settings: Setting, has: tuple[str, ...] = ()) -> tuple[dict[str, str], list[Note]]:
    found = carry({one.name: one for one in settings}, lambda library: library in has)
    return dict(found.settings), list(found.caveats)


def test_what_the_servers_files_and_command_line_set_is_carried_and_defaults_are_not() -> None:
    settings, caveats = carried(
        setting("work_mem", "7168"),
        setting("max_connections", "300", "command line"),
        setting("random_page_cost", "4", "default"),
        setting("jit", "off", "client"),
        setting("statement_timeout", "30000", "session", boot="0"),
        setting("lock_timeout", "0", "session", boot="0"),
    )
    assert settings == {"work_mem": "7168", "max_connections": "300", "statement_timeout": "30000"}
    assert caveats == []


@pytest.mark.parametrize(
    "name",
    [
        "data_directory", "port", "listen_addresses", "unix_socket_directories", "hba_file",
        "archive_mode", "archive_command", "archive_library", "restore_command",
        "primary_conninfo", "primary_slot_name", "recovery_target_time",
        "synchronous_standby_names", "max_logical_replication_workers", "ssl_cert_file",
        "log_directory", "cluster_name", "external_pid_file", "log_statement", "log_duration",
        "log_min_duration_statement", "log_min_duration_sample", "log_transaction_sample_rate",
    ],
)  # fmt: skip
def test_a_setting_of_place_or_neighbours_is_not_carried(name: str) -> None:
    found = carry({name: setting(name, "x")}, lambda _: True)
    assert (found.settings, found.left_out) == ({}, (name,))


def test_libraries_are_kept_where_the_programs_have_them_and_they_reach_no_other_server() -> None:
    wanted = 'pg_stat_statements, "$libdir/auto_explain", pg_cron, lost'
    settings, caveats = carried(
        setting("shared_preload_libraries", wanted),
        has=("pg_stat_statements", "$libdir/auto_explain", "pg_cron"),
    )
    kept = '"pg_stat_statements", "$libdir/auto_explain"'
    assert settings == {"shared_preload_libraries": kept}
    assert {(one.values["library"], one.values["reason"]) for one in caveats} == {
        ("pg_cron", Note("server/copied/runs-jobs")),
        ("lost", Note("server/copied/no-such-library")),
    }


def test_a_command_line_has_no_password_and_no_option_that_old_programs_lack() -> None:
    words = connection_words(
        ConnectionParameters(
            "/run/post gres", 5433, "o'brien", "shop", password="s3cret",
            options="-c work_mem=1MB",
            libpq={"sslpassword": "k3y", "sslnegotiation": "postgres", "sslcertmode": "allow",
                   "sslrootcert": "/nowhere/root.crt"},
        )
    )  # fmt: skip
    assert words.split(" connect_timeout")[0] == (r"host='/run/post gres' port=5433 user=o\'brien")
    for absent in ("s3cret", "k3y", "sslnegotiation", "sslcertmode", "root.crt", "work_mem"):
        assert absent not in words
