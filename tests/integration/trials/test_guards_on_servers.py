"""Each guard against the real disturbance, on real servers."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgassay import _core
from pgassay.server.connection.session import resolve
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.hosts.account import Account
from pgassay.server.owned.workspace import make_workspace, new_name
from pgassay.spec.parse import parse_spec
from pgassay.trials.checkpoints.counted import CheckpointCounts
from pgassay.trials.guards.foreign_sessions import BASE_BACKUP, foreign_maintenance
from pgassay.trials.guards.guards import GuardResult
from pgassay.trials.guards.invariants import InvariantWatch
from pgassay.trials.model.record import Checkpoint, Columns
from pgassay.trials.sampling.samplers import SampleBuffer, open_sampler
from support.hosts.small_disk import small_disk
from support.servers.lab import (
    LabServer,
    RecordingJournal,
    installation_named,
    running_lab_server,
    running_standby,
    wait_until,
)
from support.synthetic.guard_results import SPEC, said

SLOWLY = "SET vacuum_cost_delay = 100; SET vacuum_cost_limit = 1; VACUUM slow"


@contextmanager
def watched(server: LabServer) -> Iterator[Callable[..., dict[str, GuardResult]]]:
    """A trial without a load: yields what takes the second fingerprint and judges."""
    target = ExistingTarget(
        server.dsn(), RecordingJournal(), accept=["replicas", "backup", "sessions", "commits"]
    )
    with closing(target):
        watch = InvariantWatch(target, target.open(), {})

        def results(*more: Any) -> dict[str, GuardResult]:
            # Tests of the host's knobs may run at the same time.
            return {name: one for name, one in said(watch, *more).items() if name != "host-knobs"}

        yield results


@contextmanager
def in_background(act: Callable[[], object]) -> Iterator[None]:
    thread = threading.Thread(target=act)
    thread.start()
    try:
        yield
    finally:
        thread.join(timeout=60)
    assert not thread.is_alive()


def counted(server: LabServer, query: str) -> Callable[[], bool]:
    """Whether a count is above zero."""

    def look() -> bool:
        with server.admin() as session:
            row = session.execute(query.encode()).fetchone()
        return bool(row and row[0])

    return look


def end_sessions(server: LabServer, named: str) -> None:
    with server.admin() as session:
        session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s",
            (named,),
        )


def base_backup(
    server: LabServer, account: Account, folder: Path, *options: str
) -> subprocess.Popen[bytes]:
    cluster = server.cluster
    words = [
        str(cluster.installation.program("pg_basebackup")), "-D", str(folder), "-U", "postgres",
        "-h", str(cluster.workspace.socket_directory), "-p", str(server.port),
        "-c", "fast", *options,
    ]  # fmt: skip
    identity = {"user": account.uid, "group": account.gid} if account.switches else {}
    libraries = cluster.installation.libraries
    environment = {"LD_LIBRARY_PATH": str(libraries)} if libraries else {}
    return subprocess.Popen(words, cwd="/", env=environment, stderr=subprocess.DEVNULL, **identity)  # type: ignore[call-overload,no-any-return]


@pytest.fixture
def room(account: Account, servers_base: Path) -> Iterator[Path]:
    """A folder of the server's account, gone afterwards."""
    workspace = make_workspace(account, servers_base, new_name())
    yield workspace.directory
    workspace.remove()


def test_no_guard_reports_an_undisturbed_trial(lab_server: LabServer) -> None:
    with watched(lab_server) as results:
        assert results() == {}


@pytest.mark.parametrize(
    ("varied", "doubted"),
    [("work_mem = ['4MB', '8MB']", True), ("max_wal_size = ['64MB', '128MB']", False)],
)
def test_checkpoints_by_volume_are_a_caveat_unless_the_volume_is_varied(
    lab_server: LabServer, varied: str, doubted: bool
) -> None:
    held = "" if "max_wal_size" in varied else "max_wal_size = '64MB'"
    text = f"""
    [settings.postgres]
    {held}
    [factors.postgres]
    checkpoint_timeout = ['30s', '60s']
    {varied}
    """
    spec = parse_spec(text, source="lab", beside=Path())
    with watched(lab_server) as results:
        found = results(spec, [Checkpoint(0, 1, "wal")])
    assert ("wal-checkpoint" in found) == doubted


def write_wal(server: LabServer, mib: int) -> None:
    """So much of it, into no table."""
    with server.admin() as session:
        session.execute(
            "SELECT pg_logical_emit_message(false, 'x', repeat('x', 1048576))"
            " FROM generate_series(1, %s)", (mib,)
        )  # fmt: skip


