"""A real server's log, in each of its forms, becomes the workload that was there."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from uuid import UUID

import psycopg
import pyarrow.parquet as pq
import pytest

from pgassay.draw.log.drawing import draw_log
from pgassay.draw.log.options import LogOptions
from pgassay.draw.log.trace import write_trace
from pgassay.draw.model import Drawing, DrawnScenario, Protocol
from pgassay.refusals.refusal import SetupRefused
from pgassay.server.hosts.account import Account
from pgassay.server.owned.installation import Installation
from pgassay.spec.load.trace_file import METADATA
from support.servers.lab import SECRET, LabServer, running_lab_server, wait_until
from support.servers.pool import on_every_version

LINES = """
logging_collector = on
log_filename = 'all.log'
log_line_prefix = '%m [%p] %q%u@%d/%a '
log_min_duration_statement = 0
log_disconnections = on
lc_messages = 'C'
password_encryption = 'scram-sha-256'
"""
ENDINGS = {"stderr": "log", "csvlog": "csv", "jsonlog": "json"}
CLIENTS, EACH = 2, 20

pytestmark = on_every_version


@pytest.fixture(scope="module")
def server(
    server_installation: Installation, account: Account, servers_base: Path
) -> Iterator[LabServer]:
    lines = f"{LINES}log_destination = '{','.join(forms_of(server_installation))}'\n"
    with running_lab_server(server_installation, account, servers_base, lines) as running:
        with running.admin() as session:
            session.execute(b"CREATE TABLE history (aid int, delta int, PRIMARY KEY (aid, delta))")
            session.execute(
                b'CREATE TABLE "Or der" (id uuid, "no te" text, tags text[], info jsonb)'
            )
            session.execute(b"GRANT ALL ON ALL TABLES IN SCHEMA public TO lab")
        yield running


def forms_of(installation: Installation) -> list[str]:
    """jsonlog is new in 15."""
    return list(ENDINGS)[: 2 if installation.major < 15 else None]


def logs(server: LabServer) -> dict[str, Path]:
    """The log's file in each form, for the account that runs the tests."""
    with server.admin() as session:
        row = session.execute(b"SELECT current_setting('data_directory')").fetchone()
    assert row is not None
    found = {form: Path(row[0]) / "log" / f"all.{end}" for form, end in ENDINGS.items()}
    return {form: path for form, path in found.items() if path.exists()}


def drawn(server: LabServer, is_whole: Callable[[Drawing], bool], **options: str) -> list[Drawing]:
    """The drawing of each form; the collector writes a moment after the client has its answer."""
    found: list[Drawing] = []

    def whole(path: Path) -> bool:
        try:
            drawing = draw_log([path], LogOptions(**options))  # type: ignore[arg-type]
        except SetupRefused:
            return False
        if is_whole(drawing):
            found.append(drawing)
            return True
        return False

    for form, path in logs(server).items():
        wait_until(partial(whole, path), f"all of it in {form}")
    return found


def has_transactions(count: int) -> Callable[[Drawing], bool]:
    return lambda drawing: sum(one.transactions for one in drawing.scenarios) == count


def session_of(server: LabServer, name: str) -> psycopg.Connection:
    return psycopg.connect(server.dsn(), application_name=name, autocommit=True)


def rows_of(scenario: DrawnScenario) -> list[dict[str, object]]:
    return scenario.parameters.to_pylist() if scenario.parameters is not None else []


SCRIPT = r"""
\set aid random(1, 1000000)
\set delta random(-1000000, -1)
BEGIN;
INSERT INTO history VALUES (:aid, :delta);
SELECT count(*) FROM history WHERE aid = :aid
  AND delta = :delta /* here */;
COMMIT;
"""


@pytest.mark.parametrize("protocol", list(Protocol))
def test_transactions_of_pgbench_are_drawn_with_their_values(
    server: LabServer, server_installation: Installation, tmp_path: Path, protocol: Protocol
) -> None:
    pgbench = server_installation.program("pgbench")
    if not pgbench.exists():
        pytest.skip("pgbench is not here")
    script = tmp_path / "script.sql"
    script.write_text(SCRIPT)
    name = f"bench {protocol}"
    environment = server.variables() | {"PGAPPNAME": name}
    with server.admin() as session:
        session.execute(b"TRUNCATE history")
    subprocess.run(
        [pgbench, "-n", "-f", script, "-M", protocol, "-c", str(CLIENTS), "-t", str(EACH)],
        env=environment, check=True, capture_output=True,
    )  # fmt: skip
    with server.admin() as session:
        there = Counter(session.execute(b"SELECT aid, delta FROM history").fetchall())
    for drawing in drawn(server, has_transactions(CLIENTS * EACH), application=name):
        (scenario,) = drawing.scenarios
        assert drawing.protocol is protocol
        assert (scenario.explicit, scenario.ends) == (True, "COMMIT")
        assert scenario.name == "insert-history-and-1-more"
        assert [one.text for one in scenario.statements] == [
            "INSERT INTO history VALUES (:p1, :p2)",
            "SELECT count(*) FROM history WHERE aid = :p1 AND delta = :p2",
        ]
        found = Counter((int(str(r["p1"])), int(str(r["p2"]))) for r in rows_of(scenario))
        assert found == there
        assert [one.figures.calls for one in scenario.statements] == [40, 40]
        assert all(one.figures.time_ms > 0 for one in scenario.statements)
        assert drawing.lost == ()
        assert drawing.figures.commits == CLIENTS * EACH


