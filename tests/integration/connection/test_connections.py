"""The load connects where libpq connects: environment, service files, several hosts."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from copy import copy
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgassay import _core
from pgassay.errors import ConnectionRefused, PgassayError, TargetError
from pgassay.plan.steps import Step
from pgassay.server.connection.bounded_session import ConnectionLost
from pgassay.server.connection.session import resolve
from pgassay.server.hosts.account import Account
from pgassay.server.owned.cluster import Cluster
from pgassay.server.owned.readable_copy import runnable_by
from pgassay.server.owned.workspace import make_workspace, new_name
from pgassay.server.protocol import ConnectionParameters
from pgassay.server.undo import run_lock
from pgassay.spec.workload.folder import Scenario
from pgassay.trials.load.engine import LoadRequest
from support.servers.lab import SECRET, LabServer, installation_named, started_on_a_free_port
from support.servers.sessions import connect


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def server(account: Account, servers_base: Path) -> Iterator[LabServer]:
    installation = runnable_by(installation_named("embedded-18"), account)
    cluster = Cluster(installation, make_workspace(account, servers_base, new_name()))
    try:
        cluster.create()
        rules = "local all all trust\nhost all all all scram-sha-256\n"
        account.require(["tee", cluster.workspace.data / "pg_hba.conf"], text=rules, limit_s=10)
        base = cluster.workspace.data / "pgassay.conf"
        # The last value of a setting counts, so the tests' own address is added behind these.
        lines = f"unix_socket_directories = '{cluster.parameters().host},@pgassay-{new_name()}'\n"
        account.require(["tee", "-a", base], text=lines, limit_s=10)
        server = LabServer(cluster, started_on_a_free_port(cluster, "127.0.0.1,::1"))
        with server.admin("postgres") as session:
            session.execute(f"CREATE ROLE lab LOGIN SUPERUSER PASSWORD '{SECRET}'".encode())
            session.execute("CREATE DATABASE lab")
        yield server
    finally:
        cluster.stop(gently=False)
        cluster.workspace.remove()


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The environment of the person who runs the tests does not count."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGPASSWORD", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)


def value_in_the_load(parameters: ConnectionParameters, query: str = "current_user") -> str:
    """A value of the server's, as a connection of the load gets it."""
    script = f"DO $$ BEGIN RAISE EXCEPTION '%', {query}; END $$;"
    request = LoadRequest(
        scenarios=[Scenario("s", "s.sql", script, 1.0)],
        steps=[Step(1, 60.0, measured=True)],
        variables={},
        seed=1,
        protocol="simple",
        transactions_per_client=1,
    )
    load = _core.Load(request.configuration(parameters))
    load.connect()
    load.start()
    assert load.wait(20)
    message: str = json.loads(load.result())["first_error"]["message"]
    return message.split("P0001: ")[-1].split(" (")[0]


def check(dsn: str, server: LabServer) -> ConnectionParameters:
    """Both kinds of session reach the lab."""
    parameters = resolve(dsn)
    assert value_in_the_load(parameters, "current_user || '@' || current_database()") == "lab@lab"
    with connect(parameters) as session:
        assert session.info.user == "lab"
        assert session.info.port == server.port
    return parameters


def test_key_value_pairs_and_uris_of_every_form(server: LabServer) -> None:
    port, word = server.port, "s3cret%20word"
    for dsn in (
        server.dsn(),
        f"postgresql://lab:{word}@127.0.0.1:{port}/lab",
        f"postgres://lab@127.0.0.1:{port}/lab?password={word}&connect_timeout=5",
        f"postgresql:///lab?host=127.0.0.1&port={port}&user=lab&password={word}",
        f"postgresql://lab:{word}@127.0.0.1:1,127.0.0.1:{port}/lab",
    ):
        assert check(dsn, server).host == "127.0.0.1"


def test_a_session_that_the_server_ends_is_the_targets_failure(server: LabServer) -> None:
    with connect(resolve(server.dsn())) as session, server.admin() as other:
        other.execute("SELECT pg_terminate_backend(%s)", (session.info.backend_pid,))
        with pytest.raises(ConnectionLost, match="administrator command") as lost:
            session.execute("SELECT 1")
        assert isinstance(lost.value, TargetError)
        assert copy(lost.value).sqlstate == lost.value.sqlstate == "57P01"
        with pytest.raises(TargetError, match="taking the run lock: the connection to the server"):
            run_lock.take(session)
        with pytest.raises(psycopg.errors.UndefinedTable):
            other.execute("SELECT FROM nothing_here")


def test_the_environment_fills_in_what_the_dsn_leaves_out(
    server: LabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "PGHOST": "nowhere.invalid",
        "PGHOSTADDR": "127.0.0.1",
        "PGPORT": str(server.port),
        "PGUSER": "lab",
        "PGDATABASE": "lab",
        "PGPASSWORD": SECRET,
        "PGOPTIONS": "-c work_mem=7MB",
        "PGTZ": "Asia/Tokyo",
        "PGDATESTYLE": "German, DMY",
        "PGCONNECT_TIMEOUT": "7",
    }.items():
        monkeypatch.setenv(name, value)
    parameters = check("", server)
    assert (parameters.host, parameters.hostaddr) == ("nowhere.invalid", "127.0.0.1")
    assert parameters.connect_timeout_s == 7
    assert parameters.for_load()["connect_timeout_s"] == 7
    for setting, value in {
        "work_mem": "7MB",
        "timezone": "Asia/Tokyo",
        "datestyle": "German, DMY",
    }.items():
        assert value_in_the_load(parameters, f"current_setting('{setting}')") == value


