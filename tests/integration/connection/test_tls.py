"""Over TLS the load connects where libpq connects, and fails where libpq fails."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgassay import _core
from pgassay.errors import ConnectionRefused
from pgassay.plan.steps import Step
from pgassay.server.connection.session import parameters_of, resolve, user_path
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.hosts.account import Account
from pgassay.server.owned.cluster import Cluster
from pgassay.server.owned.readable_copy import runnable_by
from pgassay.server.owned.workspace import make_workspace, new_name
from pgassay.server.settings.statements import reload
from pgassay.spec.workload.folder import Scenario
from pgassay.trials.load.engine import LoadRequest
from pgassay.trials.load.engine_load import EngineLoad
from pgassay.trials.load.group import OnThisMachine
from support.servers.certificates import Authority, make_authority
from support.servers.lab import (
    SECRET,
    LabServer,
    RecordingJournal,
    installation_named,
    started_on_a_free_port,
)

MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
RULES = """\
local all postgres trust
hostssl all mutual all scram-sha-256 clientcert=verify-ca
hostssl all mapped all cert
hostssl all secret all scram-sha-256
hostnossl all open all scram-sha-256
host all free all trust
host all all all scram-sha-256
"""
USERS = ("lab", "mutual", "mapped", "secret", "open", "free")


@dataclass
class TlsLab:
    server: LabServer
    ours: Authority
    theirs: Authority
    folder: Path

    def show(self, certificate: Path, key: Path) -> None:
        """Has the server use this certificate from now on."""
        data, account = self.server.cluster.workspace.data, self.server.cluster.workspace.account
        for name, path in (("server.crt", certificate), ("server.key", key)):
            account.require(["tee", data / name], text=path.read_text(), limit_s=10)
        account.require(["chmod", "600", data / "server.key"], limit_s=10)
        account.require(
            ["tee", data / "root.crt"], text=self.ours.certificate.read_text(), limit_s=10
        )
        self.set("on")

    def set(self, ssl: str) -> None:
        with self.server.admin("postgres") as session:
            session.execute("ALTER SYSTEM SET ssl_ca_file = 'root.crt'")
            session.execute(f"ALTER SYSTEM SET ssl = {ssl}".encode())
            reload(session)

    def options(self, **more: str) -> dict[str, str]:
        return {
            "host": "localhost",
            "hostaddr": "127.0.0.1",
            "port": str(self.server.port),
            "user": "lab",
            "dbname": "postgres",
            "password": SECRET,
            "connect_timeout": "10",
            "gssencmode": "disable",
            **more,
        }


@pytest.fixture(scope="module")
def lab(
    account: Account, servers_base: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TlsLab]:
    """A server of Debian's PostgreSQL, the only one here that is built with TLS."""
    installation = runnable_by(installation_named("debian-15"), account)
    folder = tmp_path_factory.mktemp("certificates")
    ours, theirs = make_authority(folder, "ours"), make_authority(folder, "theirs")
    cluster = Cluster(installation, make_workspace(account, servers_base, new_name()))
    try:
        cluster.create()
        account.require(["tee", cluster.workspace.data / "pg_hba.conf"], text=RULES, limit_s=10)
        server = LabServer(cluster, started_on_a_free_port(cluster))
        with server.admin("postgres") as session:
            for user in USERS:
                session.execute(f"CREATE ROLE {user} LOGIN SUPERUSER PASSWORD '{SECRET}'".encode())
        yield TlsLab(server, ours, theirs, folder)
    finally:
        cluster.stop(gently=False)
        cluster.workspace.remove()


@pytest.fixture(scope="module")
def encrypted(lab: TlsLab) -> TlsLab:
    lab.show(*lab.ours.sign("server", "localhost", alternative="DNS:localhost"))
    return lab


def by_libpq(options: dict[str, str]) -> str:
    try:
        with psycopg.connect(make_conninfo(**options)) as session:
            return "tls" if session.pgconn.ssl_in_use else "plain"
    except psycopg.Error as error:
        return f"fails: {error}"


def load_configuration(options: dict[str, str], scripts: str = "SELECT 1;") -> LoadRequest:
    return LoadRequest(
        scenarios=[Scenario("s", "s.sql", scripts, 1.0)],
        steps=[Step(2, 60.0, measured=True)],
        variables={},
        seed=1,
        transactions_per_client=3,
    )


