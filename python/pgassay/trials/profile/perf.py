"""Runs perf on named processes, for a bounded time, into a bounded file.

Enters: how to list processes, how long and how often. Leaves: perf's text, what perf cost.
Never: follows other processes, reads the user's perf configuration, leaves a file behind.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, Self

from pgassay.interruption import interruptions_deferred
from pgassay.notes import Note
from pgassay.refusals.refusal import SetupRefused, TrialRefused

PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
RIGHT = "run pgassay as root, or: sysctl kernel.perf_event_paranoid=1"
STACK_BYTES = 8192
"""Copied of each stack: at PostgreSQL's depths enough for nine of ten; perf takes 64 kB at most."""
SWITCH_STACK_BYTES = 4096
SWITCHES = 11
"""Of so many times that a process is switched out one is recorded: each of 10,000 a second would
be 40 MB/s, of which perf then loses a part."""
MOST_BYTES = "512M"
_BUFFER, _BUFFERS = 2**23, 2**27
"""Memory for a CPU and for all; others than root have what the kernel allows them."""
_TRIES, _START_S = 5, 1.0
"""So often with all processes, and again with those that were there at each try."""
_ENDED = "No such process"
"""perf says so, and gives up, where one of the listed processes has ended."""
_END_S = 30.0
_SCRIPT_S = 300.0
_OF_THE_USER, _OF_ANYONE_NOT = 2, 3
_LOST = re.compile(r"lost (\d+(?:\.\d+)?)%")


def program() -> str:
    """Returns the path of a perf that starts; SetupError names what is missing and the fix."""
    found = shutil.which("perf")
    if found is None:
        raise SetupRefused("no-perf")
    done = _run([found, "--version"], 20.0)
    if done.returncode:
        # Ubuntu's perf looks for the one of the running kernel.
        raise SetupRefused("perf-does-not-start", said=_last(done.stderr))
    if _paranoid() >= _OF_ANYONE_NOT and not _may_everything():
        raise SetupRefused("perf-for-root-only", paranoid=_paranoid())
    return found


def sees_kernel() -> bool:
    """Whether functions of the kernel, and switches of processes, may be seen too."""
    return _may_everything() or _paranoid() < _OF_THE_USER


def _paranoid() -> int:
    try:
        return int(PARANOID.read_text())
    except (OSError, ValueError):
        return _OF_THE_USER


def _may_everything() -> bool:
    return os.geteuid() == 0


