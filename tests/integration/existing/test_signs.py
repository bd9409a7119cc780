"""A server that others use is left alone, unless each sign of it is accepted by name."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from pgassay.errors import ExitCode
from pgassay.refusals.refusal import TargetRefused
from pgassay.server.existing import signs
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.hosts.account import Account
from pgassay.server.owned.installation import Installation
from pgassay.spec.server.reset import Caches, ResetLevel, ResetRule
from pgassay.spec.server.signs import LOOK_S, SIGNS
from pgassay.spec.workload.folder import InstalledTables
from support.refusals import refused
from support.runs.command import pgassay
from support.servers.existing import nothing
from support.servers.lab import (
    SECRET,
    LabServer,
    RecordingJournal,
    configure,
    running_lab_server,
    running_standby,
    started_on_a_free_port,
    wait_until,
)


@pytest.fixture(scope="module")
def server(
    server_installation: Installation, account: Account, servers_base: Path
) -> Iterator[LabServer]:
    lines = "wal_level = logical\n"
    with running_lab_server(server_installation, account, servers_base, lines) as server:
        yield server


def count(server: LabServer, query: str) -> int:
    with server.admin() as session:
        row = session.execute(query.encode()).fetchone()
    assert row is not None
    return int(row[0])


@contextmanager
def replication_client(server: LabServer, folder: Path, *words: str) -> Iterator[None]:
    """A program of PostgreSQL's that streams from the server until we are done."""
    cluster = server.cluster
    libraries = cluster.installation.libraries
    environment = os.environ | ({"LD_LIBRARY_PATH": str(libraries)} if libraries else {})
    socket = str(cluster.workspace.socket_directory)
    where = ["-h", socket, "-p", str(server.port), "-U", "postgres", "-D", str(folder)]
    process = subprocess.Popen(
        [cluster.installation.program(words[0]), *words[1:], *where],
        env=environment,
        stderr=subprocess.PIPE,
    )
    try:
        wait_until(
            lambda: count(server, "SELECT count(*) FROM pg_stat_replication") > 0,
            f"{words[0]} is attached",
        )
        yield
    finally:
        process.kill()
        process.communicate()
        wait_until(
            lambda: count(server, "SELECT count(*) FROM pg_stat_replication") == 0,
            f"{words[0]} is gone",
        )


@contextmanager
def made_and_dropped(
    server: LabServer, make: tuple[str, ...], drop: tuple[str, ...]
) -> Iterator[None]:
    with server.admin() as session:
        for command in make:
            session.execute(command.encode())
    try:
        yield
    finally:
        with server.admin() as session:
            for command in drop:
                session.execute(command.encode())


@contextmanager
def replicas(server: LabServer, folder: Path) -> Iterator[None]:
    folder.mkdir()
    with replication_client(server, folder, "pg_receivewal", "--no-loop"):
        yield


@contextmanager
def backup(server: LabServer, folder: Path) -> Iterator[None]:
    with replication_client(server, folder, "pg_basebackup", "--max-rate=32k", "-Xnone", "-cfast"):
        wait_until(
            lambda: count(server, "SELECT count(*) FROM pg_stat_progress_basebackup") > 0,
            "the backup is under way",
        )
        yield


@contextmanager
def slots(server: LabServer, _: Path) -> Iterator[None]:
    with made_and_dropped(
        server,
        ("SELECT pg_create_physical_replication_slot('standby1')",),
        ("SELECT pg_drop_replication_slot('standby1')",),
    ):
        yield


@contextmanager
def logical_decoding(server: LabServer, _: Path) -> Iterator[None]:
    with made_and_dropped(
        server,
        ("SELECT pg_create_logical_replication_slot('feed', 'pgoutput')",),
        ("SELECT pg_drop_replication_slot('feed')",),
    ):
        yield


@contextmanager
def publications(server: LabServer, _: Path) -> Iterator[None]:
    with made_and_dropped(
        server, ("CREATE PUBLICATION everything FOR ALL TABLES",), ("DROP PUBLICATION everything",)
    ):
        yield


@contextmanager
def subscriptions(server: LabServer, _: Path) -> Iterator[None]:
    with made_and_dropped(
        server,
        (
            "CREATE SUBSCRIPTION feed CONNECTION 'host=/nonexistent' PUBLICATION p"
            " WITH (connect = false, slot_name = 'feed')",
            "ALTER SUBSCRIPTION feed ENABLE",
        ),
        (
            "ALTER SUBSCRIPTION feed DISABLE",
            "ALTER SUBSCRIPTION feed SET (slot_name = NONE)",
            "DROP SUBSCRIPTION feed",
        ),
    ):
        yield


