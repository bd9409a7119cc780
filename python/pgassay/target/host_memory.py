"""What is changed on this host now, for whoever comes after a run that was killed.

Enters: knobs about to be written. Leaves: a file that says what was found, and a lock that dies
with its owner. Never: believed after a boot, which the values of the knobs do not outlive either.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs

from pgassay.errors import SetupError, TargetError

# Of this kernel's own, so there is nothing to make, to own, or to leave behind.
LOCKED = Path("/proc/sys/vm")
NAME = "host-knobs.json"


@dataclass(frozen=True)
class Written:
    """One knob that was written: what was found, and every value that may be ours."""

    name: str
    path: str
    found: str
    ours: tuple[str, ...]


def host_identity() -> str:
    """This boot of this host."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{platform.node()} {boot}"


def remember(written: Sequence[Written]) -> None:
    """Keep what is changed now; nothing changed leaves no file."""
    path = _file()
    try:
        if not written:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        kept = {"host": host_identity(), "written": [asdict(one) for one in written]}
        aside.write_text(json.dumps(kept), "utf-8")
        aside.replace(path)
    except OSError as error:
        raise SetupError(
            f"{path} cannot be written ({error.strerror}), so a killed run could not be undone "
            "by the next; make its folder writable"
        ) from None


def remembered() -> list[Written]:
    """What a run that is gone has left changed."""
    try:
        if _file().stat().st_uid != os.geteuid():
            return []
        kept = json.loads(_file().read_text("utf-8"))
        if kept["host"] != host_identity():
            return []
        return [Written(**{**one, "ours": tuple(one["ours"])}) for one in kept["written"]]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def take_lock() -> int:
    """Hold the host's knobs; TargetError where another run does."""
    descriptor = os.open(LOCKED, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise TargetError(
            "another pgassay run is changing knobs of this host; wait for it to end, or end it"
        ) from None
    return descriptor


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """The lock for as long as the block lasts."""
    descriptor = take_lock()
    try:
        yield
    finally:
        os.close(descriptor)


def _file() -> Path:
    if os.geteuid() == 0:
        return Path("/run/pgassay") / NAME
    return platformdirs.user_cache_path("pgassay") / NAME
