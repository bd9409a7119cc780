"""A Python that has loaded what every command loads, and forks itself for each one that is asked.

Enters: on the connection of its standard input, one message per program: words, directory,
environment, and the descriptors it gets. Leaves: processes that go on as a Python just started
would, and their exit statuses. Never: holds a thread or an open file of a command, loads what reads
its surroundings while it loads (consoles and the commands that have them).
"""

from __future__ import annotations

import gc
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import tempfile
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, TextIO, TypedDict

import pgassay

MESSAGE_BYTES = 1 << 20
LEFT_TO_COMMANDS = ("pgassay.__main__", "pgassay.cli", "pgassay.entry")


class Program(TypedDict):
    """What is asked for."""

    words: list[str]
    """As a Python is given them: -m MODULE … or -c CODE …."""
    directory: str
    environment: dict[str, str]
    session: bool
    """Whether it leads a session of its own."""


def load() -> None:
    """All of the package but its commands."""
    for module in pkgutil.walk_packages(pgassay.__path__, "pgassay.", onerror=None):
        if not module.name.startswith(LEFT_TO_COMMANDS):
            import_module(module.name)


class Forking:
    """The parent of the programs."""

    def __init__(self, asked: socket.socket) -> None:
        self._asked = asked
        self._told: dict[int, int] = {}
        """Process → the descriptor on which its end is told."""
        self._woken, wake = os.pipe()
        for descriptor in (self._woken, wake):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the programs
        self._own = [self._woken, wake, asked.fileno()]

    def until_forked(self) -> Program:
        """Serve; returns in every child, which is then that program."""
        while True:
            ready, _, _ = select.select([self._asked.fileno(), self._woken], [], [])
            if self._woken in ready:
                os.read(self._woken, 4096)
            if self._asked.fileno() in ready:
                message, given, _, _ = socket.recv_fds(self._asked, MESSAGE_BYTES, 4)
                if not message:
                    sys.exit()
                program: Program = json.loads(message)
                if self._forked(program, given[:3], given[3]):
                    return program
            self._tell_ends()

    def _forked(self, program: Program, streams: list[int], told: int) -> bool:
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            for descriptor in (*self._own, *self._told.values(), told):
                os.close(descriptor)
            self._asked.detach()
            as_started(program, streams)
            return True
        for stream in streams:
            os.close(stream)
        self._told[pid] = told
        os.write(told, f"{pid}\n".encode())
        return False

    def _tell_ends(self) -> None:
        while self._told:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            told = self._told.pop(pid)
            with suppress(BrokenPipeError):  # nobody waits for it any more
                os.write(told, f"{os.waitstatus_to_exitcode(status)}\n".encode())
            os.close(told)


def as_started(program: Program, streams: list[int]) -> None:
    """Be as a Python just started by the one who asked."""
    if program["session"]:
        os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(program["directory"])
    os.environ.clear()
    os.environ.update(program["environment"])
    time.tzset()
    tempfile.tempdir = None
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin = reopened(0, sys.stdin)
    sys.stdout = reopened(1, sys.stdout)
    sys.stderr = reopened(2, sys.stderr)


def reopened(number: int, before: TextIO) -> io.TextIOWrapper:
    """A standard stream as the interpreter makes it when it starts."""
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    binary: BinaryIO = open(  # noqa: SIM115 (by number, and for as long as we live)
        number, "rb" if number == 0 else "wb", 0 if at_once and number else -1, closefd=False
    )
    return io.TextIOWrapper(
        binary,
        encoding=before.encoding,
        errors=before.errors,
        newline=None if number == 0 else "\n",
        line_buffering=not at_once and (number == 2 or os.isatty(number)),
        write_through=at_once,
    )


def run(words: list[str]) -> None:
    """What the interpreter does with its words."""
    option, what, *arguments = words
    sys.path.insert(0, str(Path.cwd()) if option == "-m" else "")
    sys.argv[:] = [option, *arguments]
    if option == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 (our own)


def main() -> None:
    """Serve until whoever asks is gone; in a child, be the program."""
    asked = socket.socket(fileno=os.dup(0))
    asked.set_inheritable(False)
    load()
    gc.freeze()
    run(Forking(asked).until_forked()["words"])


if __name__ == "__main__":
    main()
