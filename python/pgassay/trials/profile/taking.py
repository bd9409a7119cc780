"""Takes one profile of a server, of processes that it has looked up.

Enters: a session of the server, on this host; how long and how often, perhaps the load that runs.
Leaves: a `Profile`; the server's processes by number, with kind and name. Never: begins or ends a
load, or guesses: a process that was never seen is told by its stacks.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pgassay import _core
from pgassay.errors import SetupError
from pgassay.notes import Note
from pgassay.refusals.refusal import TargetRefused, TrialRefused
from pgassay.server.connection.session import as_target_error
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.server_process import children_of, postmaster_of
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement
from pgassay.trials.profile.model import Kind, Profile
from pgassay.trials.profile.perf import SWITCHES, Recording, sees_kernel

ELSEWHERE = Note("trials/profile/elsewhere")
_CLIENT = "client backend"
_OWN = "pgassay's own session"


class Processes:
    """The processes of one server, as they come and go."""

    def __init__(self, session: Connection, host: Host | None) -> None:
        """The session stays the caller's. Raises SetupError where the server is elsewhere."""
        if host is None or host.name:
            raise SetupError(ELSEWHERE)
        self._session = session
        with as_target_error("looking for the server's processes"):
            self.postmaster = postmaster_of(session, session.info.backend_pid, host)
        self.known: dict[int, tuple[str, str]] = {}
        self.look()

    def look(self) -> None:
        """Lists the processes of the server now; those seen before stay known."""
        with as_target_error("looking at the server's processes"):
            rows = self._session.execute(statement("trials/processes"), prepare=False).fetchall()
        for pid, kind, application in rows:
            # A parallel worker has its leader's application name, and says nothing by it.
            named = kind == _CLIENT and bool(application)
            self.known[pid] = (kind, f"application {application}" if named else "")
        self.known[self.postmaster] = ("postmaster", "")
        self.known[self._session.info.backend_pid] = (_OWN, "")

    def pids(self) -> list[int]:
        """Returns the ids of the postmaster and of the processes that it has started."""
        found = [self.postmaster, *children_of(self.postmaster)]
        if len(found) == 1:
            raise TargetRefused("processes-hidden")
        return sorted(found)


_LOOK_EVERY_S = 1.0
"""Looking, and counting transactions, are commits of our own on the server."""
_FOLDER = "pgassay-profile-"
_ABANDONED_S = 1200.0
"""A folder in which so long no file began or ended: the longest profile takes 10 minutes."""
_UNNAMED_SHARE = 0.05
"""From here on the profile says how to get the names."""
_CUT_OFF_SHARE = 0.2


class Taking:
    """A profile that is being taken."""

    def __init__(self, recording: Recording, processes: Processes, kind: Kind, hz: int) -> None:
        self._recording, self._processes = recording, processes
        self._kind, self._hz = kind, hz
        self._looked_s = time.monotonic()
        self._counted: list[tuple[int, float]] = []

    def follow(self, transactions: float | None) -> bool:
        """Is called a few times a second with the load's count of transactions; returns whether
        perf has ended."""
        if transactions is not None:
            self._counted.append((_core.now_ns(), transactions))
        if time.monotonic() - self._looked_s >= _LOOK_EVERY_S:
            self._looked_s = time.monotonic()
            self._processes.look()
        return self._recording.is_over()

    def wait(self, timeout_s: float) -> bool:
        """Waits for perf to end; returns whether it has."""
        return self._recording.wait(timeout_s)

    def profile(self, load: _core.Load | None = None) -> Profile:
        """Returns what was recorded as a profile; the load tells which scenario a session ran."""
        self._processes.look()
        # perf's clock is the monotonic one, whose zero is the machine's start.
        offset_ns = _core.now_ns() - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        text = str(self._recording.text())
        try:
            stacks, about = _core.fold_stacks(
                text,
                self._processes.known,
                clock_offset_ns=offset_ns,
                off_cpu=self._kind == "off-cpu",
                load=load,
            )
        except _core.CoreError as error:
            raise TrialRefused("recording-unreadable", why=error) from None
        found = json.loads(about)
        if not stacks:
            raise TrialRefused("no-sample")
        first_ns, last_ns = found["first_ns"] + offset_ns, found["last_ns"] + offset_ns
        return Profile(
            kind=self._kind,
            stacks=stacks,
            unit_ns=1e9 / self._hz if self._kind == "cpu" else 1e3 * SWITCHES,
            started_ns=first_ns,
            seconds=(last_ns - first_ns) / 1e9,
            samples=found["samples"],
            unnamed=found["unnamed"],
            cut_off=found["cut_off"],
            perf_cpu_s=self._recording.cpu_s,
            transactions=_between(self._counted, first_ns, last_ns),
            notes=(*self._recording.notes, *_notes(found)),
        )


@contextmanager
def taking(processes: Processes, kind: Kind, seconds: float, hz: int) -> Iterator[Taking]:
    """Runs perf on the server's processes, ended in any case; its files go with it."""
    remove_abandoned()
    with tempfile.TemporaryDirectory(prefix=_FOLDER) as folder:
        off_cpu = kind == "off-cpu"
        with Recording(processes.pids, Path(folder), seconds, hz, off_cpu=off_cpu) as recording:
            yield Taking(recording, processes, kind, hz)


def remove_abandoned() -> None:
    """Removes what killed profiles of this user left: parts of sessions' memory."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        with suppress(OSError):
            facts = folder.lstat()
            if facts.st_uid == os.geteuid() and time.time() - facts.st_mtime > _ABANDONED_S:
                shutil.rmtree(folder, ignore_errors=True)


def wait_for(
    one: Taking, seconds: float, goes_on: Callable[[], object], is_stopped: Callable[[], bool]
) -> None:
    """Waits until perf has ended or we are to stop; `goes_on` is called once a second, and may
    count transactions."""
    went_s = time.monotonic()
    limit_s = went_s + seconds + 60.0
    while not one.wait(0.2) and not is_stopped() and time.monotonic() < limit_s:
        if time.monotonic() - went_s >= _LOOK_EVERY_S:
            went_s = time.monotonic()
            goes_on()


def _between(counted: list[tuple[int, float]], first_ns: int, last_ns: int) -> float | None:
    """How many transactions ended between two times, on straight lines between the counts."""
    if len(counted) < 2 or last_ns <= first_ns:
        return None
    return _at(counted, last_ns) - _at(counted, first_ns)


def _at(counted: list[tuple[int, float]], time_ns: int) -> float:
    after = next((i for i, (at, _) in enumerate(counted) if at >= time_ns), len(counted) - 1)
    (t0, n0), (t1, n1) = counted[max(after, 1) - 1], counted[max(after, 1)]
    return n0 + (n1 - n0) * (time_ns - t0) / (t1 - t0) if t1 > t0 else n1


def _notes(found: dict[str, int]) -> Iterator[Note]:
    unnamed, cut_off = (
        100 * found[name] / max(found["samples"], 1) for name in ("unnamed", "cut_off")
    )
    if unnamed > 100 * _UNNAMED_SHARE:
        yield Note("trials/profile/unnamed", {"unnamed": unnamed})
    if cut_off > 100 * _CUT_OFF_SHARE:
        yield Note("trials/profile/cut-off", {"cut_off": cut_off})
    if not sees_kernel():
        yield Note("trials/profile/no-kernel")
