"""The processes of a traced server: who they are, what they ran, whether they are still there."""

from __future__ import annotations

import os
import subprocess
import sys

from pgassay.server.hosts.server_process import children_of
from pgassay.trials.trace.server import is_up, processor_time_ns
from support.refusals import refused

BURNS_200_MS = "import time\nwhile time.process_time() < 0.2: pass"


def test_children_are_found_while_they_live() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        assert child.pid in children_of(os.getpid())
        child.kill()
    assert child.pid not in children_of(os.getpid())


def test_the_processor_time_of_a_session_that_has_ended_counts() -> None:
    before = processor_time_ns(os.getpid())
    subprocess.run([sys.executable, "-c", BURNS_200_MS], check=True)
    assert processor_time_ns(os.getpid()) - before >= 0.19e9


def test_a_server_that_has_ended_is_not_up_even_as_a_zombie() -> None:
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not is_up(child.pid)
    assert is_up(os.getpid())
    with refused("server-ended"):
        processor_time_ns(child.pid)
