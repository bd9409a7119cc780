"""Commands that start as forks of a Python that has loaded the package, which saves a second each.

Enters: arguments as Python takes them, from `-m` or `-c` on. Leaves: processes to wait for and to
signal, like those of subprocess. Never: forks where a variable differs that Python reads when it
starts; a test of the start itself uses subprocess.
"""

from __future__ import annotations

import gc
import os
import pkgutil
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from multiprocessing import get_context, reduction
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from types import ModuleType
from typing import IO, Any, TextIO

import pytest

import pgassay
from support.runs.bounds import keep_bounds
from support.runs.watch import watch_for_an_instant

READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_", "OMP_", "OPENBLAS_", "TYPER_")
"""Variables that begin so."""
LOADED_BY_COMMANDS = ("pgassay.__main__", "pgassay.cli", "pgassay.entry")
"""Modules that read their surroundings, such as the terminal, while they are loaded."""
LOADED_LATE = (
    "rich.console", "rich.live", "rich.markup", "rich.progress", "rich.table", "typer.main",
    "scipy.ndimage", "scipy.special",
)  # fmt: skip
"""What those load, and what the package loads when it first needs it: that half of a short command.
Without scipy.optimize: where it is loaded each fork costs more than it saves."""


class Forked:
    """A running program; its parent is not this process."""

    def __init__(self, words: Sequence[str], process: ForkServerProcess) -> None:
        self.args = ["python", *words]
        self._process = process
        assert process.pid is not None
        self.pid = process.pid
        self.printed: Sequence[IO[bytes]] = ()
        """What `begin` keeps of its output and errors."""

    @property
    def returncode(self) -> int | None:
        return self.poll()

    def poll(self) -> int | None:
        """The exit status, once the program has ended."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; returns the exit status."""
        self._process.join(timeout)
        status = self.poll()
        if status is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return status

    def kill(self) -> None:
        self._process.kill()

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end; returns what a program from `begin` has printed, and its errors."""
        self.wait(timeout)
        output, errors = (_text(file) for file in self.printed)
        return output, errors


def start(
    words: Sequence[str], streams: Sequence[int], env: Mapping[str, str], *, session: bool = False
) -> Forked:
    """`python WORDS` on three open descriptors; as leader of a new session if asked."""
    differing = {n for n in {*env, *os.environ} if env.get(n) != _environment_at_first().get(n)}
    strange = sorted(name for name in differing if name.startswith(READ_AT_START))
    assert not strange, f"{strange} are read when Python starts: start one with subprocess"
    # multiprocessing would load the main module of pytest in every child. `patch.dict` would
    # forget modules that are imported meanwhile, and numpy refuses to be loaded twice.
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "__main__", ModuleType("__main__"))
        arguments = (list(words), str(Path.cwd()), dict(env), session, _Streams(streams))
        process = _context().Process(target=_become, args=arguments, daemon=True)
        process.start()
    return Forked(words, process)


@contextmanager
def begin(
    words: Sequence[str], env: Mapping[str, str] = os.environ, *, session: bool = False
) -> Iterator[Forked]:
    """`python WORDS` without input, whose output is kept; killed at the end of the context."""
    with ExitStack() as files:
        nothing = files.enter_context(Path(os.devnull).open("rb"))
        printed = [files.enter_context(tempfile.TemporaryFile()) for _ in range(2)]
        streams = [nothing.fileno(), *(file.fileno() for file in printed)]
        process = start(words, streams, env, session=session)
        process.printed = printed
        try:
            yield process
        finally:
            process.kill()


def run(
    words: Sequence[str], env: Mapping[str, str] = os.environ, timeout: float | None = None
) -> subprocess.CompletedProcess[str]:
    """`python WORDS`, run to its end without input, with its output."""
    with begin(words, env) as process:
        printed = process.communicate(timeout)
    return subprocess.CompletedProcess(process.args, process.wait(), *printed)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")


class _Streams:
    """Descriptors on their way to a child."""

    def __init__(self, descriptors: Sequence[int]) -> None:
        self.descriptors = list(descriptors)

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, tuple(reduction.DupFd(one) for one in self.descriptors)


def _received(*descriptors: Any) -> _Streams:
    return _Streams([one.detach() for one in descriptors])


def _become(
    words: list[str], directory: str, environment: dict[str, str], session: bool, streams: _Streams
) -> None:
    """In the child: be as a Python that was just started."""
    gc.freeze()  # a look at what the parent has loaded would copy all of it
    if session:
        os.setsid()
    for number, descriptor in enumerate(streams.descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    tempfile.tempdir = None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin = _opened(0, sys.stdin)
    sys.stdout = _opened(1, sys.stdout)
    sys.stderr = _opened(2, sys.stderr)
    watch_for_an_instant()
    keep_bounds()
    option, what, *arguments = words
    sys.path.insert(0, directory if option == "-m" else "")
    sys.argv[:] = [option, *arguments]
    if option == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 (our own)


def _opened(number: int, before: TextIO) -> TextIO:
    return open(
        number,
        "r" if number == 0 else "w",
        buffering=1 if number == 2 or os.isatty(number) else -1,
        encoding=before.encoding,
        errors=before.errors,
        closefd=False,
    )


@cache
def _environment_at_first() -> Mapping[str, str]:
    return dict(os.environ)


@cache
def _context() -> ForkServerContext:
    context = get_context("forkserver")
    found = (module.name for module in pkgutil.walk_packages(pgassay.__path__, "pgassay."))
    ours = (name for name in found if not name.startswith(LOADED_BY_COMMANDS))
    # This module too: else each child would load it anew, and pytest with it.
    context.set_forkserver_preload([*ours, *LOADED_LATE, __name__])
    _environment_at_first()
    with pytest.MonkeyPatch.context() as patched:
        # Where modules to preload are searched for: as in this process, not as in a new Python.
        patched.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        ensure_running()
    return context
