"""Runs that are killed or stopped at a chosen moment, and checks of what they leave.

Enters: a spec, conditions to wait for. Leaves: a run on a terminal whose progress can be read,
digests of the files on disk. Never: sleeps for luck.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import pty
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from pgassay.samples.journal import open_changes
from support.runs.forked import start

SPEC = """
question = "Does it survive?"
[workload]
use = "{use}"
{target}
[factors.postgres]
{factor}
[load]
clients = {clients}
{rate}
step = "{step}"
warmup = "0.5s"
[design]
seed = 3
min_blocks = {blocks}
max_blocks = {blocks}
"""
DEFAULTS: dict[str, Any] = {
    "use": "payments-write", "clients": 2, "rate": "rate = 200",
    "target": "", "factor": 'work_mem = ["5MB", "9MB"]', "step": "0.8s", "blocks": 2,
}  # fmt: skip
UNTOUCHED = "[reset]\nlevel = 'none'"
"""For `target`, where resets are not what a test is about."""
TOOL = ("-m", "pgassay")
LIMIT_S = 90.0
POLL_S = 0.002
# Of a later trial, in one frame of the progress: the frames of the one before may come late.
RESET = r"(?s)trial [2-9] (?:(?!trial).)*\breset "
WARM_UP = r"(?s)trial [2-9] (?:(?!trial).)*warm-up, 2 clients"
LOAD = r"(?s)trial [2-9] (?:(?!trial|warm-up).)*\b2 clients "
_STEERING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_BEGUN = re.compile(r"\x1b(\[[0-9;?]*)?\Z")
"""A sequence of which the end is still to come."""


def spec_file(folder: Path, **changes: Any) -> Path:
    path = folder / "lab.toml"
    path.write_text(SPEC.format(**DEFAULTS | changes))
    return path


class WatchedRun:
    """`pgassay run …` on a terminal, whose live progress shows its phase."""

    def __init__(
        self,
        run: Path,
        *arguments: str | Path,
        program: Sequence[str] = TOOL,
        **environment: str,
    ) -> None:
        self.run = run
        self.text = ""
        """Everything it has printed, as plain text."""
        self._seen = 0
        self._unsaid: dict[str, tuple[int, int]] = {}
        """Where each pattern was searched for in vain, so that only what is new is searched."""
        master, slave = pty.openpty()
        with Path(os.devnull).open("r+b") as nothing:
            self.process = start(
                [*program, "run", *map(str, arguments)],
                [nothing.fileno(), nothing.fileno(), slave],
                os.environ | {"COLUMNS": "300", "TERM": "xterm"} | environment,
                session=True,
            )
        os.close(slave)
        self._reader = threading.Thread(target=self._read, args=(master,), daemon=True)
        self._reader.start()

    def _read(self, master: int) -> None:
        decoder, rest = codecs.getincrementaldecoder("utf-8")("replace"), ""
        with os.fdopen(master, "rb", buffering=0) as terminal:
            while True:
                try:
                    piece = terminal.read(65536)
                except OSError:
                    return  # the last writer is gone
                if not piece:
                    return
                printed = rest + decoder.decode(piece)
                begun = _BEGUN.search(printed)
                rest = begun[0] if begun else ""
                self.text += _STEERING.sub("", printed.removesuffix(rest))

    def forget(self) -> None:
        """Let `says` search only what is printed from now on."""
        self._seen = len(self.text)

    def says(self, pattern: str) -> bool:
        """Whether what was printed since `forget` matches."""
        searched = (self._seen, len(self.text))
        if self._unsaid.get(pattern) == searched:
            return False
        if re.search(pattern, self.text[slice(*searched)]):
            return True
        self._unsaid[pattern] = searched
        return False

    def finished(self) -> list[str]:
        return sorted(path.name for path in (self.run / "trials").glob("[0-9]*"))

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + LIMIT_S
        while not condition():
            if self.process.poll() is not None:
                pytest.fail(f"it ended before {what}:\n{self.text}")
            if time.monotonic() > end:
                pytest.fail(f"not within {LIMIT_S:g} s: {what}\n{self.text}")
            time.sleep(POLL_S)

    def kill(self) -> None:
        """Send SIGKILL to the process of the run, not to its children."""
        self.process.kill()
        self.process.wait()

    def interrupt(self) -> None:
        """Send SIGINT to the process group, as Ctrl-C in a terminal does."""
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self) -> int:
        """The exit status, once all output is read."""
        status = self.process.wait(timeout=LIMIT_S)
        self._reader.join(timeout=LIMIT_S)
        return status


@contextmanager
def watched(
    run: Path, *arguments: str | Path, program: Sequence[str] = TOOL, **environment: str
) -> Iterator[WatchedRun]:
    """`pgassay run ARGUMENTS --out RUN`, killed in any case."""
    tool = WatchedRun(run, *arguments, "--out", run, program=program, **environment)
    try:
        yield tool
    finally:
        tool.kill()


def prints_of(run: Path, trials: list[str]) -> dict[str, str]:
    """A digest of every file of these trials."""
    return {
        str(path.relative_to(run)): hashlib.sha256(path.read_bytes()).hexdigest()
        for trial in trials
        for path in sorted((run / "trials" / trial).iterdir())
    }


def in_the_second_trial(tool: WatchedRun) -> dict[str, str]:
    """Wait for the load of a later trial; digests of the trials before it."""
    tool.wait_for(lambda: len(tool.finished()) >= 1, "a finished trial")
    tool.forget()
    tool.wait_for(lambda: tool.says(LOAD), "a load")
    return prints_of(tool.run, tool.finished())


def assert_kept(run: Path, kept: dict[str, str]) -> None:
    """Finished trials are unchanged, and the journal has nothing to undo."""
    assert kept
    assert prints_of(run, sorted({name.split("/")[1] for name in kept})) == kept
    assert_nothing_open(run)


def assert_nothing_open(run: Path) -> None:
    """The journal has nothing to undo, and no unfinished file has a final name."""
    assert open_changes(run / "journal.jsonl") == []
    for trial in (run / "trials").glob("[0-9]*"):
        assert (trial / "trial.json").is_file()
        assert (trial / "load.parquet").is_file()


def servers_below(base: Path) -> list[int]:
    found = []
    for process in psutil.process_iter(["name"]):
        if process.info["name"] == "postgres":
            try:
                if str(process.cwd()).startswith(str(base)):
                    found.append(process.pid)
            except psutil.Error:
                continue
    return found


def postmasters_below(base: Path) -> list[int]:
    """The processes whose parent is none of them; sessions may end meanwhile."""
    pids, found = servers_below(base), []
    for pid in pids:
        with suppress(psutil.Error):
            if psutil.Process(pid).ppid() not in pids:
                found.append(pid)
    return found


def postmaster_below(base: Path) -> int:
    (found,) = postmasters_below(base)
    return found


def assert_no_server_left(base: Path) -> None:
    assert servers_below(base) == []
    assert [path.name for path in base.iterdir() if path.name.startswith("run-")] == []