def by_the_load(options: dict[str, str]) -> str:
    """The engine connects by itself; libpq has not chosen the server before."""
    try:
        parameters = parameters_of({"sslmode": "prefer", **options})
    except ConnectionRefused as error:
        return f"fails: {error}"
    script = "SELECT 1/(SELECT (NOT ssl)::int FROM pg_stat_ssl WHERE pid = pg_backend_pid());"
    try:
        load = EngineLoad(load_configuration(options, script), parameters, OnThisMachine())
    except ConnectionRefused as error:
        return f"fails: {error}"
    # The script divides by zero where the connection has TLS.
    result = load.run(lambda _: None)
    assert result["transactions"] + result["failed"] == 6
    return "tls" if result["failed"] else "plain"


def same(options: dict[str, str]) -> str:
    """The common outcome of both."""
    expected, found = by_libpq(options), by_the_load(options)
    assert found.split(":")[0] == expected.split(":")[0], (
        f"libpq: {expected}\nload: {found}\n{options}"
    )
    assert "\n" not in found
    assert SECRET not in found
    return found


def outcomes(lab: TlsLab, **more: str) -> list[str]:
    return [same(lab.options(sslmode=mode, **more)).split(":")[0] for mode in MODES]


def roots(lab: TlsLab, kind: str) -> str:
    return {
        "ours": str(lab.ours.certificate),
        "theirs": str(lab.theirs.certificate),
        "missing": str(lab.folder / "missing.crt"),
    }[kind]


@pytest.mark.parametrize("root", ["ours", "theirs", "missing"])
def test_every_sslmode_has_the_outcome_of_libpq(encrypted: TlsLab, root: str) -> None:
    found = outcomes(encrypted, sslrootcert=roots(encrypted, root))
    if root == "ours":
        assert found == ["plain", "plain", "tls", "tls", "tls", "tls"]


@pytest.mark.parametrize("user", ["secret", "open", "free"])
def test_rules_of_pg_hba_lead_to_the_outcome_of_libpq(encrypted: TlsLab, user: str) -> None:
    outcomes(encrypted, user=user, sslrootcert=roots(encrypted, "ours"))


def test_a_wrong_password_fails_in_every_mode(encrypted: TlsLab) -> None:
    found = outcomes(encrypted, password="wr0ng", sslrootcert=roots(encrypted, "ours"))
    assert set(found) == {"fails"}


@pytest.mark.parametrize(
    "host", ["localhost", "db.example", "127.0.0.1", "a.wild.example", "b.a.wild.example"]
)
def test_host_names_are_verified_as_in_libpq(lab: TlsLab, host: str) -> None:
    certificates = [
        lab.ours.sign("named", "other", alternative="DNS:localhost,DNS:*.wild.example"),
        lab.ours.sign("address", "db.example", alternative="IP:127.0.0.1"),
        # Version 1, as in PostgreSQL's manual: only the common name has the host.
        lab.ours.sign("old", "db.example"),
    ]
    for certificate, key in certificates:
        lab.show(certificate, key)
        root = roots(lab, "ours")
        assert same(lab.options(host=host, sslmode="verify-ca", sslrootcert=root)) == "tls"
        same(lab.options(host=host, sslmode="verify-full", sslrootcert=root))
    lab.show(*lab.ours.sign("server", "localhost", alternative="DNS:localhost"))


def test_a_self_signed_certificate_is_its_own_root(lab: TlsLab) -> None:
    itself = make_authority(lab.folder, "localhost")
    lab.show(itself.certificate, lab.folder / "localhost.key")
    for root in (itself.certificate, lab.ours.certificate):
        outcomes(lab, sslrootcert=str(root))
    lab.show(*lab.ours.sign("server", "localhost", alternative="DNS:localhost"))


def test_a_server_without_tls_has_the_outcome_of_libpq(encrypted: TlsLab) -> None:
    encrypted.set("off")
    try:
        found = outcomes(encrypted, sslrootcert=roots(encrypted, "ours"))
        assert found == ["plain", "plain", "plain", "fails", "fails", "fails"]
        same(encrypted.options(sslmode="prefer", channel_binding="require"))
    finally:
        encrypted.set("on")


