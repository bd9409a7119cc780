"""The lock on a host's knobs: one run at a time changes them.

Enters: a host. Leaves: a lock that ends with its owner, or a TargetError. Never: makes a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgassay.errors import TargetError
from pgassay.server.hosts.host import Host, HostLock
from pgassay.server.hosts.local import HERE

LOCKED = Path("/proc/sys/vm")


def take_lock(host: Host = HERE) -> HostLock:
    """Lock a host's knobs; TargetError where another run has the lock."""
    lock = host.lock(LOCKED)
    if lock is None:
        raise TargetError(
            f"another pgassay run is changing knobs of {host.label}; wait for it to end, or end it"
        )
    return lock


@contextmanager
def locked(host: Host = HERE) -> Iterator[None]:
    """Hold the lock for the length of a block."""
    lock = take_lock(host)
    try:
        yield
    finally:
        lock.release()
