"""An owned server is made, put back for every trial, and gone afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import LiteralString

import pytest

import pgassay
from pgassay.errors import RestoreFailed, TargetError
from pgassay.server.change import OwnedServerChange
from pgassay.server.connection.session import user_path
from pgassay.server.hosts.account import Account
from pgassay.server.owned import readable_copy
from pgassay.server.owned.installation import Installation, embedded_installation, installation_at
from pgassay.server.owned.origin import NewCluster
from pgassay.server.owned.postmaster import working_in
from pgassay.server.owned.target import OwnedTarget
from pgassay.server.owned.workspace import SOCKET_BYTES, SOCKET_NAME, base_directory
from pgassay.server.protocol import Connection, ResetLevel, ServerFacts
from pgassay.server.recovery.recover import recover
from pgassay.server.undo.undo_sql import undo_text
from support.refusals import refused
from support.servers.accounts import build_accounts
from support.servers.lab import RecordingJournal, installation_named, is_root, scalar, wait_until
from support.servers.pool import on_every_version

HELD = {"max_wal_size": "2GB"}


def running(statement: LiteralString) -> Callable[[Connection], None]:
    def build_it(session: Connection) -> None:
        session.execute(statement)

    return build_it


@pytest.fixture(scope="module")
def module_base(servers_base: Path) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGASSAY_DATA", str(servers_base))
        yield servers_base


@pytest.fixture(scope="module")
def opened(
    server_installation: Installation, module_base: Path
) -> Iterator[tuple[OwnedTarget, ServerFacts]]:
    target = OwnedTarget(NewCluster(server_installation), RecordingJournal())
    try:
        facts = target.open()
        target.prepare(build_accounts, HELD)
        yield target, facts
    finally:
        target.close()


@pytest.fixture
def target(opened: tuple[OwnedTarget, ServerFacts]) -> OwnedTarget:
    return opened[0]


@pytest.fixture
def quick(own_base: Path, journal: RecordingJournal) -> Iterator[OwnedTarget]:
    """A target of one version, for what does not depend on the version."""
    target = OwnedTarget(NewCluster(installation_named("embedded-18")), journal, kind="embedded")
    yield target
    target.close()


@on_every_version
def test_open_reports_version_and_settings_of_the_server(
    opened: tuple[OwnedTarget, ServerFacts], server_installation: Installation
) -> None:
    _, facts = opened
    assert facts.version_num == server_installation.version_num
    assert facts.is_local
    assert facts.settings["fsync"].value == "on"
    assert facts.settings["listen_addresses"].value == ""
    if facts.version_num >= 140000:
        assert facts.settings["compute_query_id"].value == "on"


@on_every_version
def test_statements_and_times_are_counted_where_the_server_can(
    target: OwnedTarget, server_installation: Installation
) -> None:
    target.reset({})
    preloaded = "pg_stat_statements" if server_installation.major != 16 else ""  # 16: no contrib
    with target.connect() as session, user_path(session):
        assert scalar(session, "SHOW shared_preload_libraries") == preloaded
        assert scalar(session, "SHOW track_io_timing") == "on"
        if server_installation.major >= 14:
            assert scalar(session, "SHOW track_wal_io_timing") == "on"
        if preloaded:
            assert scalar(session, "SELECT count(*) FROM pg_stat_statements WHERE calls > 0") > 0


def test_settings_of_the_experiment_win_over_what_shows_more(
    quick: OwnedTarget, servers_base: Path
) -> None:
    chosen = {"shared_preload_libraries": "auto_explain", "track_io_timing": "off"}
    quick.open()
    quick.prepare(build_accounts, chosen)
    for settings in ({}, {"shared_preload_libraries": "", "track_wal_io_timing": "off"}):
        quick.reset(settings)
        with quick.connect() as session, user_path(session):
            for name, value in {**chosen, **settings}.items():
                assert scalar(session, f"SHOW {name}") == value
            extensions = session.execute("SELECT extname FROM pg_extension ORDER BY 1").fetchall()
        assert [name for (name,) in extensions] == ["pg_buffercache", "plpgsql"]


@on_every_version
def test_the_log_carries_checkpoints_with_epoch_times(target: OwnedTarget) -> None:
    target.reset({})
    with target.connect() as session, user_path(session):
        session.execute("CREATE TABLE noise AS SELECT generate_series(1, 100)")
        session.execute("CHECKPOINT")
    log = target.facts().log_file
    assert log is not None
    lines = [line for line in log.read_text().splitlines() if "checkpoint complete" in line]
    epoch, bracket = lines[-1].split(" ")[:2]
    assert float(epoch) > 1.7e9
    assert bracket.startswith("[")


@on_every_version
def test_reset_puts_the_data_back_and_the_settings_in_force(target: OwnedTarget) -> None:
    with target.connect() as session, user_path(session):
        session.execute("UPDATE account SET balance = 7")
        session.execute("CREATE TABLE litter ()")
    report = target.reset(
        {"shared_buffers": "64MB", "work_mem": "8192", "random_page_cost": "1.10"}
    )
    assert report.level is ResetLevel.SNAPSHOT
    assert report.restarted
    assert report.settings["shared_buffers"] == "64MB"
    assert report.settings["work_mem"] == "8MB"
    assert report.settings["max_wal_size"] == "2GB"
    with target.connect() as session, user_path(session):
        assert scalar(session, "SELECT sum(balance) FROM account") == 0
        assert scalar(session, "SELECT to_regclass('litter')") is None


def test_settings_of_one_trial_are_gone_in_the_next(target: OwnedTarget) -> None:
    target.reset({"work_mem": "8MB"})
    target.reset({})
    assert target.facts().settings["work_mem"].value == "4096"


def test_an_automatic_value_is_noted_not_refused(target: OwnedTarget) -> None:
    report = target.reset({"wal_buffers": "-1"})
    assert "server/settings/automatic" in [one.code for one in report.notes]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("shared_buffers", "100TB", refused("server-does-not-start")),
        (
            "shared_preload_libraries",
            "no_such_library",
            refused("server-does-not-start", value="no_such_library"),
        ),
    ],
)
@on_every_version
def test_a_setting_that_keeps_the_server_down_is_rejected_and_the_server_comes_back(
    target: OwnedTarget, name: str, value: str, expected: refused
) -> None:
    with expected as caught:
        target.reset({"work_mem": "8MB", name: value})
    assert caught.value.setting == name
    assert "\n" not in str(caught.value)
    with target.connect() as session, user_path(session):
        assert scalar(session, "SELECT count(*) FROM account") == 1000
        assert scalar(session, "SHOW max_wal_size") == "2GB"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("shared_bufers", "1GB", refused("setting-not-of-this-server")),
        ("block_size", "8192", refused("setting-fixed")),
        ("work_mem", "1 furlong", refused("unit-unknown")),
        ("work_mem", "1kB", refused("setting-out-of-range-in-unit")),
        ("wal_level", "none", refused("not-a-word-of-the-setting")),
        ("timezone", "Mars/Olympus", refused("server-does-not-start")),
        ("port", "5433", refused("setting-does-not-vary")),
    ],
)
def test_settings_that_the_server_would_refuse_are_refused_before_a_trial(
    target: OwnedTarget, name: str, value: str, expected: refused
) -> None:
    with expected as caught:
        target.check_settings({name: value})
    assert caught.value.setting == name


def test_a_role_setting_of_the_workload_that_overrides_an_arm_is_reported(
    quick: OwnedTarget,
) -> None:
    quick.open()
    quick.prepare(running("ALTER ROLE postgres SET work_mem = '1MB'"), {})
    with refused("setting-from-elsewhere"):
        quick.reset({"work_mem": "8MB"})


def test_a_second_workload_starts_from_a_fresh_cluster(quick: OwnedTarget) -> None:
    quick.open()
    quick.prepare(running("CREATE ROLE left_over"), {})
    quick.prepare(build_accounts, HELD)
    with quick.connect() as session, user_path(session):
        assert scalar(session, "SELECT count(*) FROM pg_roles WHERE rolname = 'left_over'") == 0
        assert scalar(session, "SELECT count(*) FROM account") == 1000


def test_close_removes_everything_and_may_be_called_twice(
    quick: OwnedTarget, journal: RecordingJournal
) -> None:
    facts = quick.open()
    data = Path(str(facts.data_directory))
    assert stat.S_IMODE(data.parent.stat().st_mode) == 0o700
    kept = data.parent
    undo = f"rm -rf {kept} {kept}.owner {kept}.aside"
    assert [undo_text(change) for change in journal.open] == [undo]
    servers = working_in(data)
    assert servers
    assert all(os.getsid(pid) != os.getsid(0) for pid in servers), "Ctrl-C would reach the server"
    quick.close()
    quick.close()
    assert not data.parent.exists()
    assert not data.parent.with_name(f"{data.parent.name}.owner").exists()
    assert working_in(data) == []
    assert journal.open == []


def test_an_interrupt_while_building_leaves_nothing_after_close(
    quick: OwnedTarget, journal: RecordingJournal
) -> None:
    data = Path(str(quick.open().data_directory))

    def interrupted(session: Connection) -> None:
        session.execute("CREATE TABLE half ()")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quick.prepare(interrupted, {})
    quick.close()
    assert not data.exists()
    assert journal.open == []


def test_methods_before_open_say_so(quick: OwnedTarget) -> None:
    with pytest.raises(TargetError, match="not open"):
        quick.parameters()
    quick.open()
    with pytest.raises(TargetError, match="prepare"):
        quick.reset({})


def test_the_environment_cannot_divert_a_session(
    quick: OwnedTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "PGHOST": "203.0.113.1",
        "PGHOSTADDR": "203.0.113.1",
        "PGPORT": "1",
        "PGDATABASE": "elsewhere",
        "PGOPTIONS": "-c work_mem=1MB",
        "PGDATA": "/nonexistent",
        "PGSSLMODE": "verify-full",
    }.items():
        monkeypatch.setenv(name, value)
    assert quick.open().settings["work_mem"].value == "4096"


def test_a_long_base_directory_gets_a_short_socket(
    servers_base: Path, monkeypatch: pytest.MonkeyPatch, quick: OwnedTarget
) -> None:
    base = servers_base / ("long" * 25)
    monkeypatch.setenv("PGASSAY_DATA", str(base))
    quick.open()
    socket_directory = Path(quick.parameters().host)
    assert len(os.fsencode(socket_directory / SOCKET_NAME)) < SOCKET_BYTES
    quick.close()
    assert not socket_directory.exists()


def test_a_base_open_to_everyone_is_refused(
    account: Account, servers_base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = servers_base / "open"
    base.mkdir()
    base.chmod(0o777)
    monkeypatch.setenv("PGASSAY_DATA", str(base))
    with refused("data-folder-open"):
        base_directory(account)


OPEN_SERVER = """
import os, signal, sys
from pgassay.server.owned.installation import embedded_installation
from pgassay.server.owned.origin import NewCluster
from pgassay.server.owned.target import OwnedTarget

