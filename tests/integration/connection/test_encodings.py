"""Databases of every encoding: the load sends and reads bytes as pgbench does; foreign names crash
nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pyarrow.parquet as pq
import pytest
from psycopg.conninfo import make_conninfo

from pgassay.server.connection.session import resolve
from pgassay.server.hosts.account import Account
from pgassay.server.owned.installation import Installation
from pgassay.server.statements import statement
from pgassay.trials.sampling.queries import extensions_in
from pgassay.trials.sampling.statement_texts import read_texts
from support.notes import codes_in
from support.runs.broken import spec_file
from support.runs.command import last_line, pgassay
from support.servers.lab import SECRET, LabServer, running_lab_server
from support.servers.sessions import connect

BYTES = {
    "UTF8": "é".encode(),
    "SQL_ASCII": b"\xe9\xff",
    "LATIN1": b"\xe9\xff",
    "WIN1251": b"\xef\xf0\xe8",
    "EUC_JP": b"\xc6\xfc",
}
"""Encoding → what is no ASCII and valid in it; a database of each has a table of this name."""
FOREIGN = {"LATIN1": b"caf\xe9", "WIN1251": b"\xe4\xe0\xed\xed\xfb\xe5"}
"""Names of further databases, of which one has a session."""


@pytest.fixture(scope="module")
def server(
    server_installation: Installation, account: Account, servers_base: Path
) -> Iterator[LabServer]:
    lines = "shared_preload_libraries = 'pg_stat_statements'\n"
    with running_lab_server(server_installation, account, servers_base, lines) as made:
        with made.admin() as session:
            for encoding in BYTES:
                session.execute(
                    f"CREATE DATABASE db_{encoding} ENCODING {encoding} LOCALE 'C'"
                    " TEMPLATE template0".encode()
                )
        for encoding, name in BYTES.items():
            raw(made, encoding, b"CREATE TABLE \"%s\" AS SELECT '%s'::text AS v" % (name, name))
            raw(made, encoding, b"CREATE EXTENSION pg_stat_statements")
        for encoding, name in FOREIGN.items():
            made_by = b"CREATE DATABASE \"%s\" ENCODING %s LOCALE 'C' TEMPLATE template0"
            raw(made, "SQL_ASCII", made_by % (name, encoding.encode()))
            raw(made, "SQL_ASCII", b'CREATE ROLE "%s" LOGIN SUPERUSER' % name)
        with ExitStack() as open_sessions:
            name = FOREIGN["LATIN1"]
            where = f"host={made.cluster.workspace.socket_directory} port={made.port}".encode()
            foreign = psycopg.pq.PGconn.connect(where + b" user=%s dbname=%s" % (name, name))
            open_sessions.callback(foreign.finish)
            assert foreign.status == psycopg.pq.ConnStatus.OK, foreign.error_message
            foreign.send_query(b"SELECT pg_sleep(3600)")
            yield made


def raw(server: LabServer, encoding: str, command: bytes) -> None:
    """Bytes as they are."""
    with server.admin(f"db_{encoding}".lower()) as session:
        session.execute("SET client_encoding = 'SQL_ASCII'")
        session.execute(command)


def dsn_of(server: LabServer, encoding: str, **more: str) -> str:
    """Without the password."""
    name = f"db_{encoding}".lower()
    return make_conninfo(host="127.0.0.1", port=server.port, user="lab", dbname=name, **more)


def load(
    tmp_path: Path, script: bytes, dsn: str, *words: str, **environment: str
) -> dict[str, object]:
    """The step of a load of two transactions."""
    file = tmp_path / "script.sql"
    file.write_bytes(script)
    words = (dsn, "-f", str(file), "-n", "-t", "2", "--json", *words)
    done = pgassay("load", *words, PGPASSWORD=SECRET, **environment)
    (step,) = json.loads(done.stdout)["steps"]
    assert isinstance(step, dict)
    return step


@pytest.mark.parametrize("encoding", BYTES)
def test_a_script_goes_byte_for_byte_to_a_database_of_any_encoding(
    server: LabServer, tmp_path: Path, encoding: str
) -> None:
    name = BYTES[encoding]
    script = b"SELECT '%s' AS x \\gset\nSELECT 1 / count(*) FROM \"%s\" WHERE v = " % (name, name)
    for protocol, variable in (("simple", b"':x'"), ("prepared", b":x"), ("prepared", b":y")):
        given = b"y=%s" % name
        found = load(
            tmp_path, script + variable, dsn_of(server, encoding),
            "-M", protocol, "-D", given.decode("utf-8", "surrogateescape"),
        )  # fmt: skip
        assert (found["transactions"], found["failed"]) == (2, 0), (protocol, found)


def test_the_load_has_the_encoding_that_the_user_names_else_that_of_the_database(
    server: LabServer, tmp_path: Path
) -> None:
    service = tmp_path / "service.conf"
    service.write_text("[lab]\nclient_encoding=KOI8R\n")
    cases: list[tuple[dict[str, str], dict[str, str], str]] = [
        ({}, {}, "WIN1251"),
        ({}, {"PGCLIENTENCODING": "UTF8"}, "UTF8"),
        ({"client_encoding": "WIN866"}, {"PGCLIENTENCODING": "UTF8"}, "WIN866"),
        ({"service": "lab"}, {"PGSERVICEFILE": str(service)}, "KOI8R"),
    ]
    for named, environment, expected in cases:
        script = f"SELECT 1 / (current_setting('client_encoding') = '{expected}')::int;".encode()
        found = load(tmp_path, script, dsn_of(server, "WIN1251", **named), **environment)
        assert found["failed"] == 0, (named, environment)


@pytest.mark.parametrize(
    "encoding",
    [
        "UTF8",
        "SQL_ASCII",
        "EUC_JP",
        *(pytest.param(one, marks=pytest.mark.heavy) for one in FOREIGN),
    ],
)
def test_names_in_other_encodings_crash_no_command(
    server: LabServer, tmp_path: Path, encoding: str
) -> None:
    dsn, seen = dsn_of(server, encoding), tmp_path / "seen"
    with connect(resolve(make_conninfo(dsn, password=SECRET))) as session:
        rows = session.execute("SELECT datname FROM pg_database").fetchall()
        others = session.execute(statement("signs/sessions")).fetchall()
        assert session.execute("SHOW client_encoding").fetchone() == ("UTF8",)
    assert "in caf" in str(others)
    if encoding in ("UTF8", "SQL_ASCII"):
        assert {("caf\\xe9",), ("\\xe4\\xe0\\xed\\xed\\xfb\\xe5",)} <= set(rows)
    spec = spec_file(tmp_path, target=f'[target]\ndsn = "{dsn}"\nallow_changes = true')
    planned = pgassay("plan", spec, PGPASSWORD=SECRET)
    assert planned.returncode == 0, planned.stderr
    checked = pgassay("doctor", dsn, PGPASSWORD=SECRET)
    assert "every query of the samplers works" in checked.stdout, checked.stdout + checked.stderr
    observed = pgassay(
        "observe", dsn, "--duration", "1s", "--quiet", "--out", seen, PGPASSWORD=SECRET
    )
    assert observed.returncode == 0, observed.stderr
    (stored,) = seen.glob("segments/*/postgres.parquet")
    counted = pq.read_table(stored).to_pylist()
    tables = {row["object"] for row in counted if row["source"] == "tables"}
    known = {"UTF8": "é", "LATIN1": "éÿ", "WIN1251": "при", "EUC_JP": "日"}
    assert any(known.get(encoding, "\\xe9\\xff") in str(name) for name in tables), tables


def test_a_run_keeps_scripts_of_any_encoding(server: LabServer, tmp_path: Path) -> None:
    workload = tmp_path / "bytes"
    workload.mkdir()
    (workload / "workload.toml").write_text(
        'title = "Bytes"\n[scenarios.find]\nfile = "find.sql"\n'
    )
    (workload / "schema.sql").write_text("CREATE TABLE t (v text);")
    (workload / "data.sql").write_text("INSERT INTO t VALUES ('a');")
    (workload / "find.sql").write_bytes(b"SELECT 1 / octet_length('\xe9') FROM t -- \xf1\n;")
    spec = spec_file(
        tmp_path,
        target=f'[target]\ndsn = "{dsn_of(server, "SQL_ASCII")}"\nallow_changes = true\n'
        'accept = ["sessions"]\n[sampling]\nplans = true',
        step="0.3s",
    )
    spec.write_text(spec.read_text().replace('"payments-write"', '"bytes"'))
    run = tmp_path / "run"
    done = pgassay("run", spec, "--out", run, "--plain", PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    stored = json.loads((run / "workload.json").read_text())["scenarios"][0]
    assert stored["script"] == "SELECT 1 / octet_length('\\xe9') FROM t -- \\xf1\n;"
    (arm,) = json.loads(next(run.glob("trials/0001/plans.json")).read_text())["arms"]
    assert "plan" in arm["statements"][0]
    assert "\\xe9" in (run / "report.html").read_text()


def test_statement_texts_that_cannot_be_read_are_a_note(server: LabServer) -> None:
    counters = {"source": ["statements"], "object": ["1"]}
    raw(server, "SQL_ASCII", b"COMMENT ON TABLE \"\xe9\xff\" IS '\xe9'")
    with server.admin("db_utf8") as session:
        extensions = extensions_in(session)
        found, note = read_texts(lambda: server.admin("db_utf8"), extensions, counters)
        assert (found, codes_in(note)) == ({}, ["trials/sampling/no-texts"])
        session.execute("SELECT pg_stat_statements_reset()")
    assert read_texts(lambda: server.admin("db_utf8"), extensions, counters) == ({}, None)


def test_a_name_to_connect_with_that_is_not_utf_8_is_refused_in_one_line(
    server: LabServer,
) -> None:
    name = FOREIGN["LATIN1"].decode("utf-8", "surrogateescape")
    where = ("-h", "127.0.0.1", "-p", str(server.port))
    for command, environment in (
        (["load", *where, "-S", "-n", "-t", "1", name], {}),
        (["observe", *where, name], {}),
        (["init", *where], {"PGDATABASE": name, "PGUSER": "lab", "PGPASSWORD": SECRET}),
    ):
        done = pgassay(*command, **environment)
        assert last_line(done.stderr).startswith("pgassay: caf\\xe9 is not UTF-8"), done.stderr
