"""Secrets are known by how they look, and everything else stays as it is."""

from __future__ import annotations

import pytest

from pgassay.spec.secrets.redaction import (
    hides,
    is_secret,
    is_secret_column,
    redacted,
    redacted_value,
    secret_line,
    sql_secret_line,
)

CANARY = "canary-7f3a"


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://u:{CANARY}@h/d",
        f"jdbc:postgresql://h/d?user=x&password={CANARY}&ssl=1",
        f"host=h password={CANARY} dbname=d",
        f"host=h password='{CANARY} {CANARY}' dbname=d",
        f"host=h password = 'it\\'s {CANARY}' dbname=d",
        f"sslpassword={CANARY}",
        f"PGPASSWORD={CANARY} pgbench -n",
        f"ALTER SYSTEM SET primary_conninfo = 'host=h password=''a {CANARY}'' dbname=d'",
        f"CREATE ROLE x LOGIN PASSWORD 'a''{CANARY}'",
        f"OPTIONS (user 'x', password '{CANARY}')",
        f"tool --password {CANARY} -n",
        f'command = ["tool", "--password", "{CANARY}"]',
        f'{{"user": "x", "password": "{CANARY}"}}',
        f'{{"said": "{{\\"password\\": \\"{CANARY}\\"}}"}}',
        f"app.db_password: {CANARY}",
    ],
)
def test_a_password_is_removed_from_text(text: str) -> None:
    found = redacted(text)
    assert CANARY not in found
    assert "***" in found
    assert redacted(found) == found
    assert secret_line(f"one\ntwo\n{text}") == 3


@pytest.mark.parametrize(
    "text",
    [
        "password authentication failed for user x; check the user and the password (PGPASSWORD)",
        "in a URI write @ : / of a password as %40",
        "password_encryption = 'scram-sha-256'",
        "psql --password -c 'SELECT 1'",
        "PGPASSWORD=$SECRET pgbench",
        'PGPASSWORD="$(cat file)" pgbench',
        "host=h password='' dbname=d",
        "http://h:80/path@2",
        "SELECT password::text FROM app",
        "checkpoint_timeout = '15min'",
        "postgresql://u@h:5432/d",
    ],
)
def test_text_without_a_password_stays(text: str) -> None:
    assert redacted(text) == text
    assert secret_line(text) is None


def test_a_known_password_is_removed_whatever_its_form() -> None:
    assert redacted(f"<{CANARY}>", CANARY, None) == "<***>"
    assert redacted("a cat", "a") == "a cat"


def test_every_text_of_a_json_value_is_redacted() -> None:
    value = {"a": [f"password={CANARY}", 1, None], "b": {"c": "plain"}, "d": 2.5}
    assert redacted_value(value) == {"a": ["password=***", 1, None], "b": {"c": "plain"}, "d": 2.5}


def test_settings_that_may_contain_a_secret_are_recognised_by_name() -> None:
    for name in (
        "primary_conninfo", "archive_command", "ssl_passphrase_command", "ssl_key_file",
        "krb_server_keyfile", "my.api_key", "pgx.auth_token", "app.password",
    ):  # fmt: skip
        assert hides(name), name
        assert is_secret(name) == ("." in name), name
    for name in (
        "password_encryption",
        "md5_password_warnings",
        "work_mem",
        "archive_mode",
        "ssl",
        "ssl_ciphers",
    ):
        assert not hides(name), name


@pytest.mark.parametrize(
    "text",
    [
        f"CREATE ROLE x LOGIN PASSWORD '{CANARY}';",
        f"ALTER USER x WITH ENCRYPTED PASSWORD E'{CANARY}';",
        f"ALTER ROLE x PASSWORD $${CANARY}$$;",
        f"CREATE USER MAPPING FOR x SERVER s OPTIONS (user 'x', password '{CANARY}');",
        f"SELECT dblink('host=db1 password={CANARY}', 'SELECT 1');",
        f"SELECT dblink_connect('password={CANARY} dbname=d');",
        f"CREATE SUBSCRIPTION s CONNECTION 'postgresql://u:{CANARY}@h/d' PUBLICATION p;",
    ],
)
def test_sql_that_sets_a_password_is_found(text: str) -> None:
    assert sql_secret_line(f"SELECT 1;\n{text}") == 2


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE account (name text, password text DEFAULT '');",
        "UPDATE account SET password = 'x' WHERE name = 'y';",
        "SELECT * FROM account WHERE port = 5 AND password = 'x';",
        "SELECT 1 FROM t WHERE a = 'y' AND user = :u AND password = :pw;",
        "SELECT 1 FROM t WHERE a = 'y' AND port = 5 AND password = md5(b);",
        "SELECT 'password=' || secret FROM t;",
        "ALTER ROLE x PASSWORD NULL;",
        "SET password_encryption = 'scram-sha-256';",
        "SELECT dblink('service=lab', 'SELECT 1');",
    ],
)
def test_a_column_named_password_is_data(text: str) -> None:
    assert sql_secret_line(text) is None


def test_columns_that_hold_secrets_are_recognised_by_name() -> None:
    for name in (
        "password", "token", "access_token", "resetToken", "token_hash", "tokens", "pwd",
        "user_pwd", "api_key", "private_key", "otp", "client_secret",
    ):  # fmt: skip
        assert is_secret_column(name), name
    for name in ("token_count", "tokenizer", "compass", "passenger", "pinned", "key", "user_id"):
        assert not is_secret_column(name), name