@pytest.fixture
def by_volume(lab_server: LabServer) -> Iterator[LabServer]:
    """A server whose checkpoints come after 48 MB of WAL, and that has just had one."""
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM SET max_wal_size = '128MB'")
        session.execute("SELECT pg_reload_conf()")
        session.execute("CHECKPOINT")
    yield lab_server
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM RESET max_wal_size")
        session.execute("SELECT pg_reload_conf()")


def last_position(counters: Columns) -> int:
    """When the WAL's position was read last."""
    columns = zip(counters["time_ns"], counters["source"], strict=True)
    return max(int(at) for at, source in columns if source == "wal_position")


@pytest.mark.parametrize("asked", [True, False], ids=["by somebody", "by volume"])
def test_without_a_log_a_requested_checkpoint_is_distinguished_from_one_by_volume(
    by_volume: LabServer, asked: bool
) -> None:
    with by_volume.admin() as session:
        version = session.info.server_version
    with watched(by_volume) as results:
        began_ns = _core.now_ns()
        sampler, _ = open_sampler(resolve(by_volume.dsn()), version, load=None)
        samples = SampleBuffer(sampler)

        def counted_now() -> Columns:
            samples.take()
            return samples.counters_of("checkpointer", "wal_position")

        def checkpoints_now() -> list[Checkpoint]:
            counts = CheckpointCounts()
            return [one.checkpoint for one in (*counts.feed(counted_now()), *counts.finish())]

        try:
            wait_until(lambda: "wal_position" in counted_now()["source"], "the WAL's position")
            if asked:
                write_wal(by_volume, 4)
                with by_volume.admin() as session:
                    session.execute("CHECKPOINT")
            else:
                write_wal(by_volume, 80)
            wait_until(lambda: checkpoints_now() != [], "a checkpoint")
            found = checkpoints_now()
            last_ns = found[-1].started_ns
            wait_until(lambda: last_position(counted_now()) > last_ns, "the WAL after it")
        finally:
            sampler.stop()
        assert {one.cause for one in found} == {"requested"}
        said = results(SPEC, found, counted_now(), (began_ns, _core.now_ns()))
    assert [name for name in said if "checkpoint" in name] == ["asked-checkpoint"] * asked


def test_a_base_backup_during_the_trial_makes_it_invalid(
    lab_server: LabServer, account: Account, room: Path
) -> None:
    with watched(lab_server) as results:
        backup = base_backup(lab_server, account, room / "backup", "--max-rate=32k", "-X", "none")
        try:
            wait_until(
                counted(lab_server, "SELECT count(*) FROM pg_stat_progress_basebackup"),
                "a base backup",
            )
            assert results()["base-backup"].grade == "invalid"
        finally:
            backup.kill()
            backup.wait()
            # Held back as it is, the server's side would be seconds in seeing that nobody reads.
            end_sessions(lab_server, "pg_basebackup")
            wait_until(
                counted(lab_server, "SELECT count(*) = 0 FROM pg_stat_progress_basebackup"),
                "no base backup",
            )


def test_a_new_replica_makes_the_trial_invalid_and_an_old_one_does_not(
    lab_server: LabServer, account: Account, servers_base: Path
) -> None:
    with ExitStack() as stack:
        with watched(lab_server) as results:
            stack.enter_context(running_standby(lab_server, account, servers_base))
            found = results()["replicas"]
        with watched(lab_server) as results:
            assert results() == {}
    assert found.grade == "invalid"
    assert str(found.note).endswith("none → pgassay async")


@pytest.fixture
def slow_table(lab_server: LabServer) -> Iterator[LabServer]:
    """A table that takes VACUUM a minute where it may do little at a time."""
    with lab_server.admin() as session:
        session.execute(
            "CREATE TABLE slow WITH (autovacuum_enabled = off) AS"
            " SELECT i, repeat('x', 500) AS filler FROM generate_series(1, 20000) i"
        )
        session.execute("UPDATE slow SET i = -i")
    yield lab_server
    with lab_server.admin() as session:
        session.execute("DROP TABLE slow")


