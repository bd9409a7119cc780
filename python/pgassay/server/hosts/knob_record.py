"""The knob record: what runs have written to knobs of a host and not yet put back.

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
from pgassay.server.hosts.host import Host, HostLock, is_there
from pgassay.server.hosts.local import HERE

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
    """A host's name with the id of its current boot."""
    return f"{host.read(KERNEL / 'hostname').decode().strip()} {boot_of(host)}"


def boot_of(host: Host) -> str:
    """The id of a host's current boot."""
    return host.read(KERNEL / "random" / "boot_id").decode().strip()


def write_knobs(written: Sequence[Written], host: Host = HERE) -> None:
    """The record with these knobs; without any, no file is left."""
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
            f"{path} of {host.label} cannot be written ({error.strerror}), so a later run could "
            "not learn what this one has changed; make its folder writable"
        ) from None


def clear(host: Host = HERE) -> None:
    """Remove partial files of the record, and its folder if it is empty. The caller holds the
    lock."""
    path = host.cache() / NAME
    if is_there(host, path.parent):
        host.remove_partial_files(path)
        host.run(["rmdir", "--", path.parent])


def recorded_knobs(host: Host = HERE) -> list[Written]:
    """Knobs that a killed run has written and not put back."""
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
            f"{path} of {host.label} cannot be read ({error}), so it is unknown whether a killed"
            " run has changed knobs there; compare them with what you expect, then remove that file"
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
    """Hold the lock for the length of a block."""
    lock = take_lock(host)
    try:
        yield
    finally:
        lock.release()
