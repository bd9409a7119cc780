"""What no session of the load can change, in a switchback: settings of the whole server, which are
written, reloaded and read back at every slice switch, and knobs of the host, which are written.

Enters: a switchback trial, its plan, the opened target; the progress of its load.
Leaves: every slice under its arm's values, when each took effect; then the values of the beginning.
Never: writes a value that the target's journal does not know, or reloads before a switch.

The engine lays its slices on the time axis when it starts, and reports at any moment how long ago
that was; so every switch is known ahead, and delays are measured against the slices of its result.
A reload is asynchronous: the postmaster reads the files, then tells all backends, and each reads
them for itself before its next command, as this session does. So the files hold a slice's values
for the whole of it: a backend that is late would else read the next slice's. Slices that stay with
their arm have the same done to them. A knob is in force when it is written.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any

import psycopg

from pgassay import _core
from pgassay.errors import PgassayError
from pgassay.notes import note_of
from pgassay.plan.model import Arm, Plan, PlannedTrial
from pgassay.plan.switchback import rounds_of
from pgassay.refusals.refusal import TargetRefused, TrialRefused
from pgassay.server.connection.session import as_target_error
from pgassay.server.protocol import Connection, Target
from pgassay.server.settings.scope import SERVER
from pgassay.server.settings.statements import execute, reload
from pgassay.server.settings.values import confirm, find, read_settings
from pgassay.server.statements import statement
from pgassay.server.undo.undo_sql import RELOAD, assignment
from pgassay.spec.server.host_knobs import normal
from pgassay.trials.load.slices import PARTS

_POLL_S = 0.0005
_ENDS_WITHIN_S = 90.0
"""Longer than the limit of one statement of a control session."""
_LOOKS = 5
"""Readings of the load's progress; the quickest one counts."""
Values = Mapping[str, str]


@dataclass(frozen=True)
class _Edge:
    """When one slice's values were requested, and took effect; on the load's own axis."""

    asked_ns: int
    in_force_ns: int | None
    """None where they were not in force when the slice ended."""
    too_soon: bool = False
    """Somebody else has reloaded, or written a knob, since the edge before."""


