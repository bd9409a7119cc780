"""Versions of a user's own server: copies of it, upgraded or restored; it stays as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from pgassay.refusals.refusal import TargetRefused, found_by
from pgassay.server.connection.session import user_path
from pgassay.server.copied import versions
from pgassay.server.copied.origin import ServerCopy
from pgassay.server.copied.source import collations_in, look, other_versions
from pgassay.server.copied.versions import Versions, shape_of
from pgassay.server.open import make_several
from pgassay.server.owned.installation import embedded_installation
from pgassay.server.owned.several_targets import SeveralTargets
from pgassay.server.protocol import Testbed
from pgassay.spec.factors.tables import Way
from support.runs.broken import WatchedRun, assert_no_server_left, watched
from support.runs.command import pgassay
from support.runs.killed_at_phase import killed
from support.servers.accounts import build_few_accounts
from support.servers.debian import DebianServer
from support.servers.existing import nothing
from support.servers.lab import LabServer, RecordingJournal, scalar, wait_until

ACCEPTED = ("commits", "sessions")
OBJECTS = """
CREATE EXTENSION citext;
CREATE COLLATION german (provider = libc, locale = 'C.utf8');
CREATE TABLE sale (id int, at date, who citext, word text COLLATE german) PARTITION BY RANGE (at);
CREATE TABLE sale_old PARTITION OF sale FOR VALUES FROM ('2020-01-01') TO ('2025-01-01');
CREATE TABLE sale_new PARTITION OF sale FOR VALUES FROM ('2025-01-01') TO ('2030-01-01');
INSERT INTO sale
SELECT i, date '2020-01-01' + i % 3000, 'Who' || i % 100, 'w' || i FROM generate_series(1, 9000) i;
CREATE INDEX ON sale (word);
CREATE STATISTICS id_at (dependencies) ON id, at FROM sale_old;
CREATE MATERIALIZED VIEW total AS SELECT who, count(*) FROM sale GROUP BY who;
CREATE TABLE visit (id int PRIMARY KEY, page int);
INSERT INTO visit SELECT i, i % 100 FROM generate_series(1, 5000) i;
CREATE ROLE "reader 1" LOGIN;
GRANT SELECT ON sale TO "reader 1";
ALTER DATABASE lab SET geqo_threshold = 11;
SET allow_system_table_mods = on;
UPDATE pg_attribute SET attoptions = '{n_distinct=7,pg_mark=3}'
 WHERE attrelid = 'sale_old'::regclass AND attname = 'id';
"""
DIGEST = """
SELECT (SELECT md5(string_agg(s::text, '' ORDER BY id)) FROM sale s),
       (SELECT md5(string_agg(t::text, '' ORDER BY who)) FROM total t),
       (SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'citext'),
       has_table_privilege('reader 1', 'sale', 'SELECT'), current_setting('geqo_threshold')
"""
FINGERPRINT = """
SELECT pg_postmaster_start_time(), (SELECT array_agg((name, setting)::text ORDER BY name)
         FROM pg_settings WHERE source <> 'session' AND context <> 'internal'),
       (SELECT md5(string_agg((oid, relfilenode, relname)::text, '' ORDER BY oid)) FROM pg_class),
       (SELECT array_agg(attoptions::text) FROM pg_attribute WHERE attoptions IS NOT NULL),
       (SELECT count(*) FROM pg_replication_slots), (SELECT array_agg(rolname::text) FROM pg_roles)
