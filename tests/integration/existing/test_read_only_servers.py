"""A server's disk that takes no more writes in a trial: what cannot be put back is reported, and
put back once the disk is writable again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.hosts.small_disk import FailingDisk, failing_disk
from support.runs.broken import (
    assert_kept,
    assert_no_server_left,
    in_the_second_trial,
    servers_below,
    spec_file,
    watched,
)
from support.runs.command import pgassay
from support.runs.existing import as_found
from support.servers.debian import NAME, VERSION, debian_server
from support.servers.lab import wait_until


@pytest.fixture
def disk(servers_base: Path) -> Iterator[FailingDisk]:
    with failing_disk(servers_base / "failing", "600M") as found:
        yield found


def fails_in_the_second_trial(run: Path, spec: Path, disk: FailingDisk) -> dict[str, str]:
    """A run whose server loses its disk; it ends with 5, for nothing can be put back on it."""
    with watched(run, spec) as tool:
        kept = in_the_second_trial(tool)
        disk.fail()
        assert tool.end() == 5, tool.text
    said = " ".join(tool.text.split())
    assert "Read-only file system" in said, tool.text
    assert f"pgassay recover {run}" in said
    assert "Traceback" not in said
    assert "an error of pgassay itself" not in said
    again = pgassay("recover", run)
    assert again.returncode == 5, again.stderr
    assert "Traceback" not in again.stderr
    assert "an error of pgassay itself" not in again.stderr
    wait_until(lambda: servers_below(disk.folder) == [], "its processes have ended")
    disk.repair()
    return kept


@pytest.mark.heavy
def test_an_owned_server_is_gone_once_its_disk_is_writable_again(
    tmp_path: Path, disk: FailingDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGASSAY_DATA", str(disk.folder))
    run = tmp_path / "run"
    kept = fails_in_the_second_trial(run, spec_file(tmp_path, step="20s"), disk)
    done = pgassay("recover", run)
    assert done.returncode == 0, done.stderr
    assert_kept(run, kept)
    assert_no_server_left(disk.folder)
    assert pgassay("recover", run).stdout == "nothing to undo\n"


@pytest.mark.heavy
def test_an_existing_server_is_up_as_it_was_found_once_its_disk_is_writable_again(
    tmp_path: Path, disk: FailingDisk, request: pytest.FixtureRequest
) -> None:
    run = tmp_path / "run"
    with debian_server(disk.folder) as server:
        settings = server.conf / VERSION / NAME / "postgresql.conf"
        # What is on the disk when it fails is all that there is afterwards.
        settings.write_text(settings.read_text().replace("fsync = off", "fsync = on"))
        server.ctl("restart")
        os.sync()  # what was written without fsync
        with as_found("pg_ctlcluster", server, request, step="20s") as spec:
            kept = fails_in_the_second_trial(run, spec, disk)
            done = pgassay("recover", run)
            assert done.returncode == 0, done.stderr
            assert_kept(run, kept)
            assert pgassay("recover", run).stdout == "nothing to undo\n"