@pytest.mark.parametrize("user", ["mutual", "mapped", "lab"])
def test_client_certificates_are_sent_as_in_libpq(encrypted: TlsLab, user: str) -> None:
    certificate, key = encrypted.ours.sign("client", "mapped")
    foreign, foreign_key = encrypted.theirs.sign("foreign", "mapped")
    missing = str(encrypted.folder / "missing.key")
    pairs = [
        (str(certificate), str(key)),
        (str(foreign), str(foreign_key)),
        (str(certificate), missing),
        (str(encrypted.folder / "missing.crt"), missing),
    ]
    for (sslcert, sslkey), mode in itertools.product(pairs, ("prefer", "require")):
        same(encrypted.options(user=user, sslmode=mode, sslcert=sslcert, sslkey=sslkey))
    key.chmod(0o644)
    try:
        same(encrypted.options(user=user, sslmode="require", sslcert=pairs[0][0], sslkey=str(key)))
    finally:
        key.chmod(0o600)


def test_channel_binding_is_enforced_as_in_libpq(encrypted: TlsLab) -> None:
    for binding, mode, user in itertools.product(
        ("disable", "prefer", "require"), ("disable", "allow", "prefer", "require"), ("lab", "free")
    ):
        same(encrypted.options(user=user, sslmode=mode, channel_binding=binding))
    assert same(encrypted.options(sslmode="require", channel_binding="require")) == "tls"


def test_require_auth_is_enforced_as_in_libpq(encrypted: TlsLab) -> None:
    for user, required in itertools.product(
        ("lab", "free"), ("scram-sha-256", "!scram-sha-256", "none", "md5,none", "!none")
    ):
        same(encrypted.options(user=user, sslmode="require", require_auth=required))


@pytest.mark.parametrize(
    "more",
    [
        {"ssl_min_protocol_version": "TLSv1.3"},
        {"ssl_max_protocol_version": "TLSv1.2"},
        {"ssl_min_protocol_version": "tlsv1.3", "ssl_max_protocol_version": "TLSv1.2"},
        {"sslsni": "0"},
        {"keepalives": "0"},
        {"keepalives_idle": "5", "keepalives_interval": "5", "keepalives_count": "3"},
        {"tcp_user_timeout": "5000"},
        {"sslnegotiation": "direct"},
        {"host": "", "sslmode": "require"},
    ],
    ids=str,
)
def test_further_parameters_have_the_outcome_of_libpq(
    encrypted: TlsLab, more: dict[str, str]
) -> None:
    same(encrypted.options(**{"sslmode": "require", **more}))


def test_target_load_and_sampler_connect_where_only_tls_is_allowed(encrypted: TlsLab) -> None:
    options = encrypted.options(user="secret", sslmode="verify-full", channel_binding="require")
    options["sslrootcert"] = roots(encrypted, "ours")
    del options["hostaddr"]
    target = ExistingTarget(make_conninfo(**options), RecordingJournal())
    try:
        target.open()
        parameters = target.parameters()
        assert parameters.sslmode == "verify-full"
        assert parameters.hostaddr
        with target.connect() as session, user_path(session):
            row = session.execute(
                "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
            ).fetchone()
            assert row == (True,)
        load = EngineLoad(load_configuration(options), parameters, OnThisMachine())
        assert load.run(lambda _: None)["transactions"] == 6
        sampler = _core.Sampler(
            json.dumps(
                {
                    "connection": parameters.for_core(),
                    "application_name": "t",
                    "waits": None,
                    "counters": [
                        {"source": "x", "sql": "SELECT 'o'::text, 1::int8 AS n", "every_s": 0.1}
                    ],
                    "host": None,
                }
            )
        )
        sampler.start()
        sampler.stop()
        assert sampler.warnings() == []
    finally:
        target.close()


def test_certificates_in_the_home_directory_are_found_as_in_libpq(
    encrypted: TlsLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".postgresql"
    folder.mkdir()
    outcomes(encrypted)
    for root in ("theirs", "ours"):
        (folder / "root.crt").write_text(Path(roots(encrypted, root)).read_text())
        outcomes(encrypted)
    certificate, key = encrypted.ours.sign("own", "mapped")
    (folder / "postgresql.crt").write_text(certificate.read_text())
    (folder / "postgresql.key").write_text(key.read_text())
    (folder / "postgresql.key").chmod(0o600)
    assert same(encrypted.options(user="mapped", sslmode="require")) == "tls"
    parameters = resolve(make_conninfo(**encrypted.options(user="mapped", sslmode="verify-ca")))
    assert parameters.libpq["sslcert"] == str(folder / "postgresql.crt")
    assert os.environ["HOME"] == str(tmp_path)
