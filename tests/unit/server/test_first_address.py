"""Where a connection string looks for its server, found without asking the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.server.connection.session import first_address


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGHOST", "PGHOSTADDR", "PGPORT", "PGSERVICE", "PGSERVICEFILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("dsn", "address"),
    [
        ("host=/nowhere/at-all port=5 dbname=x", "/nowhere/at-all:5"),
        ("host=127.0.0.1 port=1", "127.0.0.1:1"),
        ("host=127.0.0.1 port=1 sslmode=require password=x", "127.0.0.1:1"),
        ("postgresql://user@127.0.0.1:1/lab", "127.0.0.1:1"),
        ("hostaddr=127.0.0.1 port=1", "127.0.0.1:1"),
        ("host=127.0.0.1,127.0.0.2 port=1", ""),
        ("service=gone", ""),
        ("what is this", ""),
    ],
)
def test_it_is_libpqs_own_and_empty_where_it_is_not_one(dsn: str, address: str) -> None:
    assert first_address(dsn) == address


def test_variables_and_service_files_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    services = tmp_path / "services"
    services.write_text("[lab]\nhost=/nowhere/lab\nport=7\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    monkeypatch.setenv("PGPORT", "8")
    assert first_address("service=lab") == "/nowhere/lab:7"
    assert first_address("host=/nowhere/lab") == "/nowhere/lab:8"
