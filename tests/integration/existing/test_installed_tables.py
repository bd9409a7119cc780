"""Scripts on tables that are there already: nothing is built, and only the load touches them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

import pgassay as package
from pgassay.server.connection.session import user_path
from pgassay.server.data.installed_tables import refuse_missing
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.protocol import Connection
from pgassay.spec.server.reset import ResetLevel, ResetRule
from pgassay.spec.workload.folder import InstalledTables, load_workload
from pgassay.trials.run.preparing import builder
from pgassay.trials.run.testbeds import Dataset
from support.refusals import refused
from support.runs.command import pgassay
from support.servers.existing import nothing
from support.servers.lab import SECRET, LabServer, RecordingJournal, scalar
from support.servers.pool import on_newest_version

SCRIPTS = Path(package.__file__).parent / "workloads" / "airline"
HOSTILE = 'se"l \\ès, <b>'
"""A schema: quotes, white space, a backslash, a comma, markup."""
THEIRS = InstalledTables(("bookings", "item"), (HOSTILE, "public"))
SPEC = """
[target]
dsn = "host=127.0.0.1 port={port} user=lab dbname=lab"
accept = ["commits", "sessions"]
[workload]
use = "airline-installed"
[reset]
level = "none"
[load]
clients = 5
rate = 60
pools = "per_scenario"
step = "1s"
warmup = "0.2s"
[design]
seed = 3
min_blocks = 2
max_blocks = 2
"""
VARIABLES = {"models": "5", "airports": "10", "most": "100", "client_id": "3"}


def built(session: Connection, schema: str, seed: int) -> dict[str, str]:
    """Make the ready workload's tables there; a checksum of each."""
    workload = load_workload("airline", Path(), file="")
    session.execute(
        sql.SQL("CREATE SCHEMA {0}; SET search_path = {0}").format(sql.Identifier(schema))
    )
    with session.transaction():
        builder(Dataset("airline", *workload.building_sql(1)), seed)(session)
    session.execute("ANALYZE")
    return contents(session, schema)


def contents(session: Connection, *schemas: str) -> dict[str, str]:
    tables = session.execute(
        "SELECT oid::regclass::text, relname FROM pg_class WHERE relkind = 'r'"
        " AND relnamespace::regnamespace::text = ANY (%s) ORDER BY relname",
        (list(schemas),),
    ).fetchall()
    return {
        name: scalar(
            session, f"SELECT count(*) || ' ' || sum(hashtextextended(t::text, 0)) FROM {table} t"
        )
        for table, name in tables
    }


@pytest.fixture(scope="module")
def demo(lab_server: LabServer) -> LabServer:
    """Its database has the tables of the demo database, in the demo's schemas."""
    with lab_server.admin() as session:
        built(session, "bookings", 1)
        session.execute("CREATE SCHEMA gen; ALTER TABLE bookings.seats_remain SET SCHEMA gen")
    return lab_server


@on_newest_version
def test_the_airline_is_the_same_with_every_seed_and_every_scenario_finds_rows(
    demo: LabServer,
) -> None:
    with demo.admin() as session:
        again = built(session, "again", 2)
        assert contents(session, "bookings", "gen") == again
        assert set(again) == {
            "airports_data", "airplanes_data", "seats", "routes", "flights", "bookings",
            "seats_remain",
        }  # fmt: skip
        session.execute("SET TimeZone = 'UTC'")
        for path in sorted(SCRIPTS.glob("*-*.sql")):
            text = re.sub(r"^\\.*$", "", path.read_text(), flags=re.MULTILINE)
            text = re.sub(r"(?<!:):(\w+)", lambda found: VARIABLES[found[1]], text)
            cursor = session.execute(text.encode())
            counts = [cursor.rowcount]
            while cursor.nextset():
                counts.append(cursor.rowcount)
            assert all(count > 0 for count in counts if count != -1), path.name
        assert contents(session, "again") == again
        session.execute("DROP SCHEMA again CASCADE")


