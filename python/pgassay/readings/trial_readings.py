"""Reads the finished trials of one run, each once, in several processes.

Enters: a run directory and its plan. Leaves: what is taken from each of its trials. Never: holds
the samples of more than one trial in each process, or starts a process that would take longer to
start than the trials take, or that has no memory.
"""

from __future__ import annotations

import os
import signal
import statistics
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from pgassay.analysis.measures.within_run import of_one_server
from pgassay.analysis.trial_reading import TrialReading, read_trial
from pgassay.plan.model import Plan
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.run_directory import RunDirectory


class TrialReadings:
    """Reads trials when they are asked for, and remembers them."""

    def __init__(self, run: RunDirectory, plan: Plan) -> None:
        self.run, self.plan = run, plan
        self._known: dict[int, TrialReading] = {}

    def of(self, number: int) -> TrialReading:
        """Reads one finished trial."""
        if number not in self._known:
            self._known[number] = read_trial(self.run.path, number, self.plan)
        return self._known[number]

    def every(self) -> list[TrialReading]:
        """Reads all finished trials, by their numbers; of a block those of one server count."""
        numbers = self.run.finished()
        unknown = [number for number in numbers if number not in self._known]
        further = processes_for([self.run.trial(number).sample_bytes() for number in unknown])
        self._known |= in_processes(further, self.run.path, unknown, self.plan)
        found = [self._known[number] for number in numbers]
        counted = of_one_server([one.measures for one in found])
        return [
            replace(one, measures=measures) for one, measures in zip(found, counted, strict=True)
        ]

    def environment(self) -> EnvironmentFile:
        """Reads environment.json, with the median duration of the resets."""
        stored = self.run.environment()
        if stored.reset:
            took = [
                reset.duration_s
                for reset in (one.trial.summary().reset for one in self.every())
                if reset.duration_s is not None
            ]
            if took:
                reset = {**stored.reset, "seconds": round(statistics.median(took), 2)}
                return EnvironmentFile.model_validate({**stored.given, "reset": reset})
        return stored


_START_BYTES = 16_000_000
"""Of samples, which are read in the time that a process takes to start: a second or two."""
_MEMORY_PER_BYTE = 12
"""Memory of a process that reads a trial, over the bytes of its samples: measured with six hours of
500 series, 81 MB, and a whole process of 1.07 GB, of which its programs take 0.15."""
_MOST = 7
"""Further processes; by then one takes the results of the others."""


def processes_for(sizes: Sequence[int]) -> int:
    """Says how many processes pay beside this one, where trials have so many bytes of samples."""
    if not sizes:
        return 0
    by_memory = _free_memory_bytes() // 2 // (max(sizes) * _MEMORY_PER_BYTE + 1) - 1
    processors = len(os.sched_getaffinity(0))
    return max(min(_MOST, processors - 1, len(sizes) - 1, sum(sizes) // _START_BYTES, by_memory), 0)


def in_processes(
    further: int, run: Path, numbers: Sequence[int], plan: Plan
) -> dict[int, TrialReading]:
    """Reads these trials, here and in so many further processes. What one raises is raised; one
    that
    is killed, as by the kernel for want of memory, or cannot be started leaves its trials to this
    process."""
    if further == 0:
        with _memory_given_back():
            return {number: read_trial(run, number, plan) for number in numbers}
    # Unlike those of the standard library, its processes do not import the main module again, which
    # a user's script or notebook would not survive. Loaded here: it takes a fifth of a second.
    from loky import ProcessPoolExecutor

    left, found, errors = deque(numbers), dict[int, TrialReading](), list[BaseException]()
    pool = ProcessPoolExecutor(further, initializer=_begin)

    def read_there() -> None:
        while left and not errors:
            with suppress(IndexError):
                number = left.pop()  # the last ones: this process takes the first ones
                try:
                    call = pool.submit(_read, run, number, plan)
                except (BrokenExecutor, OSError):  # no process can be started
                    left.append(number)
                    return
                try:
                    found[number] = call.result()
                except BrokenExecutor:
                    left.append(number)
                    return
                except BaseException as error:
                    errors.append(error)

    def read_here() -> None:
        while left and not errors:
            with suppress(IndexError):
                number = left.popleft()
                found[number] = read_trial(run, number, plan)

    threads = [threading.Thread(target=read_there, daemon=True) for _ in range(further)]
    try:
        with _memory_given_back():
            for thread in threads:
                thread.start()
            read_here()
            for thread in threads:
                thread.join()
            read_here()  # what a killed process has left
    finally:
        pool.shutdown(kill_workers=True)
    if errors:
        raise errors[0]
    return found


def _begin() -> None:
    """In a process that starts: its parent ends it, or its parent's end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_after, args=(os.getppid(),), daemon=True).start()


def _end_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _read(run: Path, number: int, plan: Plan) -> TrialReading:
    with _memory_given_back():
        return read_trial(run, number, plan)


@contextmanager
def _memory_given_back() -> Iterator[None]:
    """Arrow takes its memory from jemalloc, where it is built in: a day of samples leaves a sixth
    less of it unused than with the usual allocator, at the same speed."""
    usual = pa.default_memory_pool()
    with suppress(NotImplementedError):
        pa.set_memory_pool(pa.jemalloc_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(usual)


def _free_memory_bytes() -> int:
    """Pages that the kernel can give without swapping; all there is where it does not say."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        free = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(free.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
