"""On XFS, copies of data share their blocks and take next to no room.

The disks are too small for whole copies.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pgassay.server.connection.session import user_path
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.hosts.account import Account
from pgassay.server.owned.origin import NewCluster
from pgassay.server.owned.target import OwnedTarget
from pgassay.server.owned.workspace import DATA_VARIABLE
from pgassay.server.protocol import Connection
from pgassay.spec.server.reset import ResetLevel, ResetRule
from support.hosts.crash_disk import crash_disk
from support.servers.accounts import build_few_accounts
from support.servers.lab import RecordingJournal, installation_named, running_lab_server, wait_until

MIB = 2**20
PIECE = """
INSERT INTO large SELECT i, repeat('x', 1000) FROM generate_series(%s + 1, %s + 15000) i
"""
PIECES = range(0, 150_000, 15_000)
"""Some 165 MiB in all."""


@pytest.fixture
def disk(servers_base: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Of so many MiB; a data directory with the large table takes some 290, its WAL in it."""
    with crash_disk(servers_base / "shared", "xfs", request.param * MIB) as disk:
        yield disk.folder


def used(disk: Path) -> int:
    found = os.statvfs(disk)
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def build_large(session: Connection) -> None:
    """Frozen at once, so that no VACUUM writes its pages, and WAL for all of them, again.

    In pieces, each with its checkpoint: a timed one may come too late for the WAL of all of it.
    """
    session.execute("CREATE TABLE large (i int, pad text)")
    for first in PIECES:
        session.execute(PIECE, (first, first))
        session.execute("VACUUM (FREEZE) large")
        session.execute("CHECKPOINT")


def rows(session: Connection) -> int:
    found = session.execute("SELECT count(*) FROM large").fetchone()
    assert found is not None
    return int(found[0])


@pytest.mark.parametrize("disk", [450], indirect=True)
def test_the_frozen_copy_of_an_owned_server_shares_its_blocks(
    disk: Path, journal: RecordingJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATA_VARIABLE, str(disk))
    with closing(OwnedTarget(NewCluster(installation_named("embedded-18")), journal)) as target:
        target.open()
        # There would be no room for the WAL of all of it.
        target.prepare(build_large, {"max_wal_size": "32MB"})
        for _ in range(2):
            target.reset({})
            with target.connect() as session, user_path(session):
                assert rows(session) == 150_000
    wait_until(lambda: used(disk) < 60 * MIB, "all of it given back")


@pytest.mark.heavy
@pytest.mark.parametrize("disk", [450], indirect=True)
def test_a_template_database_is_cloned_by_version_18(
    disk: Path, account: Account, journal: RecordingJournal, servers_base: Path
) -> None:
    with running_lab_server(installation_named("embedded-18"), account, disk) as server:
        with server.admin() as session:
            session.execute("ALTER SYSTEM SET max_wal_size = '32MB'")
            session.execute("SELECT pg_reload_conf()")
            build_large(session)
        target = ExistingTarget(
            server.dsn(),
            journal,
            allow_changes=True,
            accept=["commits"],
            rule=ResetRule(ResetLevel.TEMPLATE),
        )
        with closing(target):
            target.open()
            target.prepare(build_few_accounts, {})
            report = target.reset({})
            assert report.copied == "CREATE DATABASE, file_copy_method = clone"
            with target.connect() as session, user_path(session):
                assert rows(session) == 150_000
    assert journal.open == []
