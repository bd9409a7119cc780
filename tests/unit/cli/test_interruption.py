"""A request to stop is remembered, and printed nowhere, where Python discards its exception."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from pgassay.cli.main import app
from pgassay.errors import ExitCode
from pgassay.refusals.refusal import SetupRefused
from support.refusals import refused

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


DEFERRED = """
import os, signal, subprocess
from pathlib import Path
from pgassay.interruption import handle_signals, interruptions_deferred
from pgassay.server.hosts.account import server_account

class Interrupted(subprocess.Popen):
    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        started.append(self)
        os.kill(os.getpid(), signal.SIGINT)

handle_signals()
started, popen = [], subprocess.Popen
subprocess.Popen = Interrupted
try:
    server_account().run(["sleep", "100"], limit_s=900)
except KeyboardInterrupt:
    print("interrupted, the program ended with", started[0].returncode)
subprocess.Popen = popen
print("on the way out:", server_account().run(["echo", "cleaned"], limit_s=60).stdout, end="")
"""


def test_a_program_whose_start_is_interrupted_is_ended() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", DEFERRED], capture_output=True, text=True, timeout=90
    )
    assert ended.stdout.splitlines() == [
        "interrupted, the program ended with -9",
        "on the way out: cleaned",
    ], ended.stderr


AT_THE_END = """
import os, sys
from pgassay.cli.main import flush

read, write = os.pipe()
os.close(read)
os.dup2(write, 1)
print("nobody reads this")
flush(sys.stdout)
"""


def test_a_reader_that_is_gone_does_not_change_the_exit_status() -> None:
    assert subprocess.run([sys.executable, "-E", "-c", AT_THE_END]).returncode == 0


def test_output_that_is_not_taken_is_one_line_and_exit_code_one() -> None:
    for words in ("schema", "study list", "--help"):
        command = f"exec '{sys.executable}' -m pgassay {words} >/dev/full"
        ended = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True)
        refusal = SetupRefused("output-not-written", why=os.strerror(errno.ENOSPC))
        assert (ended.returncode, ended.stderr) == (ExitCode.USAGE, f"pgassay: {refusal}\n")


def test_a_workbook_is_not_shown_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with refused("binary-to-terminal", "--out -"):
        app(["report", "a-run", "--format", "xlsx", "--out", "-"], standalone_mode=False)


def test_a_command_without_stdout_ends_as_it_would_with_it() -> None:
    command = f"exec '{sys.executable}' -m pgassay study list >&-"
    ended = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (0, b"")