class Recording:
    """perf at work on some processes; use it as a context manager."""

    def __init__(
        self,
        pids: Callable[[], Sequence[int]],
        folder: Path,
        seconds: float,
        hz: int,
        *,
        off_cpu: bool,
    ) -> None:
        """`pids` lists the processes as they are now."""
        self._perf, self._pids = program(), pids
        if off_cpu and not sees_kernel():
            raise SetupRefused("switches-for-root-only", paranoid=_paranoid())
        self._data, self._text = folder / "perf.data", folder / "perf.txt"
        self._errors = folder / "perf.log"
        what = (
            ["-e", "context-switches", "-c", str(SWITCHES), "--switch-events"]
            if off_cpu
            else ["-e", "cpu-clock" if sees_kernel() else "cpu-clock:u", "-F", str(hz)]
        )
        size = SWITCH_STACK_BYTES if off_cpu else STACK_BYTES
        self._words = [
            self._perf,
            "record",
            "--no-buildid-cache",
            "-k",
            "CLOCK_MONOTONIC",
            *(["--mmap-pages", f"{buffer_bytes() // 1024}K"] if _may_everything() else []),
            f"--max-size={MOST_BYTES}",
            *what,
            "--call-graph",
            f"dwarf,{size}",
            "-o",
            str(self._data),
        ]
        self._for = ["--", "sleep", f"{seconds:.3f}"]
        self._off_cpu = off_cpu
        self._process: subprocess.Popen[bytes] | None = None
        self.cpu_s = 0.0
        """What perf itself has used while it recorded."""
        self.notes: list[Note] = []

    def __enter__(self) -> Self:
        self._before = _children_cpu_s()
        try:
            lasting = set(self._pids())
            for tried in range(2 * _TRIES):
                now = self._pids()
                lasting &= set(now)
                self._start(now if tried < _TRIES else sorted(lasting))
                if not self._missed_a_process():
                    break
        except BaseException:
            self.stop()
            raise
        if tried >= _TRIES:
            self.notes.append(Note("trials/profile/came-and-went"))
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self, pids: Sequence[int]) -> None:
        with self._errors.open("wb") as errors, interruptions_deferred():
            self._process = subprocess.Popen(
                [*self._words, "-p", ",".join(map(str, pids)), *self._for],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                env=_environment(),
                start_new_session=True,  # Ctrl-C is for us; perf is then ended in order
            )

    def _missed_a_process(self) -> bool:
        """Whether perf gave up, because a process ended between the list and perf's look at it."""
        limit_s = time.monotonic() + _START_S
        while not self.wait(0.02):
            if self._has_data() or time.monotonic() > limit_s:
                return False
        return not self._has_data() and _ENDED in self._log()

    def _has_data(self) -> bool:
        return self._data.is_file() and self._data.stat().st_size > 0

    def _log(self) -> str:
        return self._errors.read_text("utf-8", "replace")

    def is_over(self) -> bool:
        """Whether perf has ended by itself."""
        return self._process is not None and self._process.poll() is not None

    def wait(self, timeout_s: float) -> bool:
        """Waits for the end of the recording; returns whether it has come."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            if self._process is not None:
                self._process.wait(timeout_s)
        return self.is_over()

    def stop(self) -> None:
        """Ends the recording early, if it is not over; safe to call twice."""
        if self._process is None or self.cpu_s:
            return
        if not self.is_over():
            self._process.send_signal(signal.SIGINT)
            if not self.wait(_END_S):
                self._process.kill()
                self._process.wait()
        self.cpu_s = _children_cpu_s() - self._before

    def text(self) -> Path:
        """Returns the file with the text of what was recorded; TrialError where perf recorded
        nothing."""
        self.stop()
        log = self._log()
        if not self._has_data():
            raise _nothing(log)
        words = [
            self._perf,
            "script",
            "-i",
            str(self._data),
            "--no-inline",
            "--ns",
            *(["--show-switch-events"] if self._off_cpu else []),
            "-F",
            "comm,pid,tid,time,event,ip,sym,dso",
        ]
        with self._text.open("wb") as out:
            done = _run(words, _SCRIPT_S, out)
        if done.returncode and not self._text.stat().st_size:
            raise TrialRefused("recording-unreadable", why=_reason_of(done))
        if done.returncode:
            self.notes.append(Note("trials/profile/partly-read", {"why": _reason_of(done)}))
        self._data.unlink(missing_ok=True)
        lost = _LOST.search(log + done.stderr)
        if lost is not None:
            self.notes.append(Note("trials/profile/lost", {"share": float(lost[1])}))
        if "size limit reached" in log:
            self.notes.append(Note("trials/profile/ended-early", {"most_bytes": MOST_BYTES}))
        return self._text


def _run(
    words: Sequence[str], limit_s: float, out: int | BinaryIO = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env=_environment(),
            start_new_session=True,  # a Ctrl-C that asks us to end in order is not for it
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TrialRefused("perf-without-end", command=words[1], seconds=limit_s) from None


def buffer_bytes() -> int:
    """Returns the size of the buffer of each CPU in bytes: a power of two, as perf takes it."""
    each = min(_BUFFER, _BUFFERS // (os.cpu_count() or 1))
    return int(2 ** (each.bit_length() - 1))


def _environment() -> dict[str, str]:
    # No start-up file of the user's, no download of debug symbols in a measurement.
    return {**os.environ, "LC_ALL": "C", "PERF_CONFIG": "/dev/null", "DEBUGINFOD_URLS": ""}


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _nothing(log: str) -> TrialRefused:
    if "Permission" in log or "not permitted" in log or "Access to performance" in log:
        return TrialRefused("perf-stopped-by-kernel", right=RIGHT)
    if _ENDED in log:
        return TrialRefused("sessions-end-as-perf-starts")
    return TrialRefused("perf-recorded-nothing", why=_last(log))


def _reason_of(ended: subprocess.CompletedProcess[str]) -> str:
    """What perf said last, or the signal that ended it."""
    if ended.returncode < 0:
        return signal.strsignal(-ended.returncode) or f"signal {-ended.returncode}"
    return _last(ended.stderr)


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
