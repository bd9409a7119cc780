"""Trials on a copy of an existing server: the copy is like the original, which stays untouched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgassay.server.connection.session import user_path
from pgassay.server.copied.origin import ServerCopy
from pgassay.server.data.installed_tables import refuse_missing
from pgassay.server.open import make_several
from pgassay.server.owned.target import OwnedTarget
from pgassay.server.protocol import Connection, SchemaVariant, Testbed
from pgassay.spec.workload.folder import InstalledTables
from support.refusals import refused
from support.servers.accounts import build_few_accounts
from support.servers.debian import DebianServer
from support.servers.existing import nothing
from support.servers.lab import SECRET, LabServer, RecordingJournal, scalar
from support.servers.sessions import connect

ACCEPTED = ("commits", "sessions")
FAST = ("--checkpoint=fast",)
ROLE, DATABASE = 'app "user"; --', 'shop\'s $db "1"'


def add_order(session: Connection) -> None:
    session.execute("INSERT INTO public.orders VALUES (0)")


def make_orders(session: Connection) -> None:
    session.execute("CREATE TABLE public.orders AS SELECT i FROM generate_series(1, 5000) i")


WAYS_OUT = """
CREATE EXTENSION postgres_fdw;
CREATE EXTENSION dblink;
CREATE SERVER "other one" FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nowhere');
CREATE USER MAPPING FOR PUBLIC SERVER "other one" OPTIONS (password 'hidden');
CREATE USER MAPPING FOR CURRENT_USER SERVER "other one" OPTIONS (password 'hidden');
CREATE FOREIGN TABLE far (i int) SERVER "other one" OPTIONS (table_name 'orders');
CREATE SUBSCRIPTION news CONNECTION 'host=/nowhere' PUBLICATION news WITH (connect = false);
"""
AWAY_AGAIN = """
DROP EXTENSION postgres_fdw, dblink CASCADE;
ALTER SUBSCRIPTION news SET (slot_name = NONE);
DROP SUBSCRIPTION news;
"""


@pytest.fixture(params=["debian-15", pytest.param("embedded-18", marks=pytest.mark.heavy)])
def original(request: pytest.FixtureRequest) -> Iterator[tuple[str, Callable[[], Connection]]]:
    """A server with a table of its user's; how it is named, and a superuser's way in."""
    if request.param == "debian-15":
        debian: DebianServer = request.getfixturevalue("debian")
        dsn, admin = debian.dsn(), debian.admin
    else:
        lab: LabServer = request.getfixturevalue("lab_server")
        where, port = lab.cluster.workspace.socket_directory, lab.port
        dsn = make_conninfo(host=str(where), port=port, user="lab", dbname="lab")
        admin = lab.admin
    with admin() as session:
        make_orders(session)
        session.execute("ALTER SYSTEM SET work_mem = '7MB'")
        session.execute("ALTER SYSTEM SET archive_command = 'touch /tmp/never'")
        session.execute("SELECT pg_reload_conf()")
    yield dsn, admin
    with admin() as session:
        session.execute("DROP TABLE public.orders")
        session.execute("ALTER SYSTEM RESET ALL")
        session.execute("SELECT pg_reload_conf()")


def state_of(admin: Callable[[], Connection]) -> object:
    """All that a run could have changed: settings, catalogue, files, the start of the server."""
    with admin() as session:
        return [
            session.execute(query).fetchall()
            for query in (
                "SELECT name, setting, source FROM pg_settings WHERE source <> 'session'"
                " AND context <> 'internal' ORDER BY 1",
                "SELECT pg_postmaster_start_time()",
                "SELECT oid, relname, relfilenode FROM pg_class ORDER BY 1",
                "SELECT rolname, rolreplication FROM pg_roles ORDER BY 1",
                "SELECT pg_read_file('postgresql.auto.conf'), pg_read_file(current_setting("
                "'hba_file')), pg_read_file(current_setting('config_file'))",
                "SELECT name FROM pg_ls_dir('.') name ORDER BY 1",
                "SELECT count(*) FROM public.orders",
                "SELECT count(*) FROM pg_replication_slots",
            )
        ]


def copy_of(dsn: str, journal: RecordingJournal, **options: object) -> OwnedTarget:
    origin = ServerCopy(dsn, accept=ACCEPTED, backup=FAST, **options)  # type: ignore[arg-type]
    return OwnedTarget(origin, journal, kind="copied")


def test_a_copy_has_the_originals_data_and_settings_and_leaves_it_as_it_was(
    original: tuple[str, Callable[[], Connection]], own_base: Path, journal: RecordingJournal
) -> None:
    dsn, admin = original
    before = state_of(admin)
    with closing(copy_of(dsn, journal, overrides={"shared_buffers": "17MB"})) as target:
        facts = target.open()
        assert facts.settings["shared_buffers"].value == str(17 * 128)
        assert facts.settings["max_logical_replication_workers"].value == "0"
        assert facts.settings["work_mem"].value == str(7 * 1024)
        assert facts.settings["archive_command"].source == "default"
        target.prepare(build_few_accounts, {"maintenance_work_mem": "33MB"})
        report = target.reset({"work_mem": "9MB"})
        assert report.settings == {"maintenance_work_mem": "33MB", "work_mem": "9MB"}
        with closing(target.connect()) as session, user_path(session):
            assert scalar(session, "SELECT count(*) FROM account") == 100
            assert scalar(session, "SELECT pg_is_in_recovery()") is False
            assert scalar(session, "SHOW data_directory") == facts.data_directory
            session.execute("DROP TABLE public.orders")
            session.execute("DELETE FROM account")
        target.reset({})
        with closing(target.connect()) as session, user_path(session):
            assert scalar(session, "SELECT count(*) FROM public.orders") == 5000
            assert scalar(session, "SELECT count(*) FROM account") == 100
            assert scalar(session, "SHOW work_mem") == "7MB"
    assert state_of(admin) == before
    assert list(own_base.iterdir()) == []
    assert journal.open == []


def test_the_load_has_the_users_role_and_database_and_no_password_is_written(
    lab_server: LabServer, own_base: Path, tmp_path: Path, journal: RecordingJournal
) -> None:
    data = lab_server.cluster.workspace.data
    role, database = sql.Identifier(ROLE), sql.Identifier(DATABASE)
    with lab_server.admin("postgres") as session:
        create = "CREATE ROLE {} LOGIN REPLICATION PASSWORD {}"
        session.execute(sql.SQL(create).format(role, sql.Literal(SECRET)))
        session.execute(sql.SQL("GRANT pg_read_all_settings TO {}").format(role))
        session.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role))
        session.execute("SELECT pg_reload_conf()")
    lab_server.cluster.workspace.account.require(
        ["tee", "-a", data / "pg_hba.conf"],
        text="host replication all 127.0.0.1/32 scram-sha-256\n",
        limit_s=10,
    )
    with lab_server.admin("postgres") as session:
        session.execute("SELECT pg_reload_conf()")
    programs, said = recording_programs(lab_server, tmp_path)
    dsn = lab_server.dsn(user=ROLE, dbname=DATABASE)
    with closing(copy_of(dsn, journal, bin_directory=programs)) as target:
        target.open()
        target.prepare(build_few_accounts, {})
        target.vary(SchemaVariant("indexed", {"index": "CREATE INDEX ON account (i)"}))
        target.choose(Testbed(schema="indexed"))
        target.reset({})
        parameters = target.parameters()
        assert (parameters.user, parameters.dbname, parameters.password) == (ROLE, DATABASE, None)
        with closing(target.connect()) as session, user_path(session):
            owner = "SELECT tableowner FROM pg_tables WHERE tablename = 'account'"
            assert scalar(session, owner) == ROLE
            assert scalar(session, "SELECT count(*) FROM pg_indexes WHERE tablename = 'account'")
        # Those of a running server come and go.
        read = {path: content_of(path) for path in own_base.rglob("*") if path.is_file()}
        assert any(read.values())
        assert not [path for path, content in read.items() if SECRET.encode() in content]
    assert "--no-password" in said.read_text()
    assert SECRET not in said.read_text()


@pytest.mark.parametrize("original", ["embedded-18"], indirect=True)
def test_an_index_on_tables_that_are_there_already_is_tried_and_analysed_on_the_copy_alone(
    original: tuple[str, Callable[[], Connection]], own_base: Path, journal: RecordingJournal
) -> None:
    dsn, admin = original
    theirs = InstalledTables(("orders",), ("public",))
    with closing(copy_of(dsn, journal, installed=theirs, schema_variants=1)) as target:
        target.open()
        with connect(target.parameters()) as session:
            refuse_missing(session, theirs)
        target.prepare(nothing, {})
        made = "CREATE INDEX one ON orders (i); CREATE STATISTICS two ON (i % 7) FROM orders"
        target.vary(SchemaVariant("indexed", {"index": made}))
        target.choose(Testbed(schema="indexed"))
        target.reset({})
        with closing(target.connect()) as session, user_path(session):
            assert scalar(session, "SELECT to_regclass('public.one')::text") == "one"
            analysed = "SELECT count(*) FROM pg_stats_ext_exprs WHERE n_distinct = 7"
            assert scalar(session, analysed) == 1
    with admin() as session:
        assert scalar(session, "SELECT to_regclass('public.one')") is None
        session.execute("CREATE UNLOGGED TABLE fleeting (i int)")
        theirs = InstalledTables(("orders", "fleeting"), ("public",))
        refuse_missing(session, theirs)
        with refused("tables-unlogged"):
            refuse_missing(session, theirs, copied=True)
        session.execute("DROP TABLE fleeting")
    assert list(own_base.iterdir()) == []


@pytest.mark.parametrize("original", ["debian-15"], indirect=True)
def test_a_copy_reaches_no_other_server_by_foreign_tables_and_subscriptions(
    original: tuple[str, Callable[[], Connection]], own_base: Path, journal: RecordingJournal
) -> None:
    dsn, admin = original
    with admin() as session:
        for command in WAYS_OUT.split(";\n"):
            session.execute(command.encode())
    with closing(copy_of(dsn, journal)) as target:
        target.open()
        target.prepare(nothing, {})
        notes = target.reset({}).notes
        assert {"server/copied/cut-off", "server/copied/reaches-out"} <= {one.code for one in notes}
        with closing(target.connect()) as session:
            with pytest.raises(psycopg.Error, match="has no handler"):
                session.execute("INSERT INTO public.far VALUES (1)")
            session.rollback()
            with pytest.raises(psycopg.Error, match="user mapping not found"):
                session.execute("SELECT public.dblink_connect('other one')")
            session.rollback()
            left = "SELECT count(*) FROM pg_subscription WHERE subenabled OR subslotname <> ''"
            assert scalar(session, left) == 0
    with admin() as session:
        assert scalar(session, "SELECT count(*) FROM pg_user_mappings") == 2
        for command in AWAY_AGAIN.split(";\n"):
            session.execute(command.encode())


def content_of(file: Path) -> bytes:
    """What is in a file, nothing where it is gone."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def recording_programs(server: LabServer, folder: Path) -> tuple[Path, Path]:
    """The server's programs, with a pg_basebackup that writes its arguments down."""
    there = server.cluster.installation.bin_directory
    programs, said = folder / "bin", folder / "arguments"
    programs.mkdir()
    for program in ("postgres", "initdb", "pg_ctl"):
        wrapper = programs / program
        wrapper.write_text(f'#!/bin/sh\nexec "{there / program}" "$@"\n')
        wrapper.chmod(0o755)
    wrapper = programs / "pg_basebackup"
    wrapper.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > "{said}"\nexec "{there}/pg_basebackup" "$@"\n'
    )
    wrapper.chmod(0o755)
    for parent in (programs, *programs.parents):
        if parent.owner() == Path.home().owner() and parent != Path("/tmp"):  # noqa: S108
            parent.chmod(parent.stat().st_mode | 0o055)
    return programs, said


def test_several_copies_start_from_one_backup_though_the_original_changes_meanwhile(
    original: tuple[str, Callable[[], Connection]], own_base: Path, journal: RecordingJournal
) -> None:
    dsn, admin = original
    copy = ServerCopy(dsn, accept=ACCEPTED, servers=2, backup=FAST)
    target = make_several({"": copy}, journal=journal, first=Testbed(arm="A"), side_by_side=True)
    with closing(target):
        target.open()
        with admin() as session:
            add_order(session)
        for arm in ("A", "B"):
            target.choose(Testbed(arm=arm))
            target.prepare(build_few_accounts, {})
            target.reset({})
            with closing(target.connect()) as session, user_path(session):
                assert scalar(session, "SELECT count(*) FROM public.orders") == 5000
    assert list(own_base.iterdir()) == []
