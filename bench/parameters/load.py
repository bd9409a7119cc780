"""One load in its own process, with or without a file of parameters.

Enters: script, file, clients, seconds and place of the server, as JSON in the first argument.
Leaves: CPU time of the engine for each transaction, and the most memory that the process had.
Never: imports more than such a load needs.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from pgassay.plan.steps import Step
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.workload.folder import Scenario
from pgassay.spec.workload.parameters import parameter_file
from pgassay.trials.load.engine import LoadRequest, open_load

asked = json.loads(sys.argv[1])
file = None if asked["file"] is None else parameter_file(Path(asked["file"]), "random")
scenario = Scenario("s", "s.sql", asked["script"], 1.0, parameters=file)
step = Step(asked["clients"], asked["seconds"], measured=True)
load = open_load(LoadRequest([scenario], [step], {}, seed=1), ConnectionParameters(**asked["at"]))
load.start()
while not load.wait(60.0):
    pass
result = json.loads(load.result())
(most_kb,) = re.findall(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
us = 1e6 * result["client_cpu_s"] / result["transactions"]
print(json.dumps({"us": us, "mb": int(most_kb) / 1024, "failed": result["failed"]}))
