"""What must not change while a trial runs: read before the load and after it; checks of the data.

Enters: an opened target, reset for a trial; later the trial's samples; the workload's checks.
Leaves: the guards' results, both fingerprints for trial.json, for each check that found a row that
row in words. Never: writes, or does any work while the load is measured.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Any

import psycopg

from pgassay.errors import ConnectionRefused, TargetError
from pgassay.notes import Note
from pgassay.plan.model import Arm
from pgassay.server.connection.session import connect, one_line
from pgassay.server.protocol import NOTHING, Connection, ConnectionParameters, ServerFacts, Target
from pgassay.server.statements import statement
from pgassay.spec.experiment import Spec
from pgassay.spec.workload.folder import DataCheck
from pgassay.trials.checkpoints.counted import DECIDED_BY, with_asked_for
from pgassay.trials.guards.fingerprint import take_fingerprint
from pgassay.trials.guards.foreign_sessions import (
    foreign_load,
    foreign_maintenance,
    measured_window,
)
from pgassay.trials.guards.guards import Evidence, GuardResult, judge, killed_for_memory
from pgassay.trials.guards.thresholds import Limits, overlaid
from pgassay.trials.host.other_programs import OtherPrograms, other_programs
from pgassay.trials.host.processes import ProcessReading, read_processes
from pgassay.trials.host.processor_times import ProcessorSplit, split_between
from pgassay.trials.model.record import Checkpoint, Columns


@dataclass(frozen=True)
class Conditions:
    """The settings and scripts of a trial on one server."""

    settings: Collection[str] = ()
    """Names of the settings that the experiment sets."""
    varied: Collection[str] = ()
    """Names of those settings that are its factors."""
    scripts: Sequence[str] | None = None
    """The load's scripts; None for a program of the user's, which may do anything."""
    arms_alternate: bool = False
    """Whether the arms' settings alternate on this server during the trial."""
    checks: Sequence[DataCheck] = ()
    """Those of the workload, at its scale."""
    own_backends: Collection[int] = ()
    """The server's processes of the load's connections, as far as they are known."""


def conditions_of(spec: Spec, arm: Arm, own_backends: Collection[int] = ()) -> Conditions:
    """Returns the conditions of an arm; `spec` is the arm's own."""
    is_engine = spec.file.load.runs_scripts
    return Conditions(
        settings={*spec.file.settings.postgres, *arm.settings},
        varied=spec.file.factors.postgres.keys(),
        scripts=[one.script for one in spec.workload.scenarios] if is_engine else None,
        arms_alternate=arm.alternating,
        checks=spec.workload.checks_at(spec.file.workload.scale),
        own_backends=own_backends,
    )