class Reloads:
    """Reloads the server, and writes the knobs of its host, at the edges of the slices of one
    trial."""

    def __init__(
        self,
        session: Connection,
        target: Target,
        arms: Sequence[Arm],
        order: Sequence[str],
        slice_s: float,
        warmup_s: float,
    ) -> None:
        self._session, self._target = session, target
        self._values: Mapping[str, Values] = {arm.id: arm.settings for arm in arms}
        self._knobs: Mapping[str, Values] = {arm.id: arm.knobs for arm in arms}
        self._order = order
        self._slice_s, self._warmup_s = slice_s, warmup_s
        self._names = list(self._values[order[0]])
        self._shown: dict[str, list[str]] = {}
        self._loaded: object = None
        self._edges: list[_Edge] = []
        self._over = Event()
        self._thread: Thread | None = None
        self._failed: BaseException | None = None

    def rehearse(self) -> None:
        """Brings the values of every arm into force once, the first slice's last, and see how each
        reads back. The load has not begun."""
        arms = [arm for arm in self._values if arm != self._order[0]]
        for arm in (*arms, self._order[0]):
            self._bring(arm)
            self._loaded, self._shown[arm] = self._read()

    def put_back(self, arm: str) -> None:
        """Brings the values of one arm into force again, after the load."""
        self._bring(arm)

    def follow(self, progress: Callable[[], str]) -> None:
        """Follows the load from slice to slice; returns at once. `progress` is the load's.

        Called again it raises what went wrong since, so that the load is stopped.
        """
        if self._failed is not None:
            why = note_of(self._failed)
            raise TrialRefused("alternation-failed", why=why) from self._failed
        if self._thread is None and (started_ns := _started_ns(progress)) is not None:
            began_ns = started_ns + round(self._warmup_s * 1e9)
            self._thread = Thread(target=self._run, args=(began_ns,), daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Stops reloading the server."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(_ENDS_WITHIN_S)
            if self._thread.is_alive():
                raise TargetRefused("alternation-without-answer")
            self._thread = None

    def described(self, slices: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Returns an object for trial.json: how many switches of slices there were; at how many of
        them the values took effect only after the part of the slice that is cut off, or another
        session had reloaded before."""
        begun = [one["start_ns"] for one in slices[1 : len(self._order)]]
        edges = list(zip(self._edges, begun, strict=False))
        asked = [(edge.asked_ns - at) / 1e6 for edge, at in edges]
        effective = [
            None if e.in_force_ns is None else (e.in_force_ns - at) / 1e6 for e, at in edges
        ]
        cut_ms = 1000.0 * self._slice_s / PARTS
        return {
            "settings": [*self._names, *self._knobs[self._order[0]]],
            "edges": len(begun),
            "late": sum(ms is None or ms > cut_ms for ms in effective) + len(begun) - len(edges),
            "disturbed": sum(edge.too_soon or edge.asked_ns < at for edge, at in edges),
            "asked_ms": _summary(asked),
            "in_force_ms": _summary([ms for ms in effective if ms is not None]),
        }

    def _bring(self, arm: str) -> None:
        self._target.alternate(self._knobs[arm])
        if not self._names:
            return
        self._write(arm)
        reload(self._session)
        found = read_settings(self._session)
        for name, value in self._values[arm].items():
            confirm(value, find(found, name), name)

    def _run(self, began_ns: int) -> None:
        try:
            change = self._reloaded_at if self._names else self._written_at
            for number in range(1, len(self._order)):
                edge_ns = began_ns + round(number * self._slice_s * 1e9)
                if self._over.wait(max(0.0, (edge_ns - _core.now_ns()) / 1e9)):
                    return
                self._edges.append(change(number, edge_ns))
        except (PgassayError, psycopg.Error) as error:
            self._failed = error

    def _written_at(self, number: int, _: int) -> _Edge:
        asked_ns = _core.now_ns()
        before = self._target.alternate(self._knobs[self._order[number]])
        ours = self._knobs[self._order[number - 1]]
        others = any(normal(ours[name]) != value for name, value in before.items())
        return _Edge(asked_ns, _core.now_ns(), others)

    def _reloaded_at(self, number: int, edge_ns: int) -> _Edge:
        arm = self._order[number]
        before, _ = self._read()
        # What was not in force when its slice ended came since: that was no other's reload.
        seen_last = not self._edges or self._edges[-1].in_force_ns is not None
        too_soon = seen_last and before != self._loaded
        too_soon |= self._written_at(number, edge_ns).too_soon
        self._write(arm)
        asked_ns = _core.now_ns()
        self._session.execute(RELOAD)
        while True:
            self._loaded, shown = self._read()
            seen_ns = _core.now_ns()
            if self._loaded != before and shown == self._shown[arm]:
                return _Edge(asked_ns, seen_ns, too_soon)
            if seen_ns - edge_ns >= self._slice_s * 1e9 or self._over.wait(_POLL_S):
                return _Edge(asked_ns, None, too_soon)

    def _write(self, arm: str) -> None:
        for name, value in self._values[arm].items():
            execute(self._session, assignment(name, value, SERVER.alter), name)

    def _read(self) -> tuple[object, list[str]]:
        row = self._session.execute(statement("trials/reloaded"), (self._names,)).fetchone()
        return (row[0], list(row[1])) if row else (None, [])


@contextmanager
def reloads_of(trial: PlannedTrial, plan: Plan, target: Target) -> Iterator[Reloads | None]:
    """Provides the reloads around a trial's load; None where no setting of the whole server and no
    knob of the host alternates."""
    first = plan.arms[0]
    if trial.slice_s is None or plan.side_by_side or not (first.settings or first.knobs):
        yield None
        return
    target.announce(
        _levels([arm.settings for arm in plan.arms]), _levels([arm.knobs for arm in plan.arms])
    )
    order = [arm for arms in rounds_of(plan, trial) for arm in arms]
    # A trial whose arms alternate has one measured step.
    warmup_s = sum(step.duration_s for step in plan.steps_in(trial.block) if not step.measured)
    with as_target_error("settings that alternate"), target.connect() as session:
        session.execute("RESET jit")  # it may alternate, and this session waits until it sees that
        reloads = Reloads(session, target, plan.arms, order, trial.slice_s, warmup_s)
        try:
            reloads.rehearse()
            yield reloads
        except BaseException:
            # What cannot be put back now is on the list of what the target restores.
            with suppress(PgassayError, psycopg.Error):
                reloads.end()
                reloads.put_back(first.id)
            raise
        reloads.end()
        reloads.put_back(first.id)


def _levels(values: Sequence[Values]) -> dict[str, list[str]]:
    return {name: [*dict.fromkeys(one[name] for one in values)] for name in values[0]}


def _started_ns(progress: Callable[[], str]) -> int | None:
    """When a load started, by its progress; None before it did."""
    found: list[tuple[int, int]] = []
    for _ in range(_LOOKS):
        before_ns = _core.now_ns()
        elapsed_s = float(json.loads(progress())["elapsed_s"])
        after_ns = _core.now_ns()
        if elapsed_s <= 0.0:
            return None
        found.append((after_ns - before_ns, (before_ns + after_ns) // 2 - round(elapsed_s * 1e9)))
    return min(found)[1]


def _summary(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    ordered = sorted(values)
    return {
        "median": round(statistics.median(ordered), 3),
        "p95": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 3),
        "max": round(ordered[-1], 3),
    }
