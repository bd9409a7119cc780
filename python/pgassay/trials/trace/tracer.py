"""A running bpftrace.

Enters: a program. Leaves: readings as they come, and at the end everything that it said.
Never: outlives its block: it is asked to end, waited for, and killed where it does not.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from pgassay.interruption import interruptions_deferred
from pgassay.refusals.refusal import SetupRefused
from pgassay.trials.trace.output import Output, Reading

MAP_KEYS = 4096
"""The most entries of a map in the kernel (the default of bpftrace); there is one for each lock or
kind of relation and bucket, and one for each relation that is read or written."""
_LIMITS = ("BPFTRACE_MAP_KEYS_MAX", "BPFTRACE_MAX_MAP_KEYS")
"""Its name up to bpftrace 0.18, and since."""
_ATTACH_LIMIT_S = 60.0
_END_LIMIT_S = 60.0
"""Taking probes off waits for the kernel, each for itself; on a busy host that takes seconds."""
_HARMLESS = "RLIMIT_MEMLOCK"
"""bpftrace says so where it may not raise a limit that kernels from 5.11 on do not have."""


class Tracer:
    """Runs one program of bpftrace; use it as a context manager."""

    def __init__(self, bpftrace: str, program: Path) -> None:
        self.output = Output()
        self._readings: queue.SimpleQueue[Reading] = queue.SimpleQueue()
        self._words = [bpftrace, "-f", "json", str(program)]
        self._ready = threading.Event()
        self._errors: list[str] = []

    def __enter__(self) -> Self:
        limits = dict.fromkeys(_LIMITS, str(MAP_KEYS))
        environment = {**os.environ, **limits, "LC_ALL": "C"}
        with interruptions_deferred():
            self._process = subprocess.Popen(
                self._words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                env=environment,
                start_new_session=True,  # Ctrl-C is for us; we end it in order
            )
            self._threads = [
                threading.Thread(target=self._read, daemon=True),
                threading.Thread(target=self._read_errors, daemon=True),
            ]
            for thread in self._threads:
                thread.start()
        try:
            self._wait_until_attached()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _wait_until_attached(self) -> None:
        deadline = time.monotonic() + _ATTACH_LIMIT_S
        while not self._ready.wait(0.05):
            if self._process.poll() is not None:
                for thread in self._threads:
                    thread.join(_END_LIMIT_S)
                raise SetupRefused("probes-not-attached", said=self.complaint())
            if time.monotonic() > deadline:
                raise SetupRefused("probes-late")

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        for line in self._process.stdout:
            reading = self.output.feed(line)
            if reading is not None:
                self._readings.put(reading)
            if self.output.attached:
                self._ready.set()
        self.output.finish()

    def _read_errors(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 - it is a pipe
        for line in self._process.stderr:
            if line.strip() and _HARMLESS not in line:
                self._errors.append(line.strip())

    def complaint(self) -> str:
        """Returns what bpftrace complained of, in one line; empty where nothing was."""
        said = [*self._errors, *self.output.complaints]
        return next((line for line in said if "ERROR" in line), said[0] if said else "")

    @property
    def is_running(self) -> bool:
        """Whether bpftrace still runs."""
        return self._process.poll() is None

    def take(self) -> list[Reading]:
        """Returns the readings since the last call."""
        found = []
        with suppress(queue.Empty):
            while True:
                found.append(self._readings.get_nowait())
        return found

    def stop(self) -> None:
        """Ends bpftrace and reads its last lines. Safe to call twice."""
        with interruptions_deferred():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
                if self._process.poll() is not None:
                    break
                self._process.send_signal(number)
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(_END_LIMIT_S)
            for thread in self._threads:
                thread.join(_END_LIMIT_S)
