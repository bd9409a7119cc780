"""`pgassay init` makes the tables of `pgbench -i` and destroys no table that it did not make."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

from support.runs.command import pgassay
from support.runs.forked import begin
from support.servers.lab import LabServer, installation_named, wait_until
from support.servers.pool import on_every_version

TABLES = ("pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers")
CATALOGS = {
    "columns": """
        SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relname LIKE 'pgbench%' AND c.relkind IN ('r', 'p') AND a.attnum > 0
        ORDER BY 1, 2""",
    "tables": """
        SELECT c.relname, c.relkind, c.relpersistence, c.reloptions,
               pg_get_expr(c.relpartbound, c.oid), pg_get_partkeydef(c.oid), t.spcname
        FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
        WHERE c.relname LIKE 'pgbench%' AND c.relkind IN ('r', 'p', 'i', 'I') ORDER BY 1""",
    "constraints": """
        SELECT conrelid::regclass::text, conname, contype, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE conrelid::regclass::text LIKE 'pgbench%' ORDER BY 1, 2""",
    "indexes": """
        SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid)
        FROM pg_index WHERE indrelid::regclass::text LIKE 'pgbench%' ORDER BY 1""",
}

END_OF_COPY = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE query ILIKE 'copy%pgbench_accounts%' AND pid <> pg_backend_pid()"""


def pgbench_makes(
    pgbench: Path, server: LabServer, *options: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [pgbench, "-i", *options],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | server.variables(),
        check=False,
    )


def init(server: LabServer, *options: str) -> subprocess.CompletedProcess[str]:
    return pgassay("init", *options, **server.variables())


def tables_of(server: LabServer) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with server.admin() as session:
        for name, query in CATALOGS.items():
            found[name] = session.execute(query.encode()).fetchall()
        for table in TABLES:
            checksum = sql.SQL(
                "SELECT count(*), md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {} t"
            )
            found[table] = session.execute(checksum.format(sql.Identifier(table))).fetchone()
    return found


@pytest.fixture(autouse=True)
def no_tables(lab_server: LabServer) -> None:
    with lab_server.admin() as session:
        session.execute(f"DROP TABLE IF EXISTS {', '.join(TABLES)} CASCADE".encode())


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-s", "2", "-F", "70", "--foreign-keys"],
        ["-I", "dtGvpf", "-n"],
        ["--partitions", "4", "--partition-method", "hash", "-F", "90"],
        ["--unlogged-tables", "--foreign-keys"],
        ["--tablespace", "pg_default", "--index-tablespace", "pg_default", "-q"],
    ],
    ids=" ".join,
)
def test_the_tables_are_those_of_pgbench(lab_server: LabServer, options: list[str]) -> None:
    theirs_made = pgbench_makes(
        lab_server.cluster.installation.program("pgbench"), lab_server, *options
    )
    assert theirs_made.returncode == 0, theirs_made.stderr
    theirs = tables_of(lab_server)
    ours_made = init(lab_server, "--drop", *options)
    assert ours_made.returncode == 0, ours_made.stderr
    assert "done in" in ours_made.stderr
    assert tables_of(lab_server) == theirs


@on_every_version
def test_unlogged_partitions_are_those_of_pgbench_18_on_every_server(
    lab_server: LabServer,
) -> None:
    # pgbench to 17 makes the parent and the other tables unlogged too, if the server is as old.
    options = ["--unlogged-tables", "--partitions", "2", "--foreign-keys"]
    pgbench = installation_named("embedded-18").program("pgbench")
    theirs_made = pgbench_makes(pgbench, lab_server, *options)
    assert theirs_made.returncode == 0, theirs_made.stderr
    theirs = tables_of(lab_server)
    ours_made = init(lab_server, "--drop", *options)
    assert ours_made.returncode == 0, ours_made.stderr
    assert tables_of(lab_server) == theirs
    kinds = {row[0]: row[2] for row in theirs["tables"]}
    assert kinds["pgbench_accounts_1"] == "u"
    assert {kinds[table] for table in TABLES} == {"p"}


def test_a_table_that_pgassay_did_not_make_is_kept_unless_drop_is_given(
    lab_server: LabServer,
) -> None:
    with lab_server.admin() as session:
        session.execute("CREATE TABLE pgbench_history (precious int)")
        session.execute("INSERT INTO pgbench_history VALUES (1)")
    for steps, what in (("dtg", "dropped"), ("g", "emptied"), ("G", "emptied")):
        refused = init(lab_server, "-I", steps)
        assert refused.returncode == 1
        assert f"pgbench_history would be {what}, and pgassay did not make it" in refused.stderr
        assert refused.stderr.count("\n") == 1
    with lab_server.admin() as session:
        assert session.execute("SELECT precious FROM pgbench_history").fetchall() == [(1,)]
    assert init(lab_server, "--drop").returncode == 0
    assert init(lab_server).returncode == 0, "what pgassay made it may make anew"


def test_a_load_on_these_tables_vacuums_first_as_pgbench_does(lab_server: LabServer) -> None:
    assert init(lab_server, "-n", "-q").returncode == 0

    def history() -> int:
        with lab_server.admin() as session:
            row = session.execute("SELECT count(*) FROM pgbench_history").fetchone()
        return int(row[0]) if row else -1

    for options, rows in (([], 10), (["-n"], 20), (["-v", "-d", "lab"], 10)):
        done = pgassay("load", "-c", "2", "-t", "5", *options, **lab_server.variables())
        assert done.returncode == 0, done.stderr
        assert history() == rows


def test_a_session_that_the_server_ends_while_rows_are_copied_is_one_line(
    lab_server: LabServer,
) -> None:
    command = ["-m", "pgassay", "init", "-q", "-s", "500"]
    with begin(command, os.environ | lab_server.variables()) as process:
        with lab_server.admin() as session:
            wait_until(lambda: session.execute(END_OF_COPY).rowcount > 0, "rows are copied")
        _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    *steps, last = said.splitlines()
    assert all(line.endswith("...") for line in steps), said
    assert last.startswith("pgassay: generating data (client-side): ")
