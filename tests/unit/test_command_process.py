"""What a program of the user's is told of the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.target.protocol import ConnectionParameters
from pgassay.trials.command_process import environment

CERTIFICATES = {
    "sslrootcert": "/certs/root.crt",
    "sslcert": "/certs/client.crt",
    "sslkey": "/certs/client.key",
    "channel_binding": "require",
    "keepalives_idle": "30",
}


def test_a_program_reaches_the_same_server_by_the_same_rules_of_tls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGHOSTADDR", "192.0.2.1")
    monkeypatch.setenv("PGSSLROOTCERT", "/elsewhere/root.crt")
    connection = ConnectionParameters(
        host="db.example",
        hostaddr="127.0.0.1",
        port=5433,
        user="bench",
        dbname="lab",
        password="pa:ss\\word",
        sslmode="verify-full",
        libpq=CERTIFICATES,
    )
    with environment(connection, {"PGASSAY_CLIENTS": "8"}) as told:
        passfile = Path(told["PGPASSFILE"])
        assert passfile.read_text() == "*:*:*:*:pa\\:ss\\\\word\n"
        assert passfile.stat().st_mode & 0o777 == 0o600
    assert not passfile.exists()
    assert {name: told.get(name) for name in EXPECTED} == EXPECTED
    assert "PGPASSWORD" not in told


EXPECTED = {
    "PGHOST": "db.example",
    "PGHOSTADDR": "127.0.0.1",
    "PGPORT": "5433",
    "PGUSER": "bench",
    "PGDATABASE": "lab",
    "PGSSLMODE": "verify-full",
    "PGSSLROOTCERT": "/certs/root.crt",
    "PGSSLCERT": "/certs/client.crt",
    "PGSSLKEY": "/certs/client.key",
    "PGCHANNELBINDING": "require",
    "PGASSAY_CLIENTS": "8",
}
