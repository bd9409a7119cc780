"""The switch of a slow network, a program: `network_switch.py MACHINES THERE_MS BACK_MS JITTER_MS`.

Enters: how many machines, delays; addresses to cut off, by the standard input. Leaves: a line of
JSON, the network and its namespaces, while it runs; packets, late and in their order. Never:
outlives its standard input; needs netem.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import json
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

NEW_NETWORK = 0x40000000
THIS_MACHINE = 1
"""The last byte of its address; those of the others follow."""
_MAKE_INTERFACE, _PACKETS_ONLY = 0x400454CA, 0x1001
_BYTES, _AT_ONCE = 65536, 64
_LIBC = ctypes.CDLL(None, use_errno=True)


def _interface(name: str) -> tuple[int, str]:
    """A TUN interface in the namespace of this process; the kernel numbers `name` with %d."""
    there = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    made = fcntl.ioctl(there, _MAKE_INTERFACE, struct.pack("16sH14x", name.encode(), _PACKETS_ONLY))
    return there, made[:16].rstrip(b"\0").decode()


def _ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True)


def _made(machines: int) -> tuple[str, dict[int, int], list[int]]:
    """The network's first three bytes, the end of each address, the namespaces; the last of these
    is that of this process."""
    end, name = _interface("pgassay%d")
    net = f"198.18.{name.removeprefix('pgassay')}"
    ends, spaces = {THIS_MACHINE: end}, []
    for address in range(THIS_MACHINE, THIS_MACHINE + machines + 1):
        if address > THIS_MACHINE:
            if _LIBC.unshare(NEW_NETWORK):
                raise OSError(ctypes.get_errno(), "unshare")
            spaces.append(os.open("/proc/self/ns/net", os.O_RDONLY))
            ends[address], name = _interface("net0")
            _ip("link set lo up")
        _ip(f"address add {net}.{address}/24 dev {name}")
        _ip(f"link set {name} up txqueuelen 10000")
    return net, ends, spaces


def _switch(ends: dict[int, int], there_s: float, back_s: float, jitter_s: float) -> None:
    """Carry packets until the standard input ends; a line of it is an address to cut off."""
    due: list[tuple[float, int, int, bytes]] = []
    latest: dict[tuple[int, int], float] = {}
    cut: set[int] = set()
    number = 0
    heard: list[Any] = [*ends.values(), sys.stdin]
    while True:
        wait_s = max(due[0][0] - time.monotonic(), 0.0) if due else None
        for ready in select.select(heard, [], [], wait_s)[0]:
            if ready is sys.stdin:
                line = sys.stdin.readline()
                if not line:
                    return
                cut.add(int(line))
                continue
            for packet in _packets(ready):
                way = packet[15], packet[19]  # the last bytes of an IPv4 packet's addresses
                if packet[0] >> 4 != 4 or cut.intersection(way) or way[1] not in ends:
                    continue
                slow_s = there_s * (way[0] == THIS_MACHINE) + back_s * (way[1] == THIS_MACHINE)
                at = time.monotonic() + slow_s + jitter_s * random.random()
                latest[way] = max(latest.get(way, 0.0), at)
                number += 1
                heapq.heappush(due, (latest[way], number, ends[way[1]], packet))
        while due and due[0][0] <= time.monotonic():
            _, _, end, packet = heapq.heappop(due)
            try:
                os.write(end, packet)
            except OSError:  # its queue is full, or it is down: networks lose packets
                continue


def _packets(end: Any) -> Iterator[bytes]:
    for _ in range(_AT_ONCE):
        try:
            yield os.read(end, _BYTES)
        except BlockingIOError:
            return


if __name__ == "__main__":
    count, *ms = sys.argv[1:]
    _net, _ends, _spaces = _made(int(count))
    print(json.dumps({"net": _net, "spaces": _spaces}), flush=True)
    _switch(_ends, *(float(one) / 1e3 for one in ms))