def test_service_and_password_files_are_read(
    server: LabServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    services, passwords = tmp_path / "services.conf", tmp_path / "passwords"
    services.write_text(
        f"[lab]\nhost=127.0.0.1\nport={server.port}\nuser=lab\ndbname=lab\n"
        f"[two]\nhost=127.0.0.1,127.0.0.1\nport=1,{server.port}\nuser=lab\ndbname=lab\n"
        f"[slow]\nhost=127.0.0.1\nport={server.port}\nuser=lab\ndbname=lab\nconnect_timeout=77\n"
    )
    passwords.write_text(f"127.0.0.1:{server.port}:*:lab:{SECRET}\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    for dsn in ("service=lab", "postgresql://?service=two"):
        assert check(dsn, server).password == SECRET
    for dsn, limit_s in (("service=lab", 10.0), ("service=slow", 77.0)):
        assert resolve(dsn).connect_timeout_s == limit_s
        assert resolve(dsn).chose_timeout == (limit_s == 77.0)
    monkeypatch.delenv("PGPASSFILE")
    check(f"service=lab passfile='{passwords}'", server)
    (tmp_path / ".pgpass").write_text(passwords.read_text())
    (tmp_path / ".pgpass").chmod(0o600)
    check("service=lab", server)
    with pytest.raises(ConnectionRefused, match="check the service name"):
        resolve("service=nosuch")


def test_sockets_in_folders_and_in_the_abstract_namespace(
    server: LabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = server.cluster.parameters().host
    # A Unix socket has no TLS, whatever sslmode asks for.
    check(f"host={folder} port={server.port} user=lab dbname=lab sslmode=verify-full", server)
    with server.admin("postgres") as session:
        row = session.execute("SHOW unix_socket_directories").fetchone()
    assert row is not None
    abstract = str(row[0]).split(",")[1].strip(' "')
    parameters = check(f"host={abstract} port={server.port} user=lab dbname=lab", server)
    assert parameters.hostaddr == ""
    monkeypatch.setenv("PGHOST", abstract)
    check(f"port={server.port} user=lab dbname=lab", server)
    with pytest.raises(ConnectionRefused, match="this server is not running"):
        resolve(f"host=@nobody port={server.port}")


def test_ip_version_6_works(server: LabServer) -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("no IPv6 on this machine's loopback")
    with server.admin("postgres") as session:
        row = session.execute("SHOW listen_addresses").fetchone()
    assert row is not None
    if "::1" not in row[0]:
        pytest.skip("the server could not listen on ::1")
    check(f"postgresql://lab:s3cret%20word@[::1]:{server.port}/lab", server)


def test_the_first_of_several_hosts_that_answers_is_used(server: LabServer) -> None:
    closed, port = unused_port(), server.port
    for attributes in ("any", "read-write", "primary", "prefer-standby"):
        for balance in ("disable", "random"):
            parameters = check(
                f"host=127.0.0.1,localhost hostaddr=127.0.0.1,127.0.0.1 port={closed},{port}"
                f" user=lab password='{SECRET}' dbname=lab target_session_attrs={attributes}"
                f" load_balance_hosts={balance}",
                server,
            )
            assert (parameters.host, parameters.port) == ("localhost", port)
    with pytest.raises(ConnectionRefused, match="not in hot standby"):
        resolve(make_conninfo(server.dsn(), target_session_attrs="standby"))


def test_a_host_that_fails_later_is_an_error_and_no_other_is_tried(server: LabServer) -> None:
    parameters = resolve(
        f"host=127.0.0.1,127.0.0.1 port={server.port},{unused_port()} user=lab dbname=lab"
        f" password='{SECRET}'"
    )
    gone = ConnectionParameters(**{**vars(parameters), "port": unused_port()})
    with pytest.raises(_core.ConnectionFailed, match="cannot reach PostgreSQL at"):
        value_in_the_load(gone)


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ("sslcrldir=/tmp", "name it with sslcrl"),
        ("requirepeer=postgres", "requirepeer is not supported"),
        ("gssencmode=require", "GSS"),
    ],
)
def test_a_parameter_that_the_load_does_not_support_is_refused(
    server: LabServer, parameter: str, words: str
) -> None:
    with pytest.raises(PgassayError, match=words) as caught:
        resolve(f"{server.dsn()} {parameter}")
    assert "\n" not in str(caught.value)


def test_more_connections_than_the_server_allows_are_an_error(server: LabServer) -> None:
    many = LoadRequest(
        scenarios=[Scenario("s", "s.sql", "SELECT 1;", 1.0)],
        steps=[Step(200, 1.0, measured=True)],
        variables={},
        seed=1,
    )
    load = _core.Load(many.configuration(resolve(server.dsn())))
    with pytest.raises(_core.ConnectionFailed) as caught:
        load.connect()
    assert caught.value.sqlstate == "53300"
