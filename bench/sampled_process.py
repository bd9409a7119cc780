"""One load with the samplers of an experiment beside it, or without them, as a process of its own.

Enters: a JSON object as the first argument: the engine's configuration, the server's version, and
the sources of its host, or null for no samplers. Leaves: the result on standard output, with what
the samplers took. Never: stores a sample.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pgassay import _core
from pgassay.target.protocol import ConnectionParameters
from pgassay.trials.host_sources import HostSources
from pgassay.trials.sampling import open_sampler

asked = json.loads(sys.argv[1])
load = _core.Load(json.dumps(asked["load"]))
load.connect()
sampler = None
if asked["host"] is not None:
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
load.start()
while not load.wait(60.0):
    pass
cost = None
if sampler is not None:
    sampler.stop()
    cost = json.loads(sampler.cost())
print(json.dumps({**json.loads(load.result()), "sampler": cost}))