@on_newest_version
def test_a_run_on_an_installed_demo_database_leaves_its_rows_as_they_were(
    demo: LabServer, tmp_path: Path
) -> None:
    with demo.admin() as session:
        before = contents(session, "bookings", "gen")
    (tmp_path / "lab.toml").write_text(SPEC.format(port=demo.port))
    planned = pgassay("plan", tmp_path / "lab.toml", PGPASSWORD=SECRET).stdout
    assert "stops: " not in planned
    assert "what the scripts write to airports_data, airplanes_data, seats" in planned
    assert "CREATE SCHEMA" not in planned
    done = pgassay("run", tmp_path / "lab.toml", "--out", tmp_path / "run", PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    trial = json.loads((tmp_path / "run" / "trials" / "0001" / "trial.json").read_text())
    scenarios = {one["name"]: one for one in trial["load"]["scenarios"]}
    assert len(scenarios) == 6
    assert all(one["transactions"] > 0 and one["failed"] == 0 for one in scenarios.values())
    with demo.admin() as session:
        assert contents(session, "bookings", "gen") == before
        assert scalar(session, "SELECT to_regnamespace('pgassay')") is None


@pytest.fixture
def theirs(lab_server: LabServer) -> Iterator[LabServer]:
    schema = sql.Identifier(HOSTILE)
    with lab_server.admin() as session:
        session.execute(sql.SQL("CREATE SCHEMA {}").format(schema))
        session.execute(sql.SQL("CREATE TABLE {}.item AS SELECT 1 AS kept").format(schema))
        session.execute("CREATE TABLE public.bookings AS SELECT 2 AS kept")
    yield lab_server
    with lab_server.admin() as session:
        session.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(schema))
        session.execute("DROP TABLE public.bookings")


def target_on(server: LabServer, level: ResetLevel, journal: RecordingJournal) -> ExistingTarget:
    return ExistingTarget(
        server.dsn(), journal, allow_changes=True, accept=["commits"], rule=ResetRule(level),
        installed=THEIRS,
    )  # fmt: skip


def test_tables_are_vacuumed_in_the_schemas_that_the_workload_names_if_the_file_says_so(
    theirs: LabServer, journal: RecordingJournal
) -> None:
    with closing(target_on(theirs, ResetLevel.VACUUM, journal)) as target:
        target.open()
        target.prepare(nothing, {"work_mem": "8MB"})
        assert target.reset({}).notes == ()
        with target.connect() as session, user_path(session):
            assert scalar(session, "SELECT kept FROM item") == 1
            vacuumed = "SELECT relallvisible FROM pg_class WHERE oid = 'item'::regclass"
            assert scalar(session, vacuumed) == 1
            refuse_missing(session, THEIRS)
    assert journal.open == []


def test_at_the_template_level_scripts_write_to_a_copy(
    theirs: LabServer, journal: RecordingJournal
) -> None:
    with closing(target_on(theirs, ResetLevel.TEMPLATE, journal)) as target:
        target.open()
        target.prepare(nothing, {})
        for _ in range(2):
            target.reset({})
            with target.connect() as session, user_path(session):
                assert scalar(session, "SELECT kept FROM item") == 1
                assert scalar(session, "SELECT to_regnamespace('pgassay')") is None
                session.execute("DELETE FROM item")
    with theirs.admin() as session:
        assert scalar(session, f"SELECT kept FROM {schema_name(session)}.item") == 1


def schema_name(session: Connection) -> str:
    return sql.Identifier(HOSTILE).as_string(session)


def test_missing_and_closed_tables_are_named_before_anything_is_changed(
    theirs: LabServer, tmp_path: Path
) -> None:
    spec = SPEC.replace('"airline-installed"', '"./mine"').replace('pools = "per_scenario"', "")
    (tmp_path / "lab.toml").write_text(spec.format(port=theirs.port))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "look.sql").write_text("SELECT 1;\n")
    (tmp_path / "mine" / "workload.toml").write_text(
        'title = "Mine"\ndata = "installed"\ntables = ["bookings", "gone.away"]\n'
        "[scenarios]\nlook = { file = 'look.sql' }\n"
    )
    said = (
        "workload.toml, tables: gone.away: not there in database lab; name the database by dbname="
    )
    planned = pgassay("plan", tmp_path / "lab.toml", PGPASSWORD=SECRET).stdout
    assert f"stops: {said}" in planned
    done = pgassay("run", tmp_path / "lab.toml", "--out", tmp_path / "run", PGPASSWORD=SECRET)
    assert done.returncode == 1
    assert said in " ".join(done.stderr.split())
    with psycopg.connect(theirs.dsn(user="plain"), autocommit=True) as session:
        with refused(
            "tables-closed", user="plain", names="bookings", where="public of database lab"
        ):
            refuse_missing(session, InstalledTables(("bookings",), ("public",)))
        with refused("table-unreadable"):
            refuse_missing(session, InstalledTables((f"{schema_name(session)}.item",)))
