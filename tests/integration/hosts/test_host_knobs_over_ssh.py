"""Knobs of a host over ssh are put back like those of this one, also after a lost connection."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pgassay.errors import RestoreFailed, TargetError
from pgassay.server.hosts.host import host_identity
from pgassay.server.hosts.ssh import SshHost
from pgassay.server.knobs.host_knobs import HostKnobs, recover_host
from pgassay.server.knobs.knob_files import find_knob, locked
from pgassay.server.undo.change_record import recorded
from support.hosts.sshd import HOST, Sshd
from support.refusals import refused
from support.runs.changes import knobs_in
from support.servers.lab import RecordingJournal, wait_until

SWAP = "vm.swappiness"


def now() -> str:
    return find_knob(SWAP, None).read()


def knobs_are_free() -> bool:
    try:
        with locked():
            return True
    except TargetError:
        return False


@pytest.fixture
def host(ssh_config: Sshd, knobs_alone: None) -> Iterator[SshHost]:
    """The host over ssh; the knob is put back also when a test fails."""
    before = now()
    host = SshHost(HOST)
    try:
        find_knob(SWAP, None, host).check(before)
        wait_until(knobs_are_free, "other tests are done with the knobs")
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
    (change,) = knobs_in(journal.changes)
    assert (change.host, change.what) == (HOST, f"{SWAP} of {HOST}")
    with refused("knobs-in-use", host="this host"):
        HostKnobs(RecordingJournal()).check({SWAP: wanted}, None)
    knobs.restore()
    assert now() == before
    assert journal.open == []


def test_a_knob_of_a_host_that_does_not_answer_is_reported_and_recovered_later(
    host: SshHost, ssh_config: Sshd
) -> None:
    journal = RecordingJournal()
    before, wanted = now(), str(int(now()) + 1)
    knobs = HostKnobs(journal, host)
    knobs.check({SWAP: wanted}, None)
    knobs.apply({SWAP: wanted}, None)
    ssh_config.end()
    try:
        with pytest.raises(RestoreFailed, match=rf"ssh {HOST}: .*yourself: echo {before} > /proc"):
            knobs.restore()
    finally:
        ssh_config.start()
    assert knobs._lock is not None
    knobs._lock.release()
    wait_until(knobs_are_free, "the lock over there is released")
    assert now() == wanted
    again = SshHost(HOST)
    assert recover_host(knobs_in(journal.open), journal, again) == []
    assert now() == before
    assert journal.open == []
    assert recorded(host_identity(again)) == []
    again.close()


def test_the_next_run_refuses_a_host_that_a_killed_run_has_changed(
    host: SshHost, ssh_config: Sshd
) -> None:
    journal = RecordingJournal()
    before, wanted = now(), str(int(now()) + 1)
    knobs = HostKnobs(journal, host)
    knobs.check({SWAP: wanted}, None)
    knobs.apply({SWAP: wanted}, None)
    ssh_config.cut()  # a killed run leaves a changed knob, but no connection and no lock
    wait_until(knobs_are_free, "the lock over there is released")
    following = HostKnobs(RecordingJournal(), SshHost(HOST))
    with pytest.raises(TargetError, match=f"was killed while it had changed {HOST}"):
        following.check({"vm.vfs_cache_pressure": "100"}, None)
    following.restore()
    assert recover_host(knobs_in(journal.open), journal, following._host) == []
    assert now() == before
    following._host.close()
    assert knobs._lock is not None
    knobs._lock.release()