@contextmanager
def archiving(server: LabServer, _: Path) -> Iterator[None]:
    restart(server, "archive_mode = on\narchive_command = 'true'\n")
    try:
        yield
    finally:
        restart(server, "archive_mode = off\n")


def restart(server: LabServer, lines: str) -> None:
    server.cluster.stop(gently=True)
    configure(server.cluster, lines)
    server.port = started_on_a_free_port(server.cluster)


@contextmanager
def sessions(server: LabServer, _: Path) -> Iterator[None]:
    with ExitStack() as opened:
        for _number in range(SIGNS["sessions"].at_least):
            opened.enter_context(psycopg.connect(server.dsn(dbname="other")))
        yield


@contextmanager
def commits(server: LabServer, _: Path) -> Iterator[None]:
    done = threading.Event()

    def work() -> None:
        with psycopg.connect(server.dsn(dbname="other"), autocommit=True) as session:
            while not done.is_set():
                # A statement without a table is counted only with a later one that has one.
                session.execute("SELECT count(*) FROM pg_namespace")

    worker = threading.Thread(target=work)
    worker.start()
    try:
        asked = "SELECT sum(xact_commit) FROM pg_stat_database"
        before = count(server, asked)
        wait_until(lambda: count(server, asked) > before + 200, "its commits are counted")
        yield
    finally:
        done.set()
        worker.join()


PROVOKED: dict[str, Callable[[LabServer, Path], object]] = {
    provoke.__name__: provoke
    for provoke in (
        replicas, backup, slots, logical_decoding, publications, subscriptions, archiving,
        sessions, commits,
    )
}  # fmt: skip


def untouched(server: LabServer) -> bool:
    return (
        count(server, "SELECT count(*) FROM pg_namespace WHERE nspname = 'pgassay'") == 0
        and count(server, "SELECT count(*) FROM pg_file_settings WHERE sourcefile ~ 'auto.conf$'")
        == 0
    )


def refusal_of(dsn: str) -> TargetRefused:
    target = ExistingTarget(dsn, RecordingJournal())
    try:
        with refused("signs-of-production") as caught:
            target.open()
    finally:
        target.close()
    stopped: TargetRefused = caught.value
    return stopped


def test_every_sign_is_provoked_here() -> None:
    assert set(PROVOKED) == set(SIGNS)


