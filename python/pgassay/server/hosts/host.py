"""A machine that a server runs on: its commands and its files, wherever it is.

Enters: nothing. Leaves: the `Host` protocol, which knobs, service control and recovery speak; this
machine and one behind ssh pass one contract suite. Never: knows a server or an experiment.
"""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pgassay.refusals.refusal import TargetRefused

Finished = subprocess.CompletedProcess[str]
COMMAND_LIMIT_S = 60.0
REPLACE = (
    'umask 077 && cat > "$1.tmp"'
    ' && if mode=$(stat -L -c %a -- "$1" 2>/dev/null); then chmod "$mode" "$1.tmp"; fi'
    ' && sync "$1.tmp" && mv -f -- "$1.tmp" "$1" && sync "$(dirname -- "$1")"'
)
"""Shell: standard input becomes the file $1, whole or not at all; one that was there keeps its
mode, as in clusters that a group may read."""


class HostUnreachable(TargetRefused):
    """The connection to a host is lost; the outcome of the last command is unknown."""


@dataclass(frozen=True)
class FileFacts:
    """What `stat` says of a file on a host; links are followed."""

    uid: int
    account: str
    """The owner's name, or its number where it has none."""
    size: int
    is_directory: bool
    is_file: bool


class NoLocks(TargetRefused):
    """The error for a file system without locks, where other runs would not be noticed."""

    NUMBERS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)

    def __init__(self, path: Path, label: str, error: OSError) -> None:
        super().__init__("no-locks", path=path, host=label, why=error.strerror)


class HostLock(Protocol):
    """A lock on a host that ends with its owner, and on a remote host with the connection."""

    def held(self) -> bool: ...
    def release(self) -> None: ...


class Host(Protocol):
    """A machine. What a file refuses is an OSError; a lost connection is HostUnreachable."""

    name: str
    """As ssh knows it; empty for this machine."""

    @property
    def label(self) -> str:
        """The host's name in messages: "this host", or the name for ssh."""
        ...

    @property
    def uid(self) -> int:
        """The user id that commands run under there."""
        ...

    def run(
        self,
        words: Sequence[str | Path],
        *,
        text: str = "",
        user: str | None = None,
        limit_s: float = COMMAND_LIMIT_S,
    ) -> Finished:
        """Run a command to its end, in English, with `text` as its input; its status is not judged.

        As another user only where we are root there. TargetError where it does not end in time.
        """
        ...

    def command(self, words: Sequence[str | Path]) -> list[str]:
        """The command to start here, with pipes, that runs `words` there until its input ends."""
        ...

    def read(self, path: Path, offset: int = 0) -> bytes: ...
    def piece(self, path: Path, offset: int, length: int) -> bytes:
        """Returns at most `length` bytes of a file; it follows no link and waits for no pipe."""
        ...

    def write(self, path: Path, text: str) -> None:
        """Write into an existing file with one call, as the kernel's knobs require."""
        ...

    def check_writable(self, path: Path) -> None:
        """Open a file for writing without writing a byte; OSError where that fails."""
        ...

    def replace(self, path: Path, text: str, user: str) -> None:
        """Replace a file's content as that user: synced, renamed into place, with its mode kept."""
        ...

    def facts(self, path: Path) -> FileFacts: ...
    def resolve(self, path: Path) -> Path:
        """The path without links; OSError where it does not exist."""
        ...

    def names(self, directory: Path) -> list[str]: ...
    def lock(self, path: Path) -> HostLock | None:
        """Lock a file or directory; None where another process holds it. Raises NoLocks."""
        ...

    def close(self) -> None: ...


def is_there(host: Host, path: Path) -> bool:
    """Whether a file is there and can be reached."""
    try:
        host.facts(path)
    except OSError:
        return False
    return True


def text_of(host: Host, path: Path) -> str | None:
    """A small file's text without white space around it; None where it cannot be read."""
    try:
        return host.read(path).decode("utf-8", errors="replace").strip()
    except OSError:
        return None


def host_identity(host: Host) -> str:
    """A host's name with the id of its current boot."""
    kernel = Path("/proc/sys/kernel")
    name, boot = host.read(kernel / "hostname"), host.read(kernel / "random" / "boot_id")
    return f"{name.decode().strip()} {boot.decode().strip()}"
