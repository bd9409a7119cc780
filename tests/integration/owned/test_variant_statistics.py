"""Statistics after SQL of a schema variant: a new sample only where that SQL asks for one."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from pgassay.server.owned.origin import NewCluster
from pgassay.server.owned.target import OwnedTarget
from pgassay.server.protocol import Connection, SchemaVariant, Testbed
from support.servers.lab import RecordingJournal, installation_named
from support.servers.sessions import connect

CHANGES = {
    "untouched": "",
    "indexed": "CREATE INDEX ON indexed (i) WHERE i > 0.5",
    "undone": "DROP INDEX by_expression",
    "expressed": "CREATE INDEX ON expressed ((i + k))",
    "extended": "CREATE STATISTICS related ON i, k FROM extended",
    "targeted": "ALTER TABLE targeted ALTER i SET STATISTICS 200",
    "rewritten": "ALTER TABLE rewritten ALTER k TYPE bigint",
    "widened": "ALTER TABLE widened ADD l int DEFAULT 7",
    "thinned": "DELETE FROM thinned WHERE k = 7",
    "parted": "CREATE INDEX ON parted ((i + k))",
    "made": "CREATE TABLE made AS SELECT i, k FROM untouched",
}
ALIKE = {"untouched", "indexed", "undone"}
STATISTICS = """
SELECT tablename, md5(string_agg(s::text, '' ORDER BY attname, inherited)) FROM pg_stats s
 WHERE schemaname = 'public' GROUP BY 1"""


def build(session: Connection) -> None:
    """More rows than the 30 000 of a sample, so that two samples differ."""
    for name in CHANGES.keys() - {"made"}:
        ending = " PARTITION BY RANGE (k)" if name == "parted" else ""
        session.execute(f"CREATE TABLE {name} (i float8, k int){ending}".encode())
        if ending:
            session.execute("CREATE TABLE part PARTITION OF parted DEFAULT")
        session.execute(
            f"INSERT INTO {name} SELECT random(), n % 100 FROM generate_series(1, 31000) n".encode()
        )
    session.execute("CREATE INDEX by_expression ON undone ((i * 2))")


def statistics_of(target: OwnedTarget, schema: str) -> dict[str, str]:
    target.choose(Testbed(schema=schema))
    target.reset({})
    with connect(target.parameters()) as session:
        return dict(session.execute(STATISTICS.encode()).fetchall())


@pytest.mark.parametrize(
    "kind", ["embedded-18", pytest.param("debian-15", marks=pytest.mark.heavy)]
)
def test_only_what_a_variant_asks_statistics_of_is_analysed_anew(kind: str, own_base: Path) -> None:
    origin = NewCluster(installation_named(kind))
    with closing(OwnedTarget(origin, RecordingJournal())) as target:
        target.open()
        target.prepare(build, {})
        target.vary(SchemaVariant("new", {name: sql for name, sql in CHANGES.items() if sql}))
        before, after = (statistics_of(target, schema) for schema in ("", "new"))
        assert {name for name in CHANGES if before.get(name) == after[name]} == ALIKE
        with connect(target.parameters()) as session:
            row = session.execute(
                "SELECT count(*), (SELECT count(*) FROM pg_stats_ext),"
                " (SELECT n_distinct FROM pg_stats WHERE tablename = 'widened' AND attname = 'l')"
                " FROM pg_stats WHERE attname = 'expr' AND tablename <> 'undone'"
            ).fetchone()
            assert row == (2, 1, 1)
