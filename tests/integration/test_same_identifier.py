"""Two servers with one system identifier: what is left on one is never undone at the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgassay.errors import RestoreFailed, TargetError
from pgassay.samples.handover import held
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.target.account import Account
from pgassay.target.cluster import Cluster
from pgassay.target.existing import ExistingTarget
from pgassay.target.preview import preview_existing
from pgassay.target.protocol import Change, Connection
from pgassay.target.recover import recover
from pgassay.target.server_memory import all_remembered, remember
from pgassay.target.setting_statements import reload
from pgassay.target.workspace import make_workspace, new_name
from support.command import pgassay
from support.servers import (
    LabServer,
    RecordingJournal,
    installation_named,
    running_lab_server,
    started_on_a_free_port,
)


def build(session: Connection) -> None:
    session.execute("CREATE TABLE account (id int)")


def scalar(server: LabServer, query: str) -> Any:
    with server.admin() as session:
        row = session.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


@pytest.fixture(scope="module")
def clones(account: Account, servers_base: Path) -> Iterator[tuple[LabServer, LabServer]]:
    """One cluster, and a copy of it that was made while it was stopped."""
    with running_lab_server(installation_named("embedded-18"), account, servers_base) as one:
        one.cluster.stop(gently=True)
        other = Cluster(one.cluster.installation, make_workspace(account, servers_base, new_name()))
        there = other.workspace
        try:
            data = one.cluster.workspace.data
            account.require(["cp", "-a", "-T", data, there.data], limit_s=60)
            sockets = f"unix_socket_directories = '{there.socket_directory}'\n"
            account.require(["tee", "-a", there.data / "pgassay.conf"], text=sockets, limit_s=10)
            port = started_on_a_free_port(other)
            one.cluster.start()
            yield one, LabServer(other, port)
        finally:
            other.stop(gently=False)
            there.remove()


@pytest.fixture
def both(
    clones: tuple[LabServer, LabServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[LabServer, LabServer]]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield clones
    for server in clones:
        assert scalar(server, "SHOW work_mem") == "4MB"
        assert scalar(server, "SELECT to_regnamespace('pgassay')") is None
    assert all_remembered() == []


def target_of(server: LabServer, folder: Path, dsn: str = "") -> ExistingTarget:
    folder.mkdir(exist_ok=True)
    journal = FileJournal(folder / "journal.jsonl")
    return ExistingTarget(dsn or server.dsn(), journal, allow_changes=True, accept=["commits"])


def killed(server: LabServer, folder: Path) -> Path:
    """A run that changes a setting and makes its data, and is then no more; its journal."""
    target = target_of(server, folder)
    target.open()
    target.prepare(build, {"work_mem": "8MB"})
    assert target._control is not None
    target._control.close()
    return folder / "journal.jsonl"


def test_a_run_on_a_copy_leaves_the_other_its_undoing_and_says_so(
    both: tuple[LabServer, LabServer], tmp_path: Path
) -> None:
    one, other = both
    journal = killed(one, tmp_path / "dead")
    left = open_changes(journal)
    plan = preview_existing(other.dsn(), accept=["commits"], settings={}, building_sql=[])
    assert not any("killed" in change.what for change in plan.changes)
    with closing(target_of(other, tmp_path / "next")) as target:
        target.open()
        target.prepare(build, {"work_mem": "9MB"})
        notes = " ".join(target.reset({}).notes)
    assert f"recover {journal.parent}" in notes
    assert str(one.cluster.workspace.data) in notes
    assert open_changes(journal) == left
    assert scalar(one, "SHOW work_mem") == "8MB"
    # With the environment of today it would go to the copy.
    with pytest.raises(RestoreFailed, match="is not the server and database of this run"):
        recover(other.dsn(), left, FileJournal(journal))
    assert recover(one.dsn(), left, FileJournal(journal)) == []
    assert open_changes(journal) == []


def test_what_was_left_on_both_is_undone_on_each_by_its_next_run(
    both: tuple[LabServer, LabServer], tmp_path: Path
) -> None:
    journals = [killed(server, tmp_path / f"dead-{n}") for n, server in enumerate(both)]
    assert len(all_remembered()) == 2
    for server, journal in zip(both, journals, strict=True):
        # By another way than the dead run's: it is the same server.
        sockets = server.cluster.workspace.socket_directory
        dsn = f"host={sockets} port={server.port} user=postgres dbname=lab"
        with closing(target_of(server, tmp_path / "next", dsn)) as target:
            target.open()
            assert scalar(server, "SHOW work_mem") == "4MB"
            assert open_changes(journal) == []


def test_what_an_older_version_remembers_is_undone_and_never_under_a_run_that_lives(
    both: tuple[LabServer, LabServer], tmp_path: Path
) -> None:
    one, other = both
    journal = killed(one, tmp_path / "dead")
    ((server, changes),) = all_remembered()
    # It did not know which of the two it was.
    remember(server, [replace(change, seat={}) for change in changes])
    with (
        held(journal.parent),
        closing(target_of(other, tmp_path / "next")) as target,
        pytest.raises(TargetError, match=r"another pgassay run, .*dead, is using this server"),
    ):
        target.open()
    assert len(open_changes(journal)) == len(changes)
    with closing(target_of(one, tmp_path / "next")) as target:
        target.open()
        assert scalar(one, "SHOW work_mem") == "4MB"


def test_a_server_that_moved_is_refused_until_somebody_says_that_it_is_the_same(
    both: tuple[LabServer, LabServer], tmp_path: Path
) -> None:
    """As after a failover to another address, or a data directory that was moved."""
    one, moved = both
    journal = killed(one, tmp_path / "dead")
    left = open_changes(journal)
    ((server, changes),) = all_remembered()
    assert recover(one.dsn(), left, RecordingJournal()) == []
    remember(server, changes)
    with moved.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '8MB'")
        reload(session)
    told = r"work_mem is written here .* moved since: `pgassay recover \S+dead` with --moved-to"
    target = target_of(moved, tmp_path / "next")
    with pytest.raises(TargetError, match=told):
        target.open()
    target.close()
    plan = preview_existing(moved.dsn(), accept=["commits"], settings={}, building_sql=[])
    assert any("--moved-to" in refusal for refusal in plan.refusals)
    with pytest.raises(RestoreFailed, match=r"if it is, moved since: --moved-to"):
        recover(moved.dsn(), left, FileJournal(journal))
    # The run's own address leads to the other one, or nowhere.
    assert recover(one.dsn(), left, FileJournal(journal), moved_to=moved.dsn()) == []
    assert open_changes(journal) == []
    with closing(target_of(moved, tmp_path / "next")) as target:
        target.open()


def test_where_a_server_is_now_is_said_without_its_password(tmp_path: Path) -> None:
    for dsn in ("host=db1 password=secret", "postgresql://lab:secret@db1/lab", "host='"):
        done = pgassay("recover", tmp_path, "--moved-to", dsn)
        assert done.returncode == 1
        assert "--moved-to" in done.stderr
        assert "secret" not in done.stdout + done.stderr


def test_a_server_that_a_run_has_made_has_moved_nowhere(tmp_path: Path) -> None:
    change = Change("1", "server", "", "rm -r /nowhere/at/all")
    with pytest.raises(RestoreFailed, match="the server was the run's own"):
        recover(None, [change], RecordingJournal(), moved_to="host=db1")
    started = replace(change, started="/nowhere", undo="pg_ctl stop")
    with pytest.raises(RestoreFailed, match="by hand, where it is now: pg_ctl stop"):
        recover("host=db1", [started], RecordingJournal(), moved_to="host=db2")
