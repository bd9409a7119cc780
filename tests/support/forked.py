"""Programs of Python that begin as forks of one that has loaded the package already.

Enters: words as Python takes them, from `-m` or `-c` on. Leaves: processes to wait for and to
signal, like subprocess's own; they begin after milliseconds and not after a second of imports.
Never: forks where the surroundings differ in what Python reads when it starts; where the start is
what is tested, a Python is really started.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import cycle
from pathlib import Path

from support import forking

READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_", "OMP_", "OPENBLAS_", "TYPER_")
"""Variables that begin so."""
_TURNS = cycle(range(2))
"""Two parents: what hangs on the seed of hashes differs from one program to the next."""


class Forked:
    """One program at work; its parent is not this process."""

    def __init__(self, words: Sequence[str], told: int) -> None:
        self.args = ["python", *words]
        self.returncode: int | None = None
        self._told = os.fdopen(told, "rb", buffering=0)
        self.pid = self._read()

    def poll(self) -> int | None:
        """Its exit status, where it has ended."""
        if self.returncode is None and select.select([self._told], [], [], 0)[0]:
            self.returncode = self._read()
            self._told.close()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status, once it has ended."""
        if self.returncode is None:
            select.select([self._told], [], [], timeout)
        status = self.poll()
        if status is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return status

    def kill(self) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def _read(self) -> int:
        said = self._told.readline()
        if not said:
            raise RuntimeError("the Python that forks has died; its words are on stderr")
        return int(said)


def start(
    words: Sequence[str], streams: Sequence[int], env: Mapping[str, str], *, session: bool = False
) -> Forked:
    """`python WORDS` on three open descriptors; as a leader of a session if wished."""
    differing = [n for n in {*env, *os.environ} if env.get(n) != _at_first().get(n)]
    strange = [name for name in differing if name.startswith(READ_AT_START)]
    assert not strange, f"{strange} are read when Python starts: start one with subprocess"
    program: forking.Program = {
        "words": list(words),
        "directory": str(Path.cwd()),
        "environment": dict(env),
        "session": session,
    }
    ours, theirs = os.pipe()
    socket.send_fds(_parent(next(_TURNS)), [json.dumps(program).encode()], [*streams, theirs])
    os.close(theirs)
    return Forked(words, ours)


def run(
    words: Sequence[str], env: Mapping[str, str] = os.environ, timeout: float | None = None
) -> subprocess.CompletedProcess[str]:
    """`python WORDS`, run to its end without input, with all it said."""
    end = None if timeout is None else time.monotonic() + timeout
    pipes = (os.pipe(), os.pipe())
    said = {ours: b"" for ours, _ in pipes}
    with Path(os.devnull).open("rb") as nothing:
        process = start(words, [nothing.fileno(), *(theirs for _, theirs in pipes)], env)
    for _, theirs in pipes:
        os.close(theirs)
    try:
        open_ones = list(said)
        while open_ones:
            ready, _, _ = select.select(open_ones, [], [], _left(end))
            if not ready:
                raise subprocess.TimeoutExpired(process.args, timeout or 0.0)
            for ours in ready:
                piece = os.read(ours, 1 << 16)
                said[ours] += piece
                if not piece:
                    open_ones.remove(ours)
        status = process.wait(_left(end))
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        for ours in said:
            os.close(ours)
    out, errors = (text.decode().replace("\r\n", "\n") for text in said.values())
    return subprocess.CompletedProcess(process.args, status, out, errors)


def _left(end: float | None) -> float | None:
    return None if end is None else max(0.0, end - time.monotonic())


@cache
def _at_first() -> Mapping[str, str]:
    return dict(os.environ)


@cache
def _parent(_: int) -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    tests = Path(__file__).parents[1]
    paths = [*filter(None, [_at_first().get("PYTHONPATH")]), str(tests)]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", forking.__name__],
        stdin=theirs.fileno(),
        cwd=tests.parent,
        env={**_at_first(), "PYTHONPATH": os.pathsep.join(paths)},
    )
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours
