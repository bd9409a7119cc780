"""Copies of a data directory: one for each variant of the schema, with cold caches, and room."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pgassay.errors import TargetError
from pgassay.samples.journal import open_changes
from pgassay.spec.reset import Caches
from pgassay.target.protocol import Connection, Ground, SchemaVariant
from support.command import pgassay
from support.data_copies import BESIDE, SPEC, left_untouched
from support.servers import RecordingJournal
from support.services import DebianServer, debian_server
from support.small_disk import small_disk
from support.targets import copied, existing

BTREE = SchemaVariant("i = b'tree", {"i": "CREATE INDEX one ON account (i); ANALYZE account"})
ROLE = SchemaVariant("r = ü", {"r": "CREATE ROLE lab_ü; GRANT SELECT ON account TO lab_ü"})
SEEN = """
SELECT to_regclass('pgassay.one') IS NOT NULL,
       EXISTS (SELECT FROM pg_roles WHERE rolname = 'lab_ü'),
       (SELECT count(*) FROM public.pg_buffercache
         WHERE relfilenode = pg_relation_filenode('pgassay.account') AND relforknumber = 0),
       (SELECT count(*) FROM pgassay.account)
"""


@pytest.fixture(scope="module")
def on_disk() -> Iterator[DebianServer]:
    """A cluster of its own: what lies in a file system in memory is never cold."""
    base = Path(tempfile.mkdtemp(prefix="pgassay-test-", dir="/var/tmp"))
    base.chmod(0o711)
    with debian_server(base) as server:
        with server.admin() as session:
            session.execute("CREATE EXTENSION pg_buffercache")
        yield server
    shutil.rmtree(base)


def build(session: Connection) -> None:
    session.execute(
        "CREATE TABLE account AS SELECT i, repeat('x', 80) AS filler"
        " FROM generate_series(1, 20000) i"
    )


def test_every_trial_finds_its_variant_and_nothing_of_it_in_any_cache(
    on_disk: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    target = existing("pg_ctlcluster", on_disk, journal, request)
    with (
        left_untouched(on_disk, monkeypatch, tmp_path),
        closing(copied(target, Caches.COLD)) as target,
    ):
        target.open()
        target.prepare(build, {"work_mem": "7MB"})
        for variant in (BTREE, ROLE):
            target.vary(variant)
        assert len(list(on_disk.data.parent.glob(f"{BESIDE}-frozen*"))) == 3
        for name in (BTREE.name, "", ROLE.name):
            target.choose(Ground(schema=name))
            report = target.reset({"work_mem": "9MB"})
            assert report.settings == {"work_mem": "9MB"}
            assert report.notes == ()
            assert report.caches is not None
            assert report.caches.cached_share is not None
            assert report.caches.cached_share < 0.02
            with on_disk.admin() as session:
                seen = session.execute(SEEN).fetchone()
                session.execute("TRUNCATE pgassay.account")
            assert seen == (name == BTREE.name, name == ROLE.name, 0, 20000)
        with pytest.raises(TargetError, match="nix: this variant of the data was not made"):
            target.choose(Ground(schema="nix"))
    assert journal.open == []


def test_copies_that_cannot_fit_are_refused_when_planned_and_by_the_run(
    servers_base: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spec = tmp_path / "lab.toml"
    with (
        small_disk(servers_base / "small", "110m") as disk,
        debian_server(disk) as server,
        left_untouched(server, monkeypatch, tmp_path),
    ):
        schema = "[factors.schema.i]\nnone = ''\none = 'CREATE INDEX ON account (id)'\n[load]"
        spec.write_text(SPEC.format(dsn=server.dsn()).replace("[load]", schema))
        planned = pgassay("plan", spec, COLUMNS="400")
        assert planned.returncode == 0, planned.stderr
        beside = f"{server.data.parent} of this host"
        assert f"are free in {beside}; until the end" in planned.stdout
        assert "change    host: 3 copies of the data directory, " in planned.stdout
        assert f"stops: {beside} has " in planned.stdout
        done = pgassay("run", spec, "--out", tmp_path / "run")
        assert done.returncode == 1
        assert f"{beside} has " in done.stderr
        assert "free; copies of the data beside it (3) take " in done.stderr
        assert open_changes(tmp_path / "run" / "journal.jsonl") == []
