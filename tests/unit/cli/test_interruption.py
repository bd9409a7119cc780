"""A request to stop is remembered, and printed nowhere, where Python discards its exception."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import os, signal
from pgassay.interruption import handle_signals, raise_if_interrupted

class Ending:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)

class Broken:
    def __del__(self):
        raise ValueError("a bug is still printed")

handle_signals()
Broken()
Ending()
try:
    raise_if_interrupted()
except KeyboardInterrupt:
    print("stopped")
"""


def test_a_discarded_request_to_stop_is_remembered_and_not_printed() -> None:
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert ended.stdout == "stopped\n"
    assert "a bug is still printed" in ended.stderr
    assert "KeyboardInterrupt" not in ended.stderr
