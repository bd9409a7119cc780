"""One load with the samplers of an experiment beside it, or without them, as a process of its own.

Enters: a JSON object as the first argument: the engine's configuration, the server's version, and
the sources of its host, or null for no samplers. Leaves: the result on standard output, with what
the samplers took, and if asked how many bytes a trial's files of it have. Never: stores a sample.
"""

from __future__ import annotations

import json
import sys

from bench.sampling.samplers import opened
from pgassay import _core
from pgassay.samples.storage.tables import TABLES, as_table, parquet

asked = json.loads(sys.argv[1])
load = _core.Load(json.dumps(asked["load"]))
load.connect()
sampler = None if asked["host"] is None else opened(asked, load)
load.start()
while not load.wait(60.0):
    pass
cost = None
if sampler is not None:
    sampler.stop()
    cost = json.loads(sampler.cost())
    # Packing takes memory that is not the samplers'.
    samples = {
        "load": load.intervals,
        "waits": sampler.take_waits,
        "postgres": sampler.take_counters,
        "host": sampler.take_host,
    }
    for name, take in samples.items() if asked["stored"] else ():
        columns = take()
        cost[f"{name}_bytes"] = len(parquet(as_table(columns, TABLES[name])))
print(json.dumps({**json.loads(load.result()), "sampler": cost}))
