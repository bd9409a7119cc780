"""What is changed on a host now, for whoever comes after a run that was killed.

Enters: knobs about to be written. Leaves: a file that says what was found, and a lock that dies
with its owner. Never: believed after a boot, which the values of the knobs do not outlive either.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pgassay.errors import SetupError, TargetError
from pgassay.target.host import Host, HostLock, is_there
from pgassay.target.local_host import HERE

# Of this kernel's own, so there is nothing to make, to own, or to leave behind.
KERNEL = Path("/proc/sys/kernel")
LOCKED = Path("/proc/sys/vm")
NAME = "host-knobs.json"


@dataclass(frozen=True)
class Written:
    """One knob that was written: what was found, and every value that may be ours."""

    name: str
    path: str
    found: str
    ours: tuple[str, ...]


def host_identity(host: Host = HERE) -> str:
    """This boot of a host."""
    return f"{host.read(KERNEL / 'hostname').decode().strip()} {boot_of(host)}"


def boot_of(host: Host) -> str:
    """The same without the host's name."""
    return host.read(KERNEL / "random" / "boot_id").decode().strip()


def remember(written: Sequence[Written], host: Host = HERE) -> None:
    """Keep what is changed now; nothing changed leaves no file."""
    path = host.cache() / NAME
    try:
        if not written:
            host.remove(path)
            clear(host)
            return
        host.make_directory(path.parent)
        kept = {"host": host_identity(host), "written": [asdict(one) for one in written]}
        host.replace(path, json.dumps(kept))
    except OSError as error:
        raise SetupError(
            f"{path} of {host.label} cannot be written ({error.strerror}), so a killed run could "
            "not be undone by the next; make its folder writable"
        ) from None


def clear(host: Host = HERE) -> None:
    """Where nothing is remembered: what a run that was killed as it wrote has left, and the folder
    where nothing else is in it. The caller holds the lock."""
    path = host.cache() / NAME
    if is_there(host, path.parent):
        host.clear_aside(path)
        host.run(["rmdir", "--", path.parent])


def remembered(host: Host = HERE) -> list[Written]:
    """What a run that is gone has left changed."""
    path = host.cache() / NAME
    try:
        if host.facts(path).uid != host.uid:
            return []
        kept = json.loads(host.read(path))
        if kept["host"] != host_identity(host):
            return []
        return [Written(**{**one, "ours": tuple(one["ours"])}) for one in kept["written"]]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SetupError(
            f"{path} of {host.label} cannot be read ({error}), so what a killed run may have left"
            " there is not known; look at the host's knobs by hand, then remove that file"
        ) from None


def take_lock(host: Host = HERE) -> HostLock:
    """Hold a host's knobs; TargetError where another run does."""
    lock = host.lock(LOCKED)
    if lock is None:
        raise TargetError(
            f"another pgassay run is changing knobs of {host.label}; wait for it to end, or end it"
        )
    return lock


@contextlib.contextmanager
def locked(host: Host = HERE) -> Iterator[None]:
    """The lock for as long as the block lasts."""
    lock = take_lock(host)
    try:
        yield
    finally:
        lock.release()