def test_a_vacuum_of_another_session_makes_the_trial_invalid(slow_table: LabServer) -> None:
    def vacuum() -> None:
        with suppress(psycopg.Error), slow_table.admin() as session:
            session.execute("SET application_name = 'cron'")
            for command in SLOWLY.split("; "):
                session.execute(command.encode())

    with watched(slow_table) as results, in_background(vacuum):
        wait_until(counted(slow_table, "SELECT count(*) FROM pg_stat_progress_vacuum"), "a VACUUM")
        found = results()
        end_sessions(slow_table, "cron")
    assert found["maintenance"].grade == "invalid"
    assert found["foreign-sessions"].grade == "doubt"


def test_maintenance_between_the_two_fingerprints_is_sampled(
    slow_table: LabServer, account: Account, room: Path
) -> None:
    began = _core.now_ns()
    parameters = resolve(slow_table.dsn())
    with slow_table.admin() as session:
        version = session.info.server_version
        sampler, _ = open_sampler(parameters, version, load=None, waits_every_s=0.1)
        try:
            session.execute("SET application_name = 'cron'")
            session.execute("SET maintenance_work_mem = '1MB'")
            for command in SLOWLY.split("; ")[:2]:
                session.execute(command.encode())
            with suppress(psycopg.errors.QueryCanceled):
                session.execute("SET statement_timeout = '2.5s'")
                session.execute("VACUUM slow")
            backup = base_backup(slow_table, account, room / "again", "-r", "8M", "-X", "none")
            assert backup.wait(timeout=60) == 0
        finally:
            sampler.stop()
    window = (began, _core.now_ns())
    assert foreign_maintenance(sampler.take_counters(), window) == {"VACUUM", BASE_BACKUP}


def test_autovacuum_at_the_start_of_a_trial_is_a_caveat(slow_table: LabServer) -> None:
    with slow_table.admin() as session:
        session.execute("ALTER SYSTEM SET autovacuum_naptime = '1s'")
        session.execute("SELECT pg_reload_conf()")
        session.execute(
            "ALTER TABLE slow SET (autovacuum_enabled = on, autovacuum_vacuum_cost_delay = 100,"
            " autovacuum_vacuum_cost_limit = 1, autovacuum_vacuum_threshold = 1,"
            " autovacuum_vacuum_scale_factor = 0)"
        )
    try:
        working = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'"
        wait_until(counted(slow_table, working + " AND query LIKE '%slow%'"), "autovacuum at work")
        with watched(slow_table) as results:
            assert results()["autovacuum"].grade == "doubt"
    finally:
        with slow_table.admin() as session:
            session.execute("ALTER SYSTEM RESET autovacuum_naptime")
            session.execute("SELECT pg_reload_conf()")


def test_a_foreign_session_is_a_caveat(lab_server: LabServer) -> None:
    def sleep() -> None:
        with suppress(psycopg.Error), lab_server.admin() as session:
            session.execute("SET application_name = 'report'")
            session.execute("SELECT pg_sleep(60)")

    with watched(lab_server) as results, in_background(sleep):
        wait_until(
            counted(
                lab_server, "SELECT count(*) FROM pg_stat_activity"
                " WHERE application_name = 'report' AND state = 'active' AND query LIKE '%sleep%'",
            ),
            "the session",
        )  # fmt: skip
        found = results()
        end_sessions(lab_server, "report")
    assert found["foreign-sessions"].grade == "doubt"


def test_a_step_of_the_clock_is_noticed(
    lab_server: LabServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time_ns
    for by_ns, grade in ((2 * 10**9, "invalid"), (-200 * 10**6, "doubt")):
        with watched(lab_server) as results, monkeypatch.context() as patch:
            patch.setattr(time, "time_ns", lambda by_ns=by_ns: real() + by_ns)
            assert results()["clock-step"].grade == grade


def test_a_nearly_full_disk_is_noticed(account: Account, own_base: Path) -> None:
    with (
        small_disk(own_base / "disk", "300m") as folder,
        running_lab_server(installation_named("embedded-18"), account, folder) as server,
    ):
        for size, grade in (("280m", "doubt"), ("296m", "invalid")):
            filler = folder / "filler"
            filler.unlink(missing_ok=True)
            with watched(server) as results:
                assert "disk" not in results()
                _fill(folder, filler, size)
                assert results()["disk"].grade == grade
            filler.unlink()


def _fill(disk: Path, filler: Path, up_to: str) -> None:
    used = subprocess.run(
        ["df", "-B1", "--output=used", disk], capture_output=True, text=True, check=True
    ).stdout.split()[1]
    wanted = int(up_to.removesuffix("m")) << 20
    subprocess.run(["fallocate", "-l", str(wanted - int(used)), filler], check=True)