class Journal:
    def record(self, change): pass
    def undone(self, change_id): pass

facts = OwnedTarget(NewCluster(embedded_installation(18)), Journal()).open()
print(facts.data_directory, flush=True)
sys.stdin.read()
"""


def test_the_next_open_sweeps_a_killed_run_and_spares_a_live_one(
    quick: OwnedTarget, own_base: Path, journal: RecordingJournal
) -> None:
    python = str(Path(pgassay.__file__).parents[1])
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN_SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": python},
        )
        for _ in range(2)
    ]
    try:
        where = []
        for run in runs:
            assert run.stdout is not None
            where.append(Path(run.stdout.readline().strip()))
        killed, live = where
        runs[0].send_signal(signal.SIGKILL)
        runs[0].wait()
        assert working_in(killed)
        quick.open()
        assert not killed.parent.exists()
        wait_until(lambda: not working_in(killed), "the killed run's server ends")
        assert live.exists()
        assert working_in(live)
    finally:
        for run in runs:
            run.kill()
            run.wait()
            for stream in (run.stdin, run.stdout):
                assert stream is not None
                stream.close()
    left = RecordingJournal()
    base, name = str(live.parent.parent), live.parent.name
    left.record(OwnedServerChange(base=base, name=name))
    recover(None, left.open, left)
    assert not live.parent.exists()
    assert left.open == []
    running = RecordingJournal(changes=[*journal.open])
    with pytest.raises(RestoreFailed, match="its run is alive"):
        recover(None, running.open, running)


@pytest.mark.skipif(not is_root(), reason="only root has files its server cannot read")
def test_binaries_under_a_closed_directory_start_from_a_copy(
    own_base: Path, journal: RecordingJournal, monkeypatch: pytest.MonkeyPatch, account: Account
) -> None:
    original = embedded_installation(18).bin_directory.parent
    with tempfile.TemporaryDirectory() as scratch:
        closed, cache = Path(scratch, "closed"), Path(scratch, "cache")
        Path(scratch).chmod(0o755)
        closed.mkdir(mode=0o700)
        package = closed / original.parent.name
        shutil.copytree(original, package / original.name)
        libraries = original.parents[1] / f"{original.parent.name}.libs"
        shutil.copytree(libraries, closed / libraries.name)
        monkeypatch.setattr(readable_copy, "CACHE", cache)
        installation = installation_at(package / original.name / "bin")

        target = OwnedTarget(NewCluster(installation), journal)
        try:
            target.open()
        finally:
            target.close()
        copies = list(cache.iterdir())
        assert len(copies) == 1
        again = readable_copy.runnable_by(installation, account)
        assert copies[0] in again.bin_directory.parents
        assert list(cache.iterdir()) == copies

        cache.chmod(0o777)
        with refused("cache-open"):
            readable_copy.runnable_by(installation, account)