@pytest.mark.parametrize("name", sorted(SIGNS))
def test_a_sign_stops_the_run_until_it_is_accepted_by_name(
    name: str, server: LabServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "commits":
        monkeypatch.setattr(signs, "LOOK_S", LOOK_S)
    with ExitStack() as provoked:
        provoked.enter_context(PROVOKED[name](server, tmp_path / "stream"))  # type: ignore[arg-type]
        stopped = refusal_of(server.dsn())
        assert f'target.accept = ["{name}"]' in str(stopped)
        (line,) = stopped.excerpt.splitlines()
        assert line.strip().startswith(f"{name}: ")
        assert SIGNS[name].why in line
        assert "None" not in line
        assert untouched(server)
        accepting = ExistingTarget(server.dsn(), RecordingJournal(), accept=[name])
        try:
            accepting.open()
        finally:
            accepting.close()


def test_the_signs_stop_a_user_without_pg_monitor_too(server: LabServer, tmp_path: Path) -> None:
    with replicas(server, tmp_path / "stream"), sessions(server, tmp_path):
        stopped = refusal_of(server.dsn(user="plain"))
        assert 'target.accept = ["replicas", "sessions"]' in str(stopped)


SPEC = """
[target]
dsn = "host=127.0.0.1 port={port} user=lab dbname=lab"
allow_changes = true
{accept}
[settings.postgres]
work_mem = "8MB"
[factors.postgres]
checkpoint_timeout = ["1min", "10min"]
log_disconnections = ["off", "on"]
[workload]
use = "payments-write"
[load]
clients = 1
step = "1s"
[design]
min_blocks = 2
max_blocks = 2
"""


def spec_file(folder: Path, server: LabServer, accept: str = "") -> Path:
    path = folder / "lab.toml"
    path.write_text(SPEC.format(port=server.port, accept=accept))
    return path


def test_a_refused_run_names_each_sign_in_a_line_and_leaves_no_directory(
    server: LabServer, tmp_path: Path
) -> None:
    with slots(server, tmp_path), publications(server, tmp_path):
        run = tmp_path / "run"
        done = pgassay("run", spec_file(tmp_path, server), "--out", run, PGPASSWORD=SECRET)
        assert done.returncode == 1
        lines = done.stderr.splitlines()
        assert any("looks like a server that others rely on" in line for line in lines)
        assert [line.split(":")[0].strip() for line in lines[-2:]] == ["slots", "publications"]
        assert not run.exists()
        assert untouched(server)


def test_plan_lists_signs_and_every_change_and_makes_none(
    server: LabServer, tmp_path: Path
) -> None:
    with slots(server, tmp_path), publications(server, tmp_path):
        spec = spec_file(tmp_path, server, 'accept = ["slots"]')
        done = pgassay("plan", spec, PGPASSWORD=SECRET)
        assert done.returncode == ExitCode.USAGE, done.stderr
        assert done.stdout.splitlines()[-1].startswith("stops: publications")
        for words in (
            "slots: 1 physical replication slots: standby1 (inactive)",
            "; accepted",
            'stops the run unless target.accept has "publications"',
            "change    server: checkpoint_timeout: 5min now, 1min / 10min in the run; reload",
            "work_mem: 4MB now, 8MB in the run; reload",
            "log_disconnections: off now, off / on in the run; reload, new session",
            "CREATE SCHEMA pgassay in database lab",
            "CREATE TABLE account in pgassay",
        ):
            assert words in done.stdout, done.stdout
        shown = json.loads(pgassay("plan", spec, "--json", PGPASSWORD=SECRET).stdout)
        assert [sign["name"] for sign in shown["server"]["signs"]] == ["slots", "publications"]
        assert shown["server"]["accepted"] == ["slots"]
        assert shown["other_programs"] is not None, "it runs on this host"
        assert untouched(server)


def test_plan_says_that_a_user_without_the_right_resets_without_a_checkpoint(
    server: LabServer, tmp_path: Path
) -> None:
    spec = tmp_path / "plain.toml"
    settings = SPEC[SPEC.index("[settings.postgres]") : SPEC.index("[workload]")]
    text = SPEC.replace(settings, "[factors.client]\nprotocol = ['simple', 'prepared']\n")
    text = text.replace("user=lab", "user=plain")
    spec.write_text(text.format(port=server.port, accept=""))
    done = pgassay("plan", spec, PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert "VACUUM (FREEZE, ANALYZE) of these tables, without a CHECKPOINT, which" in shown


def test_plan_fails_first_where_the_server_cannot_be_reached(
    server: LabServer, tmp_path: Path
) -> None:
    done = pgassay("plan", spec_file(tmp_path, server), PGPASSWORD="wr0ng word")
    assert done.returncode == ExitCode.USAGE
    assert "password authentication failed" in done.stderr
    assert done.stdout == ""


def test_doctor_shows_signs_as_notes(server: LabServer, tmp_path: Path) -> None:
    with slots(server, tmp_path):
        words = ["-h", "127.0.0.1", "-p", str(server.port), "-U", "lab", "lab"]
        done = pgassay("doctor", *words, PGPASSWORD=SECRET)
        assert "note  in use: slots: 1 physical" in done.stdout
        assert 'target.accept has "slots"' in done.stdout


def test_a_real_standby_is_a_sign_on_its_primary_and_a_target_where_nothing_is_made(
    server: LabServer, account: Account, servers_base: Path
) -> None:
    with running_standby(server, account, servers_base) as standby:
        assert "replicas: 1 attached: pgassay, streaming" in refusal_of(server.dsn()).excerpt
        on_standby = ExistingTarget(standby.dsn(), RecordingJournal())
        with refused("server-is-standby"):
            on_standby.open()
        on_standby.close()
        journal, rule = RecordingJournal(), ResetRule(ResetLevel.VACUUM, Caches.WARM)
        reading = ExistingTarget(
            standby.dsn(), journal, installed=InstalledTables(()), rule=rule, accept=SIGNS
        )
        with closing(reading):
            reading.open()
            reading.prepare(nothing, {})
            reading.reset({})
        compared = reading.compared()
        assert compared is not None
        assert (compared.is_identical, journal.changes) == (True, [])