def test_values_of_all_types_come_back_as_they_were(server: LabServer) -> None:
    rows = [
        (UUID(int=1), "it's\n\\ 'x', $2 = ''", ["a", 'b"c'], '{"a": [1, "é"]}'),
        (UUID(int=2), None, [], "null"),
    ]
    insert = 'INSERT INTO "Or der" VALUES (%s, %s, %s, %s)'
    with session_of(server, "types") as session:
        for row in rows:
            session.execute(insert, row)
        there = session.execute('SELECT id::text, "no te", tags, info FROM "Or der"').fetchall()
        session.execute('DELETE FROM "Or der" WHERE id <> %s', (UUID(int=9),))
    for drawing in drawn(server, has_transactions(4), application="types"):
        (scenario,) = (one for one in drawing.scenarios if one.name.startswith("insert"))
        with session_of(server, "pgassay test") as session:
            for drawn_row in rows_of(scenario):
                cursor = psycopg.RawCursor(session)
                values = [None if one is None else str(one) for one in drawn_row.values()]
                cursor.execute(scenario.statements[0].source_text, values)
            again = session.execute('SELECT id::text, "no te", tags, info FROM "Or der"').fetchall()
            session.execute('DELETE FROM "Or der"')
        assert again == there


def test_failures_rollbacks_and_savepoints_are_kept(server: LabServer) -> None:
    with session_of(server, "failing") as session:
        for key in range(3):
            session.execute("BEGIN")
            session.execute("INSERT INTO history VALUES (%s, 7)", (key,))
            with pytest.raises(psycopg.errors.UniqueViolation):
                session.execute("INSERT INTO history VALUES (%s, 7)", (key,))
            session.execute("ROLLBACK")
        session.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
        session.execute("SAVEPOINT s")
        # Long enough not to be rare beside inserts that a busy machine delays.
        session.execute("SELECT pg_sleep(0.05)")
        session.execute("ROLLBACK TO s")
        session.execute("COMMIT")
    for drawing in drawn(server, has_transactions(4), application="failing"):
        failing, other = sorted(drawing.scenarios, key=lambda one: -one.transactions)
        assert (failing.ends, failing.transactions) == ("ROLLBACK", 3)
        assert [one.figures.failed for one in failing.statements] == [0, 3]
        assert [one.text for one in other.statements] == [
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "SAVEPOINT s",
            "SELECT pg_sleep(:p1)",
            "ROLLBACK TO s",
        ]


def test_a_log_of_statements_alone_has_transactions_too(server: LabServer) -> None:
    with server.admin() as session:
        session.execute(b"ALTER ROLE lab SET log_statement = 'all'")
        session.execute(b"ALTER ROLE lab SET log_min_duration_statement = -1")
    try:
        with session_of(server, "all") as session, session.transaction():
            session.execute("SELECT count(*) FROM history WHERE aid = %s", (1,))
            session.execute("SELECT 'a' || current_user")
            with pytest.raises(psycopg.errors.DivisionByZero), session.transaction():
                session.execute("SELECT 1/0")
    finally:
        with server.admin() as session:
            session.execute(b"ALTER ROLE lab RESET ALL")
    for drawing in drawn(server, has_transactions(1), application="all"):
        (scenario,) = drawing.scenarios
        assert scenario.ends == "COMMIT"
        assert [one.figures.failed for one in scenario.statements][:5] == [0, 0, 0, 1, 0]
        assert {one.figures.calls for one in scenario.statements} == {1}
        assert ("draw/log/no-durations", {}) in drawing.notes


def test_a_trace_has_each_statement_as_it_was_sent(server: LabServer, tmp_path: Path) -> None:
    with session_of(server, "traced") as other:
        other.execute("ALTER ROLE lab PASSWORD '" + SECRET + "'")
    with session_of(server, "traced") as session:
        session.execute("SET work_mem = '1MB'")
        for key in range(3):
            session.execute("SELECT %s::int, %s::text", (key, None), prepare=True)
        with pytest.raises(psycopg.errors.UndefinedTable):
            session.execute("SELECT * FROM absent")
    for path in logs(server).values():
        trace = tmp_path / f"{path.suffix}.parquet"

        def is_whole(path: Path = path, trace: Path = trace) -> bool:
            try:
                write_trace([path], trace, LogOptions(application="traced"))
            except SetupRefused:
                return False
            return bool(pq.read_table(trace)["kind"].to_pylist().count("simple") == 2)

        wait_until(is_whole, "all of the trace")
        about = json.loads(pq.read_schema(trace).metadata[METADATA])
        assert (about["left_out"], about["sessions"]) == (1, 2)
        everything = pq.read_table(trace).to_pylist()
        times = [row["at_us"] for row in everything]
        assert times == sorted(times)
        assert times[0] == 0
        rows = [row for row in everything if row["session"] == 1]
        assert [row["kind"] for row in rows] == [
            "connect", "simple", "prepared", "prepared", "prepared", "simple", "disconnect",
        ]  # fmt: skip
        assert [row["parameters"] for row in rows[2:5]] == [[str(key), None] for key in range(3)]
        assert len({row["name"] for row in rows[2:5]}) == 1
        assert rows[2]["statement"] == "SELECT $1::int, $2::text"
        assert [row["sqlstate"] for row in rows[1:6]] == [None] * 4 + [rows[5]["sqlstate"]]
        assert rows[5]["sqlstate"] is not None
        assert {row["application"] for row in rows} == {"traced"}
        assert trace.stat().st_mode & 0o777 == 0o600
        assert SECRET.encode() not in trace.read_bytes()
