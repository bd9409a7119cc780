"""A run does not bring pending changes of others into force."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pgassay.errors import RestoreFailed
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.hosts.account import Account
from pgassay.server.hosts.local import HERE
from pgassay.server.owned.installation import installation_at
from pgassay.server.recovery.recover import recover
from pgassay.server.service.restartable import refuse_other_program
from pgassay.server.settings.pending_changes import PendingChanges
from pgassay.server.settings.statements import reload
from support.runs.broken import postmaster_below, spec_file
from support.runs.command import pgassay
from support.runs.targets import ACCESS, existing, state_of
from support.servers.debian import DebianServer
from support.servers.existing import die, nothing
from support.servers.lab import RecordingJournal, installation_named, running_lab_server

TARGET = """[target]
dsn = "{dsn}"
allow_changes = true
allow_restart = true
cluster = "15/lab"
accept = ["commits", "sessions"]
"""


def alter(server: DebianServer, words: str, *, loaded: bool = True) -> None:
    with server.admin() as session:
        session.execute(f"ALTER SYSTEM {words}".encode())
        if loaded:
            reload(session)


@pytest.fixture
def server(debian: DebianServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[DebianServer]:
    """Every test leaves it as it was, also its files."""
    monkeypatch.setenv("PG_CLUSTER_CONF_ROOT", str(debian.conf))
    files = [debian.conf / "15" / "lab" / name for name in ("postgresql.conf", "pg_hba.conf")]
    texts = [file.read_text() for file in files]
    before = state_of(debian)
    yield debian
    assert state_of(debian) == before
    assert [file.read_text() for file in files] == texts


@pytest.fixture
def target(
    server: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> ExistingTarget:
    return existing("pg_ctlcluster", server, journal, request)


@pytest.fixture
def settings_file(server: DebianServer) -> Iterator[Path]:
    """postgresql.conf, for a person's editor."""
    file = server.conf / "15" / "lab" / "postgresql.conf"
    text = file.read_text()
    yield file
    file.write_text(text)
    with server.admin() as session:
        reload(session)


def test_a_pending_value_stops_a_run_also_for_the_setting_under_test(
    server: DebianServer, target: ExistingTarget, tmp_path: Path
) -> None:
    alter(server, "SET shared_buffers = '64MB'")
    words = (
        r"pending changes of others into force: shared_buffers \(128MB in force, 64MB in"
        rf" {server.file} line \d+\); restart the server first, or take them back"
    )
    try:
        with closing(target):
            target.open()
            with pytest.raises(PendingChanges, match=words):
                target.check_settings({"shared_buffers": "24MB"})
        factor = 'shared_buffers = ["16MB", "24MB"]'
        spec = spec_file(tmp_path, target=TARGET.format(dsn=server.dsn()), factor=factor)
        shown = " ".join(pgassay("plan", spec, COLUMNS="500").stdout.split())
        assert "stops: a restart would bring pending changes of others into force" in shown
        assert "shared_buffers (128MB in force, 64MB in" in shown
    finally:
        alter(server, "RESET shared_buffers")


@pytest.mark.parametrize("loaded", [True, False])
def test_a_change_of_another_user_during_a_run_prevents_its_restarts(
    server: DebianServer, target: ExistingTarget, journal: RecordingJournal, loaded: bool
) -> None:
    target.open()
    target.prepare(nothing, {"shared_buffers": "24MB"})
    before = server.started_at()
    alter(server, "SET max_connections = 90", loaded=loaded)
    try:
        with pytest.raises(PendingChanges, match=r"max_connections \(100 in force, 90 in "):
            target.reset({"shared_buffers": "16MB"})
        words = (
            "shared_buffers is back in the file and comes into force with the next restart, which"
            r" is not made here: a restart would bring .*max_connections \(100 in force, 90 in .*"
            "pg_ctlcluster 15 lab restart"
        )
        with pytest.raises(RestoreFailed, match=words):
            target.close()
        assert server.started_at() == before
        assert "shared_buffers" not in server.file.read_text()
        assert {change.what.split()[1] for change in journal.open} == {"shared_buffers"}
        assert target._left
    finally:
        alter(server, "RESET max_connections")
    target.close()
    assert server.started_at() > before
    assert journal.open == []


