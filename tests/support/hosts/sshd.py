"""A real sshd on loopback with its own keys and configuration, for the current user.

Enters: a private directory. Leaves: a daemon that can be ended and started again, and the ssh
configuration that reaches it. Never: reads or writes a ~/.ssh.
"""

from __future__ import annotations

import getpass
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil

from support.packages import needs
from support.servers.lab import is_root, wait_until

HOST = "lab-host"
PRIVILEGE_SEPARATION = Path("/run/sshd")
DAEMON = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
PidFile none
AuthorizedKeysFile {folder}/user_key.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
SetEnv {environment}
"""
CLIENT = """
Host {host}
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/{key}
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/{known}
  GlobalKnownHostsFile none
  StrictHostKeyChecking yes
"""


class Sshd:
    """The daemon; `end` and `start` stop it and start it again on the same port."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        needs("openssh-client")
        self._program = needs("openssh-server")
        self._folder = folder
        for name in ("host_key", "user_key", "other_key"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(words, check=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        # An empty home, or every command would run the tester's ~/.bashrc.
        given = {"HOME": str(folder), **environment}
        (folder / "sshd_config").write_text(
            DAEMON.format(
                port=self.port, folder=folder,
                environment=" ".join(f"{name}={value}" for name, value in given.items()),
            )
        )  # fmt: skip
        key = (folder / "host_key.pub").read_text()
        (folder / "known").write_text(f"[127.0.0.1]:{self.port} {key}")
        (folder / "unknown").touch()
        self._process: subprocess.Popen[bytes] | None = None

    def config(self, key: str = "user_key", known: str = "known", user: str | None = None) -> Path:
        """The configuration of a client; with another key or without known hosts it must fail."""
        path = self._folder / f"config-{key}-{known}-{user or ''}"
        path.write_text(
            CLIENT.format(
                host=HOST, port=self.port, user=user or getpass.getuser(), folder=self._folder,
                key=key, known=known,
            )
        )  # fmt: skip
        return path

    def start(self) -> None:
        log = (self._folder / "log").open("ab")
        self._process = subprocess.Popen(
            [self._program, "-D", "-e", "-f", str(self._folder / "sshd_config")],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        log.close()
        wait_until(self._answers, "sshd answers")

    @contextmanager
    def logins_run(self, program: Path) -> Iterator[None]:
        """Meanwhile every login runs that program; SSH_ORIGINAL_COMMAND has the command."""
        keys = self._folder / "user_key.pub"
        plain = keys.read_text()
        keys.write_text(f'command="{program}" {plain}')
        try:
            yield
        finally:
            keys.write_text(plain)

    @property
    def running(self) -> bool:
        return self._process is not None

    def sessions(self) -> int:
        """How many processes serve connections."""
        return len(self._serving())

    def _serving(self) -> list[psutil.Process]:
        assert self._process is not None
        children = psutil.Process(self._process.pid).children(recursive=True)
        return [child for child in children if child.name().startswith("sshd")]

    def cut(self) -> None:
        """End every connection; the daemon goes on."""
        serving = self._serving()
        assert serving, "there is no connection to cut"
        for child in serving:
            child.kill()
        psutil.wait_procs(serving, timeout=10)

    def end(self) -> None:
        """End the daemon and every connection."""
        if self._process is None:
            return
        for child in self._serving():
            child.kill()
        self._process.terminate()
        self._process.wait(timeout=10)
        self._process = None

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@contextmanager
def loopback_sshd(folder: Path, environment: Mapping[str, str]) -> Iterator[Sshd]:
    """A running daemon; `environment` is what its sessions are given."""
    if is_root():
        # As the package's own service makes it; another test's daemon may be using it, so it stays.
        PRIVILEGE_SEPARATION.mkdir(mode=0o755, exist_ok=True)
    daemon = Sshd(folder, environment)
    try:
        daemon.start()
        yield daemon
    finally:
        daemon.end()
