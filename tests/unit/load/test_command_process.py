"""A user's program gets the server's address, and does not outlive a Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pgassay import interruption
from pgassay.server.protocol import ConnectionParameters
from pgassay.trials.load.program.process import environment, run_program

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
    with environment(connection, {"PGASSAY_CLIENTS": "8"}) as given:
        passfile = Path(given["PGPASSFILE"])
        assert passfile.read_text() == "*:*:*:*:pa\\:ss\\\\word\n"
        assert passfile.stat().st_mode & 0o777 == 0o600
    assert not passfile.exists()
    assert {name: given.get(name) for name in EXPECTED} == EXPECTED
    assert "PGPASSWORD" not in given


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


@pytest.fixture
def handled_signals() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in interruption.SIGNALS}
    interruption.handle_signals()
    yield
    interruption.handle_signals()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handled_signals")
def test_a_ctrl_c_while_the_program_starts_does_not_leave_it_running(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def interrupted(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(start(*words, **options))
        os.kill(os.getpid(), signal.SIGINT)
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_program(
            ["sleep", "1000"],
            named="load.command",
            variables={"PATH": os.environ["PATH"]},
            folder=tmp_path,
            log=tmp_path / "command.log",
            limit_s=60.0,
            watch=lambda _: None,
        )
    assert started[0].returncode == -signal.SIGTERM