def test_an_edit_of_the_setting_under_test_does_not_come_into_force_at_the_end_of_the_run(
    server: DebianServer, target: ExistingTarget, journal: RecordingJournal, settings_file: Path
) -> None:
    """ALTER SYSTEM wins over postgresql.conf, so the run itself goes on; its undo would not."""
    text = settings_file.read_text()
    target.open()
    target.prepare(nothing, {"shared_buffers": "24MB"})
    settings_file.write_text(f"{text}shared_buffers = 32MB\n")
    target.reset({"shared_buffers": "16MB"})
    before = server.started_at()
    with pytest.raises(RestoreFailed, match=r"shared_buffers \(16MB in force, 32MB in .*lab/postg"):
        target.close()
    assert server.started_at() == before
    settings_file.write_text(text)
    target.close()
    assert journal.open == []


def test_recover_does_not_bring_changes_of_others_into_force(
    server: DebianServer, target: ExistingTarget, journal: RecordingJournal
) -> None:
    target.open()
    target.prepare(nothing, {"shared_buffers": "24MB"})
    die(target)
    before = server.started_at()
    alter(server, "SET max_connections = 90")
    access = ACCESS["pg_ctlcluster"]
    try:
        with pytest.raises(RestoreFailed, match=r"max_connections \(100 in force, 90 in"):
            recover(server.dsn(), journal.open, journal, access)
        assert journal.open
        assert server.started_at() == before
    finally:
        alter(server, "RESET max_connections")
    assert recover(server.dsn(), journal.open, journal, access) == []
    assert journal.open == []
    assert server.started_at() > before


def test_a_server_whose_files_have_a_mistake_is_not_restarted(
    server: DebianServer, target: ExistingTarget, journal: RecordingJournal, settings_file: Path
) -> None:
    text = settings_file.read_text()
    target.open()
    target.prepare(nothing, {})
    before = server.started_at()
    settings_file.write_text(f"{text}nonsense = yes\n")
    with pytest.raises(
        PendingChanges, match=r"a restart would fail: .*/postgresql.conf line \d+: nons"
    ):
        target.reset({"shared_buffers": "24MB"})
    settings_file.write_text(text)
    target.close()
    assert server.started_at() == before
    assert journal.open == []


def test_a_program_that_was_replaced_under_a_running_server_stops_a_restart(
    account: Account, servers_base: Path
) -> None:
    """As dpkg does it: the new file under the old name, the old one still running."""
    installed = installation_named("embedded-18").bin_directory.parent
    copy = servers_base / "upgraded"
    tree = copy / installed.parent.name / installed.name
    libraries = f"{installed.parent.name}.libs"
    shutil.copytree(installed, tree, symlinks=True)
    shutil.copytree(installed.parent.with_name(libraries), copy / libraries)
    with running_lab_server(installation_at(tree / "bin"), account, servers_base) as server:
        postmaster = postmaster_below(server.cluster.workspace.data)

        def look() -> None:
            with server.admin() as session:
                refuse_other_program(session, HERE, account.name, postmaster)

        look()
        program = tree / "bin" / "postgres"
        new = program.with_name("postgres.dpkg-new")
        new.write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 18.99'\n")
        new.chmod(0o755)
        kept = program.with_name("kept")
        kept.hardlink_to(program)
        new.rename(program)
        with pytest.raises(
            PendingChanges, match=r"the server runs 18\.\d+, and .*/postgres of this host is now 18"
        ):
            look()
        program.unlink()
        with pytest.raises(PendingChanges, match="no longer exists; install it again"):
            look()
        kept.rename(program)
        look()
    shutil.rmtree(copy)
