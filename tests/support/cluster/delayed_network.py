"""Machines of a slow network, on this one: network namespaces that a switch joins.

Enters: how many machines, how long packets take to them and back. Leaves: addresses, and threads
inside a namespace, whose programs then live there; a cable that can be pulled. Never: changes this
machine's own network but for one interface, which ends with the switch.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest

from support.cluster import network_switch
from support.cluster.network_switch import NEW_NETWORK, THIS_MACHINE

_LIBC = ctypes.CDLL(None, use_errno=True)


class DelayedNetwork:
    """This machine is place 0, those behind the delay are 1 to `machines`; 198.18.0.0/15 is set
    aside for such tests (RFC 2544)."""

    def __init__(self, machines: int, *, there_ms: float, back_ms: float, jitter_ms: float) -> None:
        """Packets from this machine take `there_ms`, those to it `back_ms`, and up to `jitter_ms`
        more; they keep their order."""
        if os.geteuid():
            pytest.skip("only root can make network namespaces")
        asked = [str(number) for number in (machines, there_ms, back_ms, jitter_ms)]
        self._switch = subprocess.Popen(
            [sys.executable, network_switch.__file__, *asked],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._switch.stdout is not None
        ready = self._switch.stdout.readline()
        if not ready:
            why = self._switch.communicate()[1].strip().splitlines()[-1:]
            pytest.skip(f"network namespaces and TUN do not work here: {why}")
        made = json.loads(ready)
        self.net = str(made["net"])
        folder = Path(f"/proc/{self._switch.pid}/fd")
        self._spaces = [Path("/proc/self/ns/net"), *(folder / str(one) for one in made["spaces"])]

    def address(self, place: int) -> str:
        return f"{self.net}.{THIS_MACHINE + place}"

    @contextmanager
    def inside(self, place: int) -> Iterator[None]:
        """This thread, and what it starts, is on that machine; it must come back."""
        with Path("/proc/thread-self/ns/net").open() as before, self._spaces[place].open() as there:
            _joined(there.fileno())
            try:
                yield
            finally:
                _joined(before.fileno())

    def cut(self, place: int) -> None:
        """Nothing reaches that machine any more, and nothing of it comes."""
        assert self._switch.stdin is not None
        self._switch.stdin.write(f"{THIS_MACHINE + place}\n")
        self._switch.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._switch.communicate()


def _joined(space: int) -> None:
    if _LIBC.setns(space, NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "setns")
