"""This machine and one over ssh behave alike; a failing ssh is one line with its fix."""

from __future__ import annotations

import errno
import fcntl
import getpass
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pgassay.errors import TargetError
from pgassay.server.hosts import ssh as ssh_host
from pgassay.server.hosts import ssh_connection
from pgassay.server.hosts.host import Host, HostUnreachable, NoLocks, is_there, text_of
from pgassay.server.hosts.local import LocalHost
from pgassay.server.hosts.ssh import SshHost
from pgassay.server.hosts.ssh_connection import PREFIX
from support.hosts.sshd import HOST, Sshd
from support.servers.lab import is_root, wait_until

ODD = "a 'b' \"c\" $(touch /tmp/pgassay-injected) `id` ;& \\ *"


@pytest.fixture
def sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory in which the ssh connections of this test keep theirs."""
    folder = Path("/tmp") / f"pgassay-t{os.getpid()}"  # noqa: S108 (a socket's path is short)
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


@pytest.fixture(params=["here", "ssh"])
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    if request.param == "ssh":
        request.getfixturevalue("ssh_config")
    host: Host = LocalHost() if request.param == "here" else SshHost(HOST)
    yield host
    host.close()


def test_a_command_gets_its_arguments_and_input_and_returns_its_status(host: Host) -> None:
    done = host.run(["printf", "%s|", ODD, "", "x\ny"])
    assert done.stdout == f"{ODD}||x\ny|"
    assert not Path("/tmp/pgassay-injected").exists()  # noqa: S108
    assert host.run(["cat"], text="привет\n").stdout == "привет\n"
    done = host.run(["sh", "-c", "echo no >&2; exit 255"])
    assert (done.returncode, done.stderr) == (255, "no\n")
    assert host.run(["no-such-program"]).returncode in (126, 127)
    assert host.uid == os.geteuid()


def test_a_command_is_ended_at_its_time_limit(host: Host) -> None:
    with pytest.raises(TargetError, match=r"`sleep`.* did not end within 0.5 s"):
        host.run(["sleep", "60"], limit_s=0.5)
    assert host.run(["echo", "still here"]).stdout == "still here\n"


def test_files_are_read_written_and_replaced(host: Host, tmp_path: Path) -> None:
    path = tmp_path / ODD.replace("/", "_")
    assert not is_there(host, path)
    with pytest.raises(FileNotFoundError):
        host.write(path, "no such file")
    host.replace(path, "first\n", getpass.getuser())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    host.replace(path, "first\n", getpass.getuser())
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert host.read(path) == b"first\n"
    assert host.read(path, 2) == b"rst\n"
    host.write(path, "FI")
    assert path.read_text() == "FIrst\n"
    host.check_writable(path)
    assert path.read_text() == "FIrst\n"
    assert host.names(tmp_path) == [path.name]
    assert text_of(host, path) == "FIrst"


def test_facts_of_files_directories_devices_and_links(host: Host, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(folder)
    facts = host.facts(tmp_path / "link")
    assert facts.is_directory
    assert not facts.is_file
    assert (facts.uid, facts.account) == (os.geteuid(), getpass.getuser())
    (folder / "empty").touch()
    assert host.facts(folder / "empty").is_file
    assert not host.facts(Path("/dev/null")).is_file
    assert host.resolve(tmp_path / "link") == folder.resolve()
    with pytest.raises(FileNotFoundError):
        host.resolve(tmp_path / "nowhere")


@pytest.fixture
def account_with_a_blank(tmp_path: Path) -> Iterator[str]:
    """A name that accounts of a Windows domain may have."""
    if not is_root() or shutil.which("useradd") is None:
        pytest.skip("only root can make an account")
    name = f"pgassay t{os.getpid()}"
    words = ["useradd", "--badname", "--no-create-home", name]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no such account can be made here: {done.stderr.strip()}")
    try:
        yield name
    finally:
        subprocess.run(["userdel", "--force", name], check=True, capture_output=True)


def test_an_account_may_have_a_blank_in_its_name(
    host: Host, account_with_a_blank: str, tmp_path: Path
) -> None:
    path = tmp_path / "its own"
    path.touch()
    shutil.chown(path, account_with_a_blank)
    facts = host.facts(path)
    assert (facts.account, facts.is_file, facts.size) == (account_with_a_blank, True, 0)
    assert host.run(["id", "-un"], user=account_with_a_blank).stdout == f"{facts.account}\n"


HANGING = """\
#!/bin/sh
case "$SSH_ORIGINAL_COMMAND" in
*{at}*) exec cat >/dev/null ;;
*) exec sh -c "$SSH_ORIGINAL_COMMAND" ;;
esac
"""


@pytest.mark.parametrize("at", ["pgassay-connected", "flock"])
def test_a_remote_shell_that_hangs_is_reported_after_a_limit(
    ssh_config: Sshd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, at: str
) -> None:
    """This happens when the home directory of the account is on a lost file system."""
    program = tmp_path / "hanging"
    program.write_text(HANGING.format(at=at))
    program.chmod(0o755)
    monkeypatch.setattr(ssh_connection, "ANSWER_LIMIT_S", 0.7)
    host = SshHost(HOST)
    try:
        with ssh_config.logins_run(program), pytest.raises(HostUnreachable) as caught:
            host.lock(tmp_path)
        assert str(caught.value).startswith(f"ssh {HOST}: no shell there has answered within 0.7 s")
    finally:
        host.close()
    wait_until(lambda: ssh_config.sessions() == 0, "its connection has ended")


def test_an_error_of_the_kernel_is_shown_in_its_words(host: Host) -> None:
    with pytest.raises(OSError, match=r"Permission denied|Read-only|not permitted"):
        host.check_writable(Path("/proc/sys/kernel/version"))
    with pytest.raises(OSError, match=r"."):
        host.read(Path("/proc/self/mem"))


def test_a_lock_has_one_holder_until_it_is_released(host: Host, tmp_path: Path) -> None:
    lock = host.lock(tmp_path)
    assert lock is not None
    assert lock.held()
    assert host.lock(tmp_path) is None
    assert LocalHost().lock(tmp_path) is None, "a run on the host itself respects it too"
    lock.release()
    again = host.lock(tmp_path)
    assert again is not None
    again.release()


def test_a_file_system_without_locks_is_reported_as_such_and_not_as_another_run(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    said = f"flock: {tmp_path}: {os.strerror(errno.ENOTSUP)}"
    if host.name:
        monkeypatch.setattr(ssh_host, "_KEPT", f"echo '{said}' >&2; exit 71")
    else:
        monkeypatch.setattr(fcntl, "flock", flock)
    words = rf"{tmp_path} of {host.label}: its file system has no locks \(Operation not supported\)"
    with pytest.raises(NoLocks, match=words):
        host.lock(tmp_path)


@pytest.mark.skipif(not is_root(), reason="only root may become another")
def test_a_command_runs_as_another_account(host: Host) -> None:
    assert host.run(["id", "-un"], user="nobody").stdout == "nobody\n"


def test_a_lost_connection_is_reported_and_the_next_command_opens_another(
    ssh_config: Sshd, tmp_path: Path
) -> None:
    host = SshHost(HOST)
    try:
        lock = host.lock(tmp_path)
        assert lock is not None
        ssh_config.cut()
        wait_until(lambda: not lock.held(), "the lock ends with its connection")
        lock.release()
        assert host.run(["echo", "again"]).stdout == "again\n"
        ssh_config.end()
        with pytest.raises(HostUnreachable, match=rf"^ssh {HOST}: .*; does `ssh {HOST}` work in"):
            host.run(["true"])
        ssh_config.start()
        assert host.run(["echo", "back"]).stdout == "back\n"
    finally:
        if not ssh_config.running:
            ssh_config.start()
        host.close()


@pytest.mark.parametrize(
    ("key", "known", "words"),
    [
        ("other_key", "known", "must work without a password: load the key into ssh-agent"),
        ("user_key", "unknown", f"run `ssh {HOST}` once yourself and accept its key"),
    ],
)
def test_a_refused_login_is_one_line_with_its_fix(
    sshd: Sshd, monkeypatch: pytest.MonkeyPatch, key: str, known: str, words: str
) -> None:
    monkeypatch.setenv("PGASSAY_SSH_CONFIG", str(sshd.config(key, known)))
    host = SshHost(HOST)
    try:
        with pytest.raises(HostUnreachable) as caught:
            host.run(["true"])
    finally:
        host.close()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_host_is_one_line_with_its_fix(ssh_config: Sshd, sockets: Path) -> None:
    host = SshHost("no-such-host.invalid")
    with pytest.raises(HostUnreachable, match=r"Could not resolve .*; is no-such-host.invalid"):
        host.run(["true"])
    host.close()
    assert list(sockets.iterdir()) == []
    sockets.rmdir()


KILLED = """
import sys
from pgassay.server.hosts.ssh import SshHost
host = SshHost(sys.argv[1])
host.lock(__import__("pathlib").Path(sys.argv[2]))
print("up", flush=True)
sys.stdin.read()
"""


def test_a_killed_run_leaves_no_connection_and_no_lock(
    ssh_config: Sshd, sockets: Path, tmp_path: Path
) -> None:
    def sessions() -> Callable[[], bool]:
        return lambda: ssh_config.sessions() == 0

    wait_until(sessions(), "earlier tests' connections end")
    tool = subprocess.Popen(
        [sys.executable, "-c", KILLED, HOST, str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert tool.stdout is not None
    assert tool.stdin is not None
    assert tool.stdout.readline() == b"up\n"
    (directory,) = sockets.iterdir()
    assert directory.name.startswith(PREFIX)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert ssh_config.sessions() > 0
    tool.send_signal(signal.SIGKILL)
    tool.wait()
    tool.stdin.close()
    tool.stdout.close()
    wait_until(sessions(), "the connection of the killed process ends")
    host = SshHost(HOST)
    lock = host.lock(tmp_path)
    assert lock is not None
    lock.release()
    host.close()
    assert list(sockets.iterdir()) == [directory]
    shutil.rmtree(sockets)
