"""Each level of reset does its steps and no more; caches hold what the rule says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pgassay.server.connection.session import user_path
from pgassay.server.data import reset as reset_levels
from pgassay.server.data.reset import database_directories
from pgassay.server.hosts import page_cache
from pgassay.server.owned.installation import Installation
from pgassay.server.owned.origin import NewCluster
from pgassay.server.owned.target import OwnedTarget
from pgassay.server.protocol import Connection
from pgassay.spec.server.reset import Caches, ResetLevel, ResetRule
from support.servers.lab import RecordingJournal, installation_named, scalar

ROWS = 20_000
DATABASE_OID = "SELECT oid::text FROM pg_database WHERE datname"


def build(session: Connection) -> None:
    session.execute(
        "CREATE TABLE account AS SELECT i, 0 AS balance, repeat('x', 80) AS filler"
        " FROM generate_series(1, 20000) i"
    )
    session.execute("CREATE INDEX ON account (i)")


def ask(target: OwnedTarget, query: str) -> Any:
    with target.connect() as session, user_path(session):
        return scalar(session, query)


def ready(installation: Installation, rule: ResetRule) -> OwnedTarget:
    target = OwnedTarget(NewCluster(installation), RecordingJournal(), rule=rule)
    try:
        target.open()
        target.prepare(build, {})
        target.reset({})
    except BaseException:
        target.close()
        raise
    return target


@pytest.mark.parametrize(
    ("level", "kept", "restarted", "phases"),
    [
        ("snapshot", False, True, ["stop", "copy", "start", "statistics", "checkpoint"]),
        ("restart", True, True, ["vacuum", "stop", "start", "statistics", "checkpoint"]),
        ("vacuum", True, False, ["vacuum", "settings", "statistics", "checkpoint"]),
        ("none", True, False, ["settings"]),
    ],
)
def test_a_level_does_its_steps_in_order_and_leaves_the_rest(
    own_base: Path,
    server_installation: Installation,
    level: str,
    kept: bool,
    restarted: bool,
    phases: list[str],
) -> None:
    del own_base
    target = ready(server_installation, ResetRule(ResetLevel(level)))
    try:
        with target.connect() as session, user_path(session):
            began = scalar(session, "SELECT pg_postmaster_start_time()")
            session.execute("UPDATE account SET balance = 7")
        report = target.reset({"work_mem": "8MB"})
        assert report.level == level
        assert report.restarted == restarted
        assert list(report.phases) == phases
        assert 0 < sum(report.phases.values()) <= report.duration_s
        assert report.settings == {"work_mem": "8MB"}
        with target.connect() as session, user_path(session):
            assert scalar(session, "SHOW work_mem") == "8MB"
            assert scalar(session, "SELECT sum(balance) FROM account") == (kept and 7 * ROWS)
            again = scalar(session, "SELECT pg_postmaster_start_time()")
            assert (again != began) == restarted
            if level != "none":
                query = "SELECT n_dead_tup + n_mod_since_analyze FROM pg_stat_user_tables"
                assert scalar(session, query) == 0
        assert target.reset({}).settings == {}
        assert ask(target, "SHOW work_mem") == "4MB"
    finally:
        target.close()


def test_where_arms_differ_in_a_restart_every_trial_begins_with_one(own_base: Path) -> None:
    del own_base
    installation = installation_named("embedded-18")
    target = OwnedTarget(
        NewCluster(installation), RecordingJournal(), rule=ResetRule(ResetLevel.NONE)
    )
    try:
        target.open()
        target.prepare(build, {"max_connections": "50"})
        assert not target.reset({"work_mem": "8MB"}).restarted
        target.check_settings({"shared_buffers": "64MB"})
        assert target.reset({"shared_buffers": "64MB"}).restarted
        assert not target.reset({"shared_buffers": "64MB"}).restarted
        target.check_settings({"shared_buffers": "65MB"})
        for value in ("64MB", "64MB", "65MB"):
            assert target.reset({"shared_buffers": value}).restarted
            assert ask(target, "SHOW shared_buffers") == value
            assert ask(target, "SELECT count(*) FROM account") == ROWS
        # Of a whole plot the first trial begins afresh, and the others only where they must.
        assert target.reset({"shared_buffers": "65MB"}, restart=True).restarted
        assert not target.reset({"shared_buffers": "65MB"}, restart=False).restarted
        assert target.reset({"shared_buffers": "64MB"}, restart=False).restarted
        assert ask(target, "SHOW shared_buffers") == "64MB"
    finally:
        target.close()


@pytest.mark.parametrize("level", ["snapshot", "restart"])
def test_cold_caches_hold_nothing_of_the_data(
    disk_base: Path, server_installation: Installation, level: str
) -> None:
    target = ready(server_installation, ResetRule(ResetLevel(level), Caches.COLD))
    try:
        data = target.facts().data_directory
        assert data is not None
        assert Path(data).is_relative_to(disk_base)
        folder = (Path(data) / ask(target, "SELECT pg_relation_filepath('account')")).parent
        assert ask(target, "SELECT sum(balance) FROM account") == 0
        warm_share = page_cache.cached_share([folder])
        report = target.reset({})
        share = page_cache.cached_share([folder])
        assert report.caches is not None
        assert report.caches.cached_share is not None
        assert report.caches.cached_share < 0.02
        assert report.notes == ()
        assert warm_share is not None
        assert share is not None
        assert share < warm_share / 2, "starting reads catalogues, not the table"
        assert ask(target, "SELECT count(*) FROM account") == ROWS
    finally:
        target.close()


def test_a_folder_outside_the_data_directory_is_not_read(
    own_base: Path, server_installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = ready(server_installation, ResetRule(ResetLevel.NONE))
    try:
        data = Path(target.facts().data_directory or "")
        with target.connect() as session, user_path(session):
            (folder,) = database_directories(session, data)
            assert folder == data / "base" / ask(target, f"{DATABASE_OID} = current_database()")
            elsewhere = own_base / "elsewhere"
            elsewhere.mkdir(exist_ok=True)
            for word in (elsewhere, "../../elsewhere", "*", ""):
                said = f"SELECT '{word}'::text".encode()
                monkeypatch.setattr(reset_levels, "statement", lambda _, said=said: said)
                assert database_directories(session, data) == []
    finally:
        target.close()


def test_caches_that_cannot_be_cold_are_noted(own_base: Path) -> None:
    if not own_base.is_relative_to("/dev/shm"):  # noqa: S108 (nothing is made there)
        pytest.skip("there is no file system in memory here")
    target = ready(installation_named("embedded-18"), ResetRule(ResetLevel.SNAPSHOT, Caches.COLD))
    try:
        (note,) = target.reset({}).notes
        assert (note.code, note.values["percent"]) == ("server/data/not-cold", 100.0)
    finally:
        target.close()


def test_warm_caches_hold_the_data(disk_base: Path, server_installation: Installation) -> None:
    target = ready(server_installation, ResetRule(ResetLevel.SNAPSHOT, Caches.WARM))
    try:
        report = target.reset({"shared_buffers": "64MB"})
        state = report.caches
        assert state is not None
        assert state.cached_share is not None
        assert state.cached_share > 0.98
        assert list(report.phases)[-3:] == ["caches", "statistics", "checkpoint"]
        with target.connect() as session, user_path(session):
            available = scalar(
                session, "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_prewarm'"
            )
            if not available:
                assert state.buffered_blocks is None
                assert "no pg_prewarm" in state.how
                return
            wanted = scalar(
                session,
                "SELECT (pg_relation_size('account') + pg_relation_size('account_i_idx')) / 8192",
            )
            held = scalar(
                session,
                "SELECT count(*) FROM pg_buffercache WHERE relforknumber = 0 AND relfilenode IN"
                " (pg_relation_filenode('account'), pg_relation_filenode('account_i_idx'))",
            )
        assert held == wanted
        assert state.buffered_blocks is not None
        assert state.buffered_blocks >= wanted
        small = target.reset({"shared_buffers": "1MB"})
        assert small.caches is not None
        assert small.caches.buffered_blocks is not None
        assert small.caches.buffered_blocks <= 128
    finally:
        target.close()
    assert list(disk_base.glob("run-*")) == []
