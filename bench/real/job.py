"""A job that comes again and again on the machine, as a cron job does.

Enters: its period and its length. Leaves: the job at work while the context is open. Never: knows
of trials, so it falls into them as it comes.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_PROGRAM = """
import os, sys, time
period_s, length_s = map(float, sys.argv[1:])
parent, begin = os.getppid(), time.monotonic()
while os.getppid() == parent:
    end = time.monotonic() + length_s
    while time.monotonic() < end:
        pass
    begin += period_s
    time.sleep(max(0.0, begin - time.monotonic()))
"""


@contextmanager
def periodic_job(period_s: float, length_s: float) -> Iterator[None]:
    """One processor kept busy for `length_s` every `period_s`."""
    command = [sys.executable, "-c", _PROGRAM, str(period_s), str(length_s)]
    with subprocess.Popen(command) as process:
        try:
            yield
        finally:
            process.kill()
