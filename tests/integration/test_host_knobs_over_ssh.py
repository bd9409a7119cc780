"""Knobs of a host behind ssh: as those of this one, also where the connection is lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pgassay.errors import RestoreFailed, TargetError
from pgassay.target import host_memory
from pgassay.target.host_files import find_knob
from pgassay.target.host_knobs import HostKnobs, recover_host
from pgassay.target.ssh_host import SshHost
from support.servers import RecordingJournal, wait_until
from support.sshd import HOST, Sshd

SWAP = "vm.swappiness"


def now() -> str:
    return find_knob(SWAP, None).read()


def nobody_changes_knobs() -> bool:
    try:
        with host_memory.locked():
            return True
    except TargetError:
        return False


@pytest.fixture
def host(ssh_config: Sshd, knobs_alone: None) -> Iterator[SshHost]:
    """The way there; the knob is put back also where a test fails."""
    before = now()
    host = SshHost(HOST)
    try:
        find_knob(SWAP, None, host).check(before)
        wait_until(nobody_changes_knobs, "other tests are done with the knobs")
    except TargetError as error:
        host.close()
        pytest.skip(f"knobs of this host cannot be set: {error}")
    try:
        yield host
    finally:
        host.close()
        if now() != before:
            find_knob(SWAP, None).write(before)
            pytest.fail(f"{SWAP} was not put back")


def test_a_knob_is_journalled_with_its_host_written_read_back_and_put_back(host: SshHost) -> None:
    journal = RecordingJournal()
    before, wanted = now(), str(int(now()) + 1)
    knobs = HostKnobs(journal, host)
    knobs.check({SWAP: wanted}, None)
    assert knobs.apply({SWAP: wanted}, None) == {SWAP: wanted}
    assert now() == wanted
    assert (journal.changes[0].host, journal.changes[0].what) == (HOST, f"{SWAP} of {HOST}")
    with pytest.raises(TargetError, match="another pgassay run is changing knobs of this host"):
        HostKnobs(RecordingJournal()).check({SWAP: wanted}, None)
    knobs.restore()
    assert now() == before
    assert journal.open == []


def test_a_host_that_is_gone_is_told_and_recovered_later(host: SshHost, ssh_config: Sshd) -> None:
    journal = RecordingJournal()
    before, wanted = now(), str(int(now()) + 1)
    knobs = HostKnobs(journal, host)
    knobs.check({SWAP: wanted}, None)
    knobs.apply({SWAP: wanted}, None)
    ssh_config.end()
    try:
        with pytest.raises(RestoreFailed, match=rf"ssh {HOST}: .*by hand: echo {before} > /proc"):
            knobs.restore()
    finally:
        ssh_config.start()
    assert knobs._lock is not None
    knobs._lock.release()
    wait_until(nobody_changes_knobs, "what held the lock over there has ended too")
    assert now() == wanted
    again = SshHost(HOST)
    assert recover_host(journal.open, journal, again) == []
    assert now() == before
    assert journal.open == []
    assert host_memory.remembered(again) == []
    again.close()


def test_what_a_killed_run_left_there_is_undone_by_the_next(
    host: SshHost, ssh_config: Sshd
) -> None:
    before, wanted = now(), str(int(now()) + 1)
    knobs = HostKnobs(RecordingJournal(), host)
    knobs.check({SWAP: wanted}, None)
    knobs.apply({SWAP: wanted}, None)
    ssh_config.cut()  # what is left of a killed tool: no connection, no lock, a knob changed
    wait_until(nobody_changes_knobs, "what held the lock over there has ended too")
    assert now() == wanted
    following = HostKnobs(RecordingJournal(), SshHost(HOST))
    following.check({"vm.vfs_cache_pressure": "100"}, None)
    assert now() == before
    following.restore()
    following._host.close()
    assert knobs._lock is not None
    knobs._lock.release()
