"""SQL of a stranger on a server of our own: it runs no program and touches no file."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from pgassay.errors import TargetError
from pgassay.server.owned.origin import NewCluster
from pgassay.server.owned.target import OwnedTarget
from pgassay.server.protocol import Connection, SchemaVariant, Testbed
from pgassay.spec.server.reset import Caches, ResetLevel, ResetRule
from support.servers.lab import RecordingJournal, installation_named, scalar
from support.servers.sessions import connect

# What a superuser would run unawares: functions of indexes, operators and names found before the
# server's own, a better match for a call of pg_prewarm.
TRAPS = """
CREATE TABLE t (i int PRIMARY KEY, v int);
INSERT INTO t SELECT g, g FROM generate_series(1, 2000) g;
CREATE FUNCTION public.spring() RETURNS int LANGUAGE plpgsql AS $$BEGIN
    COPY (SELECT 1) TO PROGRAM 'touch {mark}'; RETURN 1;
EXCEPTION WHEN insufficient_privilege THEN RETURN 2; END$$;
CREATE FUNCTION public.quiet(int) RETURNS int IMMUTABLE LANGUAGE plpgsql
    AS $$BEGIN RETURN public.spring(); END$$;
CREATE INDEX ON t (quiet(v));
CREATE FUNCTION public.pg_prewarm(regclass, text) RETURNS int8 LANGUAGE sql
    AS 'SELECT public.spring()::int8';
CREATE FUNCTION public.same(name, text) RETURNS bool LANGUAGE sql AS 'SELECT spring() = 1';
CREATE OPERATOR public.= (LEFTARG = name, RIGHTARG = text, FUNCTION = public.same);
ALTER DATABASE bench SET search_path = public, pg_catalog;
"""
HARMFUL = (
    "COPY (SELECT 1) TO PROGRAM 'touch {mark}'",
    "COPY t TO '{mark}'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT lo_import('/etc/passwd')",
    "ALTER SYSTEM SET archive_command = 'touch {mark}'",
    "SET SESSION AUTHORIZATION postgres",
    "SET ROLE postgres",
    "CREATE EXTENSION dblink",
    "LOAD '{mark}'",
    "SET session_preload_libraries = '{mark}'",
    "ALTER ROLE pgassay_load SUPERUSER",
    "CREATE OR REPLACE FUNCTION pgassay_extensions.pg_prewarm(regclass, text) RETURNS int8"
    " LANGUAGE sql AS 'SELECT 1::int8'",
)


@pytest.fixture
def mark(own_base: Path) -> Path:
    """A file that the server's account could make."""
    open_to_all = own_base / "marks"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    return open_to_all / "mark"


@pytest.mark.parametrize("kind", ["embedded-18", "embedded-16"])
def test_the_sql_of_a_workload_can_run_no_program_by_itself_nor_by_a_superuser(
    kind: str, mark: Path
) -> None:
    def build(session: Connection) -> None:
        session.execute(TRAPS.replace("{mark}", str(mark)))
        for statement in HARMFUL:
            with pytest.raises(psycopg.Error), session.transaction():
                session.execute(statement.replace("{mark}", str(mark)))

    origin = NewCluster(installation_named(kind), limited=True)
    rule = ResetRule(ResetLevel.SNAPSHOT, Caches.WARM)
    with closing(OwnedTarget(origin, RecordingJournal(), rule=rule)) as target:
        target.open()
        target.prepare(build, {})
        with pytest.raises(TargetError, match="external program"):
            target.vary(SchemaVariant("x", {"x": HARMFUL[0].replace("{mark}", str(mark))}, {}))
        target.vary(SchemaVariant("y", {"y": "ALTER TABLE t ADD w int DEFAULT spring()"}, {}))
        target.choose(Testbed(schema="y"))
        report = target.reset({"work_mem": "8MB"})
        assert report.caches is not None
        with connect(target.parameters()) as session:
            assert scalar(session, "SELECT current_user") == "pgassay_load"
            assert scalar(session, "SELECT count(*) FROM t WHERE quiet(v) = 1") == 0
            session.execute("SET wal_compression = on")  # as a switchback does
            statements = "SELECT count(*) > 0 FROM pgassay_extensions.pg_stat_statements"
            if kind == "embedded-18":  # 16 has no contrib
                assert scalar(session, statements)
    assert not mark.exists()
