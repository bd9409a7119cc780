"""A program that the tests fork behaves like one that was started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.runs import forked

REPORT = """
import json, os, signal, sys, tempfile, threading, time
print(json.dumps({
    "name": __name__,
    "arguments": sys.argv,
    "directory": os.getcwd(),
    "first": sys.path[0],
    "environment": {n: v for n, v in os.environ.items() if n != "PYTHONPATH"},
    "session": os.getsid(0) == os.getpid(),
    "interrupt": repr(signal.getsignal(signal.SIGINT)),
    "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "zone": time.tzname,
    "temporary": tempfile.gettempdir(),
    "streams": [(s.fileno(), s.encoding, s.errors, s.isatty()) for s in (sys.stdout, sys.stderr)],
}))
print("to stderr", file=sys.stderr)
sys.exit(3)
"""
LONG = """
import time
print("up", flush=True)
while True:  # a signal just before a sleep takes effect after it
    time.sleep(0.05)
"""


def test_a_forked_program_has_the_surroundings_of_a_started_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    forked.run(["-c", ""])
    for name, value in (("TZ", "Asia/Tokyo"), ("TMPDIR", str(tmp_path)), ("MINE", "a b")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("HOME")
    words = ["-c", REPORT, "one", "two words"]
    started = subprocess.run(
        [sys.executable, *words], env=os.environ,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = forked.run(words)
    assert (found.returncode, found.stderr) == (started.returncode, started.stderr)
    assert json.loads(found.stdout) == json.loads(started.stdout)
    assert forked.run(["-m", "pgassay", "--version"]).stdout.startswith("pgassay ")


def test_signals_end_it_and_a_time_limit_is_kept() -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        ours, theirs = os.pipe()
        with Path(os.devnull).open("r+b") as nothing, os.fdopen(ours, "rb") as printed:
            streams = [nothing.fileno(), theirs, nothing.fileno()]
            process = forked.start(["-c", LONG], streams, os.environ, session=True)
            os.close(theirs)
            assert printed.readline() == b"up\n"
            assert os.getsid(process.pid) == process.pid
            assert process.poll() is None
            os.killpg(process.pid, number)
            assert process.wait(20) == -number
    with pytest.raises(subprocess.TimeoutExpired):
        forked.run(["-c", LONG], timeout=0.2)


def test_a_variable_that_python_reads_at_its_start_is_refused() -> None:
    with pytest.raises(AssertionError, match=r"PYTHONHASHSEED.*read when Python starts"):
        forked.run(["-c", ""], os.environ | {"PYTHONHASHSEED": "1"})
