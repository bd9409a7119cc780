"""The engine as a process of its own: one load, then its result.

Enters: a configuration as the first argument. Leaves: the result on standard output, with the
time that connecting took. Never: imports more of pgassay than the native module.
"""

from __future__ import annotations

import json
import sys
import time

from pgassay import _core

load = _core.Load(sys.argv[1])
began = time.monotonic()
load.connect()
connecting_s = time.monotonic() - began
load.start()
while not load.wait(60.0):
    pass
print(json.dumps({**json.loads(load.result()), "connecting_s": connecting_s}))