class InvariantWatch:
    """Compares a server after a trial's load with the same server before it."""

    def __init__(self, target: Target, facts: ServerFacts, own_limits: Limits) -> None:
        """Takes the first fingerprint; `own_limits` are the user's thresholds."""
        self._target, self._facts = target, facts
        self._own_limits, self._limits = own_limits, overlaid(own_limits)
        self._before = self._after = take_fingerprint(target, facts)
        self._processors: ProcessorSplit | None = None
        self._others: OtherPrograms | None = None
        self._consistency = Consistency()

    @property
    def postmaster(self) -> int | None:
        """The server's process id on its host; None where that is unknown."""
        return self._before.postmaster

    def killed_for_memory(self) -> Note | None:
        """Returns a note where the kernel has killed a process of the server since the first
        reading; else None."""
        before, now = self._before.memory, self._target.memory_use()
        found = killed_for_memory(before, now, self._limits)
        return None if found is None else found.note

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on checks of the data that say nothing."""
        return tuple(self._consistency.notes)

    @contextmanager
    def processors_counted(self, others: Collection[int | None] = ()) -> Iterator[None]:
        """Measures who uses the host during the load.

        `others` are the postmasters of the other servers under test: their work is not foreign.
        """
        servers = [pid for pid in (self.postmaster, *others) if pid is not None]
        are_known = len(servers) == 1 + len(others)
        began = self._processes() if are_known else None
        yield
        ended = self._processes() if are_known else None
        self._processors = split_between(began, ended, servers)
        self._others = other_programs(began, ended, self._processors, servers)

    def results(
        self,
        conditions: Conditions,
        load: Mapping[str, Any],
        waits: Mapping[str, Iterable[Any]],
        counters: Columns,
        checkpoints: Sequence[Checkpoint],
        reloading: Mapping[str, Any] = NOTHING,
    ) -> list[GuardResult]:
        """Takes the second fingerprint and judges the trial; `load` is the result of its load."""
        self._after = take_fingerprint(self._target, self._facts)
        window = measured_window(load["steps"])
        # Last, because these queries may read whole tables.
        self._consistency = check_data(
            conditions.checks,
            self._target.parameters(),
            all_limit_s=max(ALL_LIMIT_S, round((window[1] - window[0]) / 1e9)),
        )
        host = self._target.host()
        is_engine = conditions.scripts is not None
        fewest = self._limits["foreign-sessions"]["fewest_samples"]
        # If the volume that triggers checkpoints alternates, WAL does not show what caused one.
        if not (conditions.arms_alternate and DECIDED_BY & set(conditions.varied)):
            before = self._before
            checkpoints = with_asked_for(
                checkpoints, counters, before.settings, before.redo_position
            )
        evidence = Evidence(
            before=self._before,
            after=self._after,
            processors=self._processors,
            others=self._others,
            foreign_load=(
                foreign_load(waits, window, fewest, conditions.own_backends) if is_engine else None
            ),
            # The user's program may do maintenance of its own.
            maintenance=foreign_maintenance(counters, window) if is_engine else (),
            checkpoints=[c for c in checkpoints if window[0] <= c.started_ns < window[1]],
            scripts=conditions.scripts,
            settings=conditions.settings,
            varied=conditions.varied,
            awaits_outages=bool(load.get("outages")),
            shares_clock=host is None or not host.name,
            late_reloads=(
                (reloading["late"] + reloading["disturbed"]) / max(1, reloading["edges"])
                if reloading
                else None
            ),
            violations=self._consistency.violations,
        )
        return judge(evidence, self._limits)

    def _processes(self) -> ProcessReading | None:
        """None where the host cannot be read; the second fingerprint reports that."""
        host = self._target.host()
        with suppress(TargetError):
            return None if host is None else read_processes(host)
        return None

    def described(self) -> dict[str, Any]:
        """Returns the `fingerprint` object of trial.json; afterwards only the settings that
        changed."""
        return {
            "before": self._before.described(),
            "after": self._after.described(self._before),
            "checks_held": list(self._consistency.held),
            "own_thresholds": {guard: dict(limit) for guard, limit in self._own_limits.items()},
            "processors": self._processors
            and {name: round(seconds, 3) for name, seconds in asdict(self._processors).items()},
            "other_programs": self._others and self._others.described(),
        }


ALL_LIMIT_S = 30.0
"""At least: else as long as the load. After it no other check begins, as the next trial waits."""
_SHARE_OF_ONE = 3
"""A check gets this part of the time for all."""
_CURSOR = "pgassay_check"
_MOST_CHARACTERS = 40
"""Of one value."""
_MOST_COLUMNS = 8


@dataclass
class Consistency:
    """What the checks of one server found."""

    violations: dict[str, str] = field(default_factory=dict)
    """Check → the first row that it found."""
    notes: list[Note] = field(default_factory=list)
    """On each check that says nothing, and why."""
    held: list[str] = field(default_factory=list)


def check_data(
    checks: Sequence[DataCheck],
    server: ConnectionParameters,
    *,
    limit_s: float | None = None,
    all_limit_s: float = ALL_LIMIT_S,
) -> Consistency:
    """Runs each check in one session, which can write nothing; without checks there is none."""
    found = Consistency()
    if not checks:
        return found
    if limit_s is None:
        limit_s = float(max(1, round(all_limit_s / _SHARE_OF_ONE)))
    end = time.monotonic() + all_limit_s
    try:
        with connect(
            server, statement_limit_s=limit_s, lasts_s=all_limit_s + limit_s, keeps_path=True
        ) as session:
            session.execute(statement("trials/read_only"), prepare=False)
            for check in checks:
                if time.monotonic() >= end:
                    found.notes.append(
                        Note.of(
                            "trials/guards/check-not-run", name=check.name, all_limit_s=all_limit_s
                        )
                    )
                else:
                    _check(session, check, found, limit_s)
    except (psycopg.Error, ConnectionRefused, TargetError) as error:
        found.notes.append(Note("trials/guards/checks-unfinished", {"error": one_line(error)}))
    return found


def _check(session: Connection, check: DataCheck, found: Consistency, limit_s: float) -> None:
    try:
        row = _first_row(session, check.sql)
    except psycopg.errors.QueryCanceled:
        found.notes.append(
            Note.of("trials/guards/check-too-long", name=check.name, limit_s=limit_s)
        )
    except psycopg.Error as error:
        if session.broken or session.closed:
            raise
        found.notes.append(
            Note.of("trials/guards/check-refused", name=check.name, error=one_line(error))
        )
    else:
        if row:
            found.violations[check.name] = row
        else:
            found.held.append(check.name)


def _first_row(session: Connection, query: str) -> str:
    """In words; empty if there is none. A cursor, because there may be millions of them."""
    with session.transaction(), session.cursor(_CURSOR) as cursor:
        cursor.execute(query.encode())
        row = cursor.fetchone()
        if row is None:
            return ""
        columns = [column.name for column in cursor.description or ()]
        values = [
            f"{_short(name)} = {_short(value)}" for name, value in zip(columns, row, strict=True)
        ]
        more = ", …" if len(values) > _MOST_COLUMNS else ""
        return ", ".join(values[:_MOST_COLUMNS]) + more or "a row without columns"


def _short(value: object) -> str:
    """In one line, without characters that a terminal obeys."""
    text = "NULL" if value is None else str(value)
    shown = "".join(one if one.isprintable() else " " for one in text[: _MOST_CHARACTERS + 1])
    return shown if len(shown) <= _MOST_CHARACTERS else f"{shown[:_MOST_CHARACTERS]}…"
