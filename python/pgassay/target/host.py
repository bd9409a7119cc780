"""A machine that a server runs on: its commands and its files, wherever it is.

Enters: nothing. Leaves: the `Host` protocol, which knobs, service control and recovery speak; this
machine and one behind ssh pass one contract suite. Never: knows a server or an experiment.
"""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pgassay.errors import TargetError

Finished = subprocess.CompletedProcess[str]
COMMAND_LIMIT_S = 60.0
REPLACE = (
    'umask 077 && cat > "$1.tmp"'
    ' && if mode=$(stat -L -c %a -- "$1" 2>/dev/null); then chmod "$mode" "$1.tmp"; fi'
    ' && sync "$1.tmp" && mv -f -- "$1.tmp" "$1" && sync "$(dirname -- "$1")"'
)
"""Shell: standard input becomes the file $1, whole or not at all; one that was there keeps its
mode, as in clusters that a group may read."""


class HostUnreachable(TargetError):
    """The way to a host is gone; nothing is known of what it was asked last."""


@dataclass(frozen=True)
class FileFacts:
    """What `stat` tells of a file, links followed."""

    uid: int
    account: str
    """The owner's name, or its number where it has none."""
    size: int
    device: int
    """The file system's device number."""
    special: int
    """The device it is itself, 0 for what is none."""
    is_directory: bool
    is_file: bool


class NoLocks(TargetError):
    """A file system that keeps no locks; nothing is known of other runs there."""

    NUMBERS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)

    def __init__(self, path: Path, label: str, error: OSError) -> None:
        super().__init__(
            f"{path} of {label}: its file system keeps no locks ({error.strerror}), so whether"
            " another pgassay run is at work there cannot be told; mount it with locks, or take"
            " another place"
        )


class HostLock(Protocol):
    """A lock that dies with its owner, and on a remote host with the connection."""

    def held(self) -> bool: ...
    def release(self) -> None: ...


class Host(Protocol):
    """A machine. What a file refuses is an OSError; a lost connection is HostUnreachable."""

    name: str
    """As ssh knows it; empty for this machine."""

    @property
    def label(self) -> str:
        """For people: "this host", or its name."""
        ...

    @property
    def uid(self) -> int:
        """Who our commands are there."""
        ...

    def run(
        self,
        words: Sequence[str | Path],
        *,
        text: str = "",
        user: str | None = None,
        limit_s: float = COMMAND_LIMIT_S,
        environment: Mapping[str, str] | None = None,
    ) -> Finished:
        """Run a command to its end, in English, with `text` as its input; its status is not judged.

        With an `environment` it has that and nothing else, no input, and its own language. No value
        of it is ever on a command line.
        As another user only where we are root there. TargetError where it does not end in time.
        """
        ...

    def command(self, words: Sequence[str | Path]) -> list[str]:
        """What to start here, with pipes, so that a command runs there until its input ends."""
        ...

    def read(self, path: Path, offset: int = 0) -> bytes: ...
    def piece(self, path: Path, offset: int, length: int) -> bytes:
        """At most `length` bytes of a file; through no link, and without waiting for a pipe."""
        ...

    def write(self, path: Path, text: str) -> None:
        """One write into a file that is there, as the kernel's knobs want it."""
        ...

    def check_writable(self, path: Path) -> None:
        """Open for writing, without a byte written."""
        ...

    def replace(self, path: Path, text: str, user: str | None = None) -> None:
        """The file's whole content, synced and renamed into place; its owner's alone."""
        ...

    def make_directory(self, path: Path) -> None:
        """With its parents, where it is not there; its owner's alone."""
        ...

    def remove(self, path: Path) -> None:
        """Where it is there."""
        ...

    def clear_aside(self, path: Path) -> None:
        """Remove what a `replace` of it that was killed has left beside it; for whoever alone
        replaces it."""
        ...

    def facts(self, path: Path) -> FileFacts: ...
    def resolve(self, path: Path) -> Path:
        """Without links; OSError where it is not there."""
        ...

    def names(self, directory: Path) -> list[str]: ...
    def cache(self) -> Path:
        """Where we keep what must outlive a run, and need not outlive a boot."""
        ...

    def lock(self, path: Path) -> HostLock | None:
        """Hold a file or directory; None where somebody else does, NoLocks where none can."""
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
