"""What of a server's environment may be kept in a file."""

from __future__ import annotations

from pgassay.target.process_environment import keepable


def test_what_a_server_goes_by_is_kept_and_what_may_be_a_secret_is_named() -> None:
    own = {
        "PATH": "/usr/bin", "TZ": "Europe/Berlin", "LC_TIME": "de_DE.utf8", "LD_PRELOAD": "/a.so",
        "MALLOC_ARENA_MAX": "2", "PGPORT": "5433", "PWD": "/srv",
        "PGPASSWORD": "hush", "AWS_SECRET_ACCESS_KEY": "hush", "WALG_S3_PREFIX": "s3://wal",
    }  # fmt: skip
    kept, left_out = keepable(own)
    assert kept == {name: own[name] for name in list(own)[:7]}
    assert left_out == ["AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "WALG_S3_PREFIX"]


def test_a_password_in_a_harmless_name_is_not_kept() -> None:
    assert keepable({"HOME": "postgres://me:hush@db/x"}) == ({}, ["HOME"])


def test_bytes_that_are_no_text_are_not_kept_and_names_of_a_terminal_are_not_missed() -> None:
    assert keepable(
        {"LANG": "caf\udce9", "TERM": "xterm", "SSH_TTY": "/dev/pts/0", "PGDATA": "x"}
    ) == (
        {},
        ["LANG"],
    )
