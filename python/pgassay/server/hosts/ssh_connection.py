"""One ssh connection to a host, shared by everything that is asked of it.

Enters: a host as ssh knows it. Leaves: programs started over there, one connection for all, gone
when it is closed and also when we are killed. Never: asks for a password or accepts a host key:
the user's own ssh configuration does.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from pgassay.refusals.refusal import SetupRefused
from pgassay.server.hosts.host import HostUnreachable

CONFIG_VARIABLE = "PGASSAY_SSH_CONFIG"
PREFIX = "pgassay-ssh-"
CONNECT_LIMIT_S = 15
ANSWER_LIMIT_S = 60.0
"""For the first output, which comes at once where a login works: a shell may hang on a file system
over there, and the connection stays alive all the same."""
END_LIMIT_S = 3.0
LOST = 255
"""ssh's own exit status where the connection is at fault."""
LONGEST_DIRECTORY = 60
"""A socket's path has 104 bytes or so, and ssh puts 19 behind the name it is given."""

# What must not be taken from the user's configuration: it would add to the connection's purpose.
_ALWAYS = {
    "BatchMode": "yes",
    "ClearAllForwardings": "yes",
    "ConnectTimeout": str(CONNECT_LIMIT_S),
    "ControlPersist": "no",
    "ForkAfterAuthentication": "no",
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "LogLevel": "ERROR",
    "PermitLocalCommand": "no",
    "RemoteCommand": "none",
    "RequestTTY": "no",
    "ServerAliveCountMax": "3",
    "ServerAliveInterval": "5",
    "StdinNull": "no",
}
_CONNECTED = "pgassay-connected"
# Its session ends when our end of its input does, and with it the connection.
_GREETING = f"echo {_CONNECTED} $(id -u); exec cat >/dev/null"
_REASONS = {
    r"Host key verification failed|REMOTE HOST IDENTIFICATION": "ssh-key-unknown",
    r"Permission denied|Too many authentication": "ssh-asks-for-a-password",
    r"Could not resolve": "ssh-host-unknown",
    r"Connection refused|timed out|No route|unreachable": "ssh-failed",
    r"Bad owner or permissions|configuration option": "ssh-configuration-wrong",
}
"""What ssh says, and the code of its refusal."""


class SshConnection:
    """The connection to one host; made again if it was lost between two commands."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.uid = -1
        """Who we are over there; known once connected."""
        self._directory: Path | None = None
        self._master: subprocess.Popen[bytes] | None = None
        self._connecting = threading.Lock()

    def start(self, command: str) -> subprocess.Popen[bytes]:
        """Start a shell command over there, with pipes; HostUnreachable without an answer."""
        return _spawn(self.command(command), stderr=subprocess.PIPE)

    def command(self, command: str) -> list[str]:
        """The words of a program here that runs a shell command over there.

        They stay good when the connection is made anew.
        """
        with self._connecting:
            directory = self._connect()
        # If the shared connection has just been lost, this client must not open another.
        words = _words(directory, {"ControlMaster": "no", "ProxyCommand": "false"})
        return [*words, "--", self.name, command]

    def lost(self, status: int) -> bool:
        """Returns whether a client's exit status means that the connection is gone."""
        master = self._master
        if status != LOST or master is None:
            return status == LOST
        with contextlib.suppress(subprocess.TimeoutExpired):
            master.wait(timeout=2.0)
        return master.poll() is not None

    @contextlib.contextmanager
    def answering(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """Reads the first output while the block lasts; raises HostUnreachable, with the program
        ended, where none came in time."""
        over = threading.Event()

        def end() -> None:
            over.set()
            process.kill()

        limit_s = ANSWER_LIMIT_S
        timer = threading.Timer(limit_s, end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
        if over.is_set():
            raise HostUnreachable("ssh-silent", host=self.name, seconds=limit_s)

    def unreachable(self, words: str) -> HostUnreachable:
        """Returns the error for a failed ssh: one line with its fix."""
        lines = [line.strip() for line in words.splitlines() if line.strip(" @\r")]
        telling = [line for line in lines if any(re.search(p, line) for p in _REASONS)]
        reason = (telling or lines or ["the connection was lost"])[-1]
        codes = (code for pattern, code in _REASONS.items() if re.search(pattern, words))
        return HostUnreachable(next(codes, "ssh-failed"), host=self.name, why=reason)

    def close(self) -> None:
        """Ends the connection and removes its directory; it may be called twice."""
        with self._connecting:
            master, self._master = self._master, None
            if master is not None:
                _end(master)
            if self._directory is not None:
                shutil.rmtree(self._directory, ignore_errors=True)
                self._directory = None

    def _connect(self) -> Path:
        """Connect if need be; the directory of the connection's socket."""
        if self._directory is None:
            self._directory = _private_directory()
        if self._master is not None and self._master.poll() is None:
            return self._directory
        if self._master is not None:
            _end(self._master)
        self._master = None
        (self._directory / "c").unlink(missing_ok=True)
        errors = self._directory / "errors"
        with errors.open("w") as file:
            words = _words(self._directory, {"ControlMaster": "yes"})
            master = _spawn([*words, "--", self.name, _GREETING], file.fileno())
        try:
            self.uid = self._greeted(master, errors)
        except BaseException:
            _end(master)
            raise
        self._master = master
        return self._directory

    def _greeted(self, master: subprocess.Popen[bytes], errors: Path) -> int:
        """Wait for the first line; a login script may say something before it."""
        assert master.stdout is not None  # noqa: S101 (a pipe was asked for)
        with self.answering(master):
            for line in master.stdout:
                if line.startswith(_CONNECTED.encode()):
                    return int(line.split()[1])
        raise self.unreachable(errors.read_text("utf-8", errors="replace"))


def quoted(words: Sequence[str | Path]) -> str:
    """Returns words as one line for a POSIX shell, each word one word."""
    return shlex.join(str(word) for word in words)


def _words(directory: Path, options: dict[str, str]) -> list[str]:
    program = shutil.which("ssh")
    if program is None:
        raise SetupRefused("no-ssh")
    config = os.environ.get(CONFIG_VARIABLE)
    chosen = _ALWAYS | options | {"ControlPath": str(directory / "c")}
    return [
        program,
        *(["-F", config] if config else []),
        *(word for name, value in chosen.items() for word in ("-o", f"{name}={value}")),
    ]


def _spawn(words: list[str], stderr: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        start_new_session=True,  # a terminal's Ctrl-C must not end it before we have restored
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait briefly for ssh to end, then kill it."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(timeout=END_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _private_directory() -> Path:
    """A directory for the connection's socket, whose path has to be short."""
    own = os.environ.get("XDG_RUNTIME_DIR", "")
    places = [Path(own)] if own else []
    places += [Path(tempfile.gettempdir()), Path("/tmp")]  # noqa: S108 (mkdtemp makes the name)
    base = next(
        place
        for place in places
        if len(os.fsencode(place)) <= LONGEST_DIRECTORY and os.access(place, os.W_OK | os.X_OK)
    )
    return Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
