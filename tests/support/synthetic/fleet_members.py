"""Members of a fleet without servers: they make records up, and are lost when a test says so.

Enters: a plan, when a member is lost or slow. Leaves: records. Never: needs Ray or a server.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from pgassay.cluster.calls import ActorLost
from pgassay.errors import TrialError
from pgassay.notes import Note
from pgassay.plan.model import Plan, PlannedTrial
from pgassay.readings.trial_readings import TrialReadings
from pgassay.samples.run_directory import RunDirectory
from pgassay.trials.model.record import TrialRecord, Validity
from pgassay.trials.run.progress import ProgressListener
from support.synthetic.directories import record_of, synthetic_run

BROKEN = "not one transaction succeeded"
"""Why the trial of a member fails that is broken."""


def empty_run(path: Path, spec_text: str) -> TrialReadings:
    """A run whose plan is stored, without a trial."""
    run, _, plan = synthetic_run(path, spec_text=spec_text, blocks=1)
    shutil.rmtree(path / "trials")
    (path / "trials").mkdir()
    return TrialReadings(run, plan)


class MadeUpMember:
    """Runs trials in no time."""

    def __init__(
        self,
        name: str,
        plan: Plan,
        *,
        lost_at: int | None = None,
        broken_at: int | None = None,
        invalid: Collection[int] = (),
        effects: Mapping[str, float] | None = None,
        waits_for: threading.Event | None = None,
    ) -> None:
        """It is lost in its nth trial, or its nth trial fails; it waits before its first."""
        self.name, self._plan = name, plan
        self._lost_at, self._broken_at = lost_at, broken_at
        self._invalid, self._effects = invalid, effects or {}
        self._waits_for = waits_for
        self._source = np.random.default_rng(len(name))
        self.ran: list[PlannedTrial] = []

    def run(self, trial: PlannedTrial, known_texts: frozenset[str], resumed: bool) -> TrialRecord:
        if self._waits_for is not None:
            assert self._waits_for.wait(300)
        self.ran.append(trial)
        if len(self.ran) == self._lost_at:
            raise ActorLost("actor-ended", why="connection refused")
        if len(self.ran) == self._broken_at:
            raise TrialError(f"trial {trial.number}: {BROKEN}")
        effect = self._effects.get(trial.arm, 0.0)
        record = record_of(trial, self._plan, effect, 0.005, self._source)
        reasons = (Note("trials/guards/restart"),) if trial.number in self._invalid else ()
        return replace(record, repeats=trial.repeats, validity=Validity(reasons))


class Heard(ProgressListener):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.stored: list[tuple[int, str]] = []

    def warned(self, text: str) -> None:
        self.warnings.append(text)

    def trial_of_fleet(
        self, trial: PlannedTrial, label: str, server: str, tps: float | None
    ) -> None:
        self.stored.append((trial.number, server))


def servers_by_trial(run: RunDirectory) -> dict[int, str]:
    """Trial → the server it is stored with."""
    return {number: run.trial(number).summary().server for number in run.finished()}
