"""On a host over ssh an account whose only right is sudo is enough."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.server.existing.target import ExistingTarget
from pgassay.server.hosts.ssh import SshHost
from pgassay.trials.guards.fingerprint import take_fingerprint
from support.hosts.sshd import HOST, Sshd, loopback_sshd
from support.hosts.sudoer import RULES, sudoer
from support.refusals import refused
from support.runs.targets import ACCESS, state_of
from support.servers.debian import CONF_ROOT, DebianServer
from support.servers.lab import RecordingJournal


@pytest.fixture(scope="module")
def account_there() -> Iterator[str]:
    with sudoer(kept=CONF_ROOT) as name:
        yield name


@pytest.fixture(scope="module")
def daemon(servers_base: Path, debian: DebianServer, account_there: str) -> Iterator[Sshd]:
    """An sshd with authorised keys that the account can read, unlike files in pytest's folders."""
    folder = Path(tempfile.mkdtemp(prefix="sshd-", dir=servers_base))
    folder.chmod(0o711)
    with loopback_sshd(folder, {CONF_ROOT: str(debian.conf)}) as found:
        yield found


@pytest.fixture(autouse=True)
def config(daemon: Sshd, account_there: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGASSAY_SSH_CONFIG", str(daemon.config(user=account_there)))


def target(server: DebianServer, journal: RecordingJournal, *, sudo: bool) -> ExistingTarget:
    return ExistingTarget(
        server.dsn(), journal, allow_changes=True, accept=["commits", "sessions"],
        access=replace(ACCESS["ssh"], sudo=sudo),
    )  # fmt: skip


def test_commands_and_files_are_those_of_root_or_of_another_account(account_there: str) -> None:
    with closing(SshHost(HOST)) as plain, closing(SshHost(HOST, sudo=True)) as host:
        assert plain.run(["id", "-un"]).stdout.strip() == account_there
        assert plain.uid > 0
        rule = RULES / account_there
        with pytest.raises(PermissionError):
            plain.read(rule)
        assert host.uid == 0
        assert host.read(rule).startswith(b"Defaults")
        assert host.piece(rule, 0, 8) == b"Defaults"
        assert host.run(["id", "-un"]).stdout.strip() == "root"
        assert host.run(["id", "-un"], user="postgres").stdout.strip() == "postgres"
        assert host.run(["cat"], text="through it\n", user="postgres").stdout == "through it\n"
        lock = host.lock(Path("/proc/sys"))
        assert lock is not None
        with closing(SshHost(HOST, sudo=True)) as other:
            assert other.lock(Path("/proc/sys")) is None
        lock.release()


def test_a_server_is_restarted_and_restored_through_sudo(
    debian: DebianServer, journal: RecordingJournal
) -> None:
    found = state_of(debian)
    with closing(target(debian, journal, sudo=True)) as opened:
        facts = opened.open()
        opened.check_settings({"shared_buffers": "24MB"})
        opened.prepare(lambda session: None, {})
        assert opened.reset({"shared_buffers": "24MB"}).settings["shared_buffers"] == "24MB"
        fingerprint = take_fingerprint(opened, facts)
        assert fingerprint.host is not None
        assert fingerprint.host.disk_used is not None
        assert fingerprint.postmaster is not None
    assert state_of(debian) == found
    assert journal.open == []


def test_without_sudo_the_error_names_the_key(
    debian: DebianServer, journal: RecordingJournal
) -> None:
    with (
        closing(target(debian, journal, sudo=False)) as opened,
        refused("data-directory-file-closed"),
    ):
        opened.open()


def test_an_account_without_the_right_is_shown_the_error_of_sudo(
    debian: DebianServer, journal: RecordingJournal, account_there: str
) -> None:
    rule = RULES / account_there
    text = rule.read_text()
    rule.write_text("")
    try:
        with (
            closing(target(debian, journal, sudo=True)) as opened,
            refused("sudo-refused") as caught,
        ):
            opened.open()
    finally:
        rule.write_text(text)
    assert "\n" not in str(caught.value)
