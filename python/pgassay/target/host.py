"""A machine that a server runs on: its commands and its files, wherever it is.

Enters: nothing. Leaves: the `Host` protocol, which knobs, service control and recovery speak; this
machine and one behind ssh pass one contract suite. Never: knows a server or an experiment.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pgassay.errors import TargetError

Finished = subprocess.CompletedProcess[str]
COMMAND_LIMIT_S = 60.0
REPLACE = (
    'umask 077 && cat > "$1.tmp" && sync "$1.tmp" && mv -f -- "$1.tmp" "$1"'
    ' && sync "$(dirname -- "$1")"'
)
"""Shell: standard input becomes the file $1, whole or not at all."""


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
    ) -> Finished:
        """Run a command to its end, in English, with `text` as its input; its status is not judged.

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

    def facts(self, path: Path) -> FileFacts: ...
    def resolve(self, path: Path) -> Path:
        """Without links; OSError where it is not there."""
        ...

    def names(self, directory: Path) -> list[str]: ...
    def cache(self) -> Path:
        """Where we keep what must outlive a run, and need not outlive a boot."""
        ...

    def lock(self, path: Path) -> HostLock | None:
        """Hold a file or directory; None where somebody else does."""
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