"""


@pytest.fixture(scope="module")
def server(debian: DebianServer) -> Iterator[DebianServer]:
    """A server of version 15 with what upgrades have to carry; it must be as it was afterwards."""
    with debian.admin() as session:
        session.execute(OBJECTS.encode())
        session.execute("ALTER SYSTEM SET vacuum_defer_cleanup_age = 3")  # gone since 16
        session.execute("ALTER SYSTEM SET effective_cache_size = '77MB'")
        session.execute("SELECT pg_reload_conf()")
        wait_until(lambda: scalar(session, "SHOW effective_cache_size") == "77MB", "reload")
    with debian.admin() as session:
        before = session.execute(FINGERPRINT.encode()).fetchall()
        digest = session.execute(DIGEST.encode()).fetchall()
    yield debian
    with debian.admin() as session:
        assert session.execute(FINGERPRINT.encode()).fetchall() == before
        assert session.execute(DIGEST.encode()).fetchall() == digest


def copies(
    dsn: str, journal: RecordingJournal, chosen: tuple[int | Path, ...], how: Way
) -> SeveralTargets:
    of_level = {str(one): one for one in chosen}
    levels = Versions(of_level, how)
    copy = ServerCopy(
        dsn,
        accept=ACCEPTED,
        servers=len(chosen),
        versions=levels,
        backup=("--checkpoint=fast",),
    )
    made = {name: copy.at(name) for name in of_level}
    target = make_several(made, journal=journal, first=Testbed(next(iter(made))))
    assert isinstance(target, SeveralTargets)
    return target


@pytest.mark.parametrize(
    "server_installation",
    [pytest.param("embedded-16", marks=pytest.mark.heavy)],
    indirect=True,
    scope="module",
)
def test_an_embedded_16_is_upgraded_to_18(
    lab_server: LabServer, own_base: Path, journal: RecordingJournal
) -> None:
    where = lab_server.cluster.workspace.socket_directory
    dsn = make_conninfo(host=str(where), port=lab_server.port, user="lab", dbname="lab")
    with lab_server.admin() as session:
        session.execute("CREATE TABLE public.orders AS SELECT i FROM generate_series(1, 500) i")
    with closing(copies(dsn, journal, (16, 18), "pg_upgrade")) as target:
        for level in (16, 18):
            assert target.choose(Testbed(str(level))).version_num // 10000 == level
            target.prepare(nothing, {})
            target.reset({})
            with closing(target.connect()) as session:
                assert scalar(session, "SELECT count(*) FROM public.orders") == 500
    assert list(own_base.iterdir()) == []


def refusals_of(
    server: DebianServer, levels: tuple[int, ...], how: Way = "pg_upgrade"
) -> dict[str, Mapping[str, Any]]:
    """What a plan would refuse, by code."""
    asked = Versions({str(one): one for one in levels}, how)
    with look(server.dsn()) as (session, parameters):
        found = found_by([versions.unfit_versions], session, parameters, asked, None)
    return {one.code: one.values for one in found if isinstance(one, TargetRefused)}


@pytest.mark.parametrize(
    ("how", "levels"),
    [
        ("pg_upgrade", (18, embedded_installation(18).bin_directory)),
        pytest.param("pg_upgrade", (15, 18), marks=pytest.mark.heavy),
        pytest.param("dump", (15, 18), marks=pytest.mark.heavy),
    ],
)
def test_levels_of_a_users_server_have_its_data_settings_and_new_statistics(
    server: DebianServer,
    own_base: Path,
    journal: RecordingJournal,
    how: Way,
    levels: tuple[int | Path, ...],
) -> None:
    made = set()
    with closing(copies(server.dsn(), journal, levels, how)) as target:
        for level in levels:
            facts = target.choose(Testbed(str(level)))
            assert facts.version_num // 10000 == (15 if level == 15 else 18)
            target.prepare(build_few_accounts, {})
            said = {one.code for one in target.reset({"work_mem": "9MB"}).notes}
            with server.admin() as original, closing(target.connect()) as session:
                with user_path(session):
                    expected = original.execute(DIGEST.encode()).fetchall()
                    assert session.execute(DIGEST.encode()).fetchall() == expected
                    statistics = "SELECT count(*) FROM pg_statistic_ext_data"
                    assert scalar(session, statistics) == 1
                    assert scalar(session, "SELECT count(*) FROM account") == 100
                assert scalar(session, "SHOW effective_cache_size") == "77MB"
                assert scalar(session, "SHOW data_checksums") == "off"
                made.add(scalar(session, "SELECT system_identifier FROM pg_control_system()"))
            if level != 15:
                way = "restored" if how == "dump" else "upgraded"
                codes = {way, "settings-unknown", "options-dropped", "without-checksums"}
                codes.add("extensions-of-other-versions")  # citext
                codes |= {"without-jit", "sampled-apart"} if 15 in levels else set()
                assert {f"server/copied/{code}" for code in codes} <= said
    assert len(made) == len({level == 15 for level in levels})  # builds of 18 share their files
    assert list(own_base.iterdir()) == []
    assert journal.open == []


def test_what_a_version_lacks_is_named_before_anything_is_copied(
    server: DebianServer, own_base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (missing,) = refusals_of(server, (15, 16)).items()
    assert missing[0] == "extension-missing"
    assert (missing[1]["extension"], missing[1]["databases"]) == ("citext", ("lab",))
    assert {*refusals_of(server, (15, 99))} == {"no-programs-of-a-version"}
    with server.admin() as session:
        other = replace(shape_of(session), prepared=2, libc="2.1")
    monkeypatch.setattr(versions, "shape_of", lambda _: other)
    assert {"prepared-for-an-upgrade", "another-libc"} <= {*refusals_of(server, (15, 18))}
    assert "another-libc" not in refusals_of(server, (15, 18), "dump")
    with server.admin() as session:
        session.execute("CREATE TABLE public.zipped (t text COMPRESSION lz4)")
        assert refusals_of(server, (18,))["built-without"]["library"] == "LZ4"
        session.execute("DROP TABLE public.zipped")
        assert collations_in(session) == {}
        session.execute(
            "CREATE DATABASE sorted TEMPLATE template0 ENCODING UTF8"
            " LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'de'"
        )
        with server.admin("sorted") as sorted_by_icu:
            here = collations_in(sorted_by_icu)
        session.execute("DROP DATABASE sorted WITH (FORCE)")
    assert other_versions(here | {"ICU": "1.2"}, here) == (f"ICU 1.2 → {here['ICU']}",)
    assert list(own_base.iterdir()) == []


SPEC = """
question = "What does 18 do to a join of a table with itself?"
[target]
dsn = '{dsn}'
accept = ["commits", "sessions"]
backup_checkpoint = "fast"
[workload]
use = "joined"
[factors.target]
version = [15, 18]
[load]
clients = 2
rate = 100
step = "0.6s"
warmup = "0.3s"
[design]
seed = 3
min_blocks = 2
max_blocks = 2
"""


@pytest.fixture
def spec(server: DebianServer, tmp_path: Path) -> Path:
    """An experiment with a statement that 18 plans without the join that 15 plans it with."""
    folder = tmp_path / "joined"
    folder.mkdir()
    (folder / "workload.toml").write_text(
        'title = "A join"\ndata = "installed"\nschemas = ["public"]\ntables = ["visit"]\n'
        '[scenarios]\njoin = { file = "join.sql" }\n'
    )
    (folder / "join.sql").write_text(
        "SELECT count(*) FROM visit a JOIN visit b ON a.id = b.id WHERE b.page < 3;\n"
    )
    path = tmp_path / "lab.toml"
    path.write_text(SPEC.format(dsn=server.dsn()))
    return path


@pytest.mark.heavy
def test_a_report_shows_the_plan_that_a_version_changes_and_what_else_differs(
    spec: Path, tmp_path: Path, own_base: Path
) -> None:
    run = tmp_path / "run"
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    analysis = json.loads((run / "analysis.json").read_text())
    (statement,) = analysis["plans"]
    joins = [any("Join" in line for line in plan["text"]) for plan in statement["plans"]]
    assert joins == [True, False]  # 18 sees that each row meets itself alone
    text = pgassay("report", run, "--format", "md").stdout
    assert "by pg_upgrade of a copy of the data" in text
    assert "2 servers, " in text
    assert_no_server_left(own_base)


@pytest.mark.heavy
def test_a_run_that_is_killed_while_pg_upgrade_works_leaves_nothing(
    spec: Path, tmp_path: Path, own_base: Path
) -> None:
    def upgrading(tool: WatchedRun, base: Path) -> None:
        tool.wait_for(lambda: any(base.glob("run-*/old/postmaster.pid")), "a server of pg_upgrade")

    run = tmp_path / "run"
    with watched(run, spec) as tool:
        killed(tool, own_base, "upgrading", upgrading)
    done = pgassay("recover", run)
    assert done.returncode == 0, done.stderr
    assert_no_server_left(own_base)
    assert list(own_base.iterdir()) == []
