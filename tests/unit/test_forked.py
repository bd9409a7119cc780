"""A program that the tests fork is as one that was started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support import forked

TELL = """
import atexit, json, os, signal, sys, tempfile, threading, time
streams = {name: getattr(sys, name) for name in ("stdin", "stdout", "stderr")}
print(json.dumps({
    "name": __name__,
    "words": sys.argv,
    "directory": os.getcwd(),
    "first": sys.path[0],
    "environment": {n: v for n, v in os.environ.items() if n != "PYTHONPATH"},
    "group": os.getpgid(0) == os.getpid(),
    "session": os.getsid(0) == os.getpid(),
    "umask": os.umask(0o22),
    "open": sorted(os.listdir("/proc/self/fd")),
    "signals": {n.name: repr(signal.getsignal(n)) for n in signal.Signals if n < 32},
    "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "wakes": signal.set_wakeup_fd(-1),
    "threads": threading.active_count(),
    "zone": time.tzname,
    "temporary": tempfile.gettempdir(),
    "streams": {name: [
        s.fileno(), s.encoding, s.errors, s.line_buffering, s.write_through,
        s.newlines, s.isatty(),
    ] for name, s in streams.items()},
    "debug": sys.flags.dev_mode,
    "limits": sys.getrecursionlimit(),
}))
atexit.register(print, "the end")
sys.exit(3)
"""
LONG = """
import time
print("up", flush=True)
while True:  # a signal that comes just before a sleep begins is seen after it
    time.sleep(0.05)
"""


def test_it_finds_what_a_started_one_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    forked.run(["-c", ""])
    for name, value in (("TZ", "Asia/Tokyo"), ("TMPDIR", str(tmp_path)), ("MINE", "a b")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("HOME")
    words = ["-c", TELL, "one", "two words"]
    started = subprocess.run(
        [sys.executable, *words], env=os.environ,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = forked.run(words)
    assert (found.returncode, found.stderr) == (started.returncode, started.stderr) == (3, "")
    ours, theirs = (json.loads(done.stdout.splitlines()[0]) for done in (found, started))
    assert ours == theirs
    assert found.stdout.endswith("the end\n")


def test_a_module_is_run_as_the_main_one(tmp_path: Path) -> None:
    words = ["-m", "pgassay", "--version"]
    started = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True)
    assert forked.run(words).stdout == started.stdout


def test_two_in_turn_have_their_sets_in_another_order() -> None:
    tell = "print([*map(hash, 'abcdef')])"
    assert forked.run(["-c", tell]).stdout != forked.run(["-c", tell]).stdout


def test_signals_end_it_as_they_end_a_started_one() -> None:
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
        ours, theirs = os.pipe()
        with Path(os.devnull).open("r+b") as nothing, os.fdopen(ours, "rb") as said:
            streams = [nothing.fileno(), theirs, nothing.fileno()]
            process = forked.start(["-c", LONG], streams, os.environ, session=True)
            os.close(theirs)
            try:
                assert said.readline() == b"up\n"
                assert os.getsid(process.pid) == process.pid
                assert process.poll() is None
                os.killpg(process.pid, number)
                assert process.wait(20) == -number
            finally:
                process.kill()
                process.wait(20)


def test_it_ends_where_it_takes_too_long() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        forked.run(["-c", LONG], timeout=0.2)


def test_what_python_reads_when_it_starts_is_not_passed_over() -> None:
    with pytest.raises(AssertionError, match=r"PYTHONHASHSEED.*read when Python starts"):
        forked.run(["-c", ""], os.environ | {"PYTHONHASHSEED": "1"})
