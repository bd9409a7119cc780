"""The samplers of an experiment in a process of their own, which may be stopped and continued.

Enters: a JSON object as the first argument: the connection, the server's version, the sources of
its host. Leaves: a line on standard output once they are at work; they end with standard input.
Never: keeps a sample for longer than a second.
"""

from __future__ import annotations

import json
import select
import sys
from collections.abc import Mapping
from typing import Any

from pgassay import _core
from pgassay.server.protocol import ConnectionParameters
from pgassay.trials.host.host_sources import HostSources
from pgassay.trials.sampling.samplers import open_sampler


def opened(asked: Mapping[str, Any], load: _core.Load | None) -> _core.Sampler:
    """At work, with what one process hands to another as JSON."""
    host: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in asked["host"].items()
    }
    sampler, _ = open_sampler(
        ConnectionParameters(**asked["connection"]),
        asked["version_num"],
        load=load,
        host=HostSources(**host),
    )
    return sampler


def main() -> None:
    """Sample until standard input ends."""
    sampler = opened(json.loads(sys.argv[1]), None)
    print("at work", flush=True)
    while not select.select([sys.stdin], [], [], 1.0)[0]:
        for take in (sampler.take_waits, sampler.take_counters, sampler.take_host):
            take()
    sampler.stop()


if __name__ == "__main__":
    main()
