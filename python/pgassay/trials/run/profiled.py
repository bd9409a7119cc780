"""Profiles of every arm, in trials of their own of which nothing is measured.

Enters: what the trials of a run have in common, when all of them are done. Leaves: the profiles of
each arm, and notes of what could not be profiled. Never: a trial of the plan; an arm that fails
costs the run nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgassay.errors import PgassayError
from pgassay.interruption import raise_if_interrupted
from pgassay.notes import Note, note_of
from pgassay.plan.model import Arm, PlannedTrial
from pgassay.server.connection.session import connect
from pgassay.spec.model import ProfileTable
from pgassay.trials.load.trial_load import TrialLoad, open_trial_load
from pgassay.trials.profile.model import Kind, Profile
from pgassay.trials.profile.perf import program
from pgassay.trials.profile.taking import ELSEWHERE, Processes, Taking, taking
from pgassay.trials.run.reset_servers import reset_servers
from pgassay.trials.run.trial import TrialContext

_MARGIN_S = 0.5
"""perf ends so long before the load does."""


@dataclass(frozen=True)
class ArmProfiles:
    """The profiles of one arm."""

    arm: Arm
    profiles: tuple[Profile, ...]


def profile_arms(
    asked: ProfileTable, context: TrialContext, note: Callable[[Note], None]
) -> Iterator[ArmProfiles]:
    """Yields each arm as soon as it is profiled; `note` gets what could not be."""
    plan = context.plan
    if plan.alternates:
        note(Note("trials/profile/arms-alternate"))
        return
    try:
        program()
    except PgassayError as error:
        note(Note("trials/profile/no-profiles", {"why": note_of(error)}))
        return
    host = context.target.host()
    if host is None or host.name:
        note(Note("trials/profile/no-profiles", {"why": ELSEWHERE}))
        return
    number = 2 * plan.trials[-1].number
    for position, arm in enumerate(plan.arms, start=1):
        context.listener.preparing(f"profiling {arm.label}; nothing is measured")
        trial = PlannedTrial(number + position, plan.max_blocks + 1, position, arm.id)
        try:
            yield ArmProfiles(arm, tuple(_profiles(trial, asked, context, note)))
        except (PgassayError, OSError) as error:
            note(Note.of("trials/profile/none-of", of=arm.label, why=note_of(error)))


def _profiles(
    trial: PlannedTrial, asked: ProfileTable, context: TrialContext, note: Callable[[Note], None]
) -> list[Profile]:
    raise_if_interrupted()
    plan, target = context.plan, context.target
    (server,) = reset_servers(trial, plan, target, context.testbeds, resumed=False)
    parameters = server.target.parameters()
    with ExitStack() as around:
        folder = Path(around.enter_context(tempfile.TemporaryDirectory(prefix="pgassay-load-")))
        session = around.enter_context(connect(parameters))
        load = open_trial_load(
            trial,
            context.spec,
            plan,
            {trial.arm: parameters},
            lambda _: folder,
            context.placement,
            context.generators,
        )
        if load.native is not None:
            load.native.keep_history()
        processes = Processes(session, server.target.host())
        measured_s = sum(step.duration_s for step in plan.steps if step.measured)
        kinds: tuple[Kind, ...] = ("cpu", "off-cpu") if asked.off_cpu else ("cpu",)
        seconds = min(asked.seconds, measured_s / len(kinds) - _MARGIN_S)
        following = _Following(kinds, max(seconds, _MARGIN_S), asked.hz, processes, around)
        load.run(following.progressed, lambda: 0)
        return following.profiles(load, note)


class _Following:
    """Takes one profile after the other while a load runs."""

    def __init__(
        self,
        kinds: tuple[Kind, ...],
        seconds: float,
        hz: int,
        processes: Processes,
        around: ExitStack,
    ) -> None:
        self._left = list(kinds)
        self._seconds, self._hz = seconds, hz
        self._processes, self._around = processes, around
        self._taken: list[Taking] = []
        self._refused: list[Note] = []

    def progressed(self, progress: Mapping[str, Any]) -> None:
        """Is called while the load runs; starts perf with the first measured step."""
        raise_if_interrupted()
        transactions = float(progress["transactions"])
        is_free = not self._taken or self._taken[-1].follow(transactions)
        if is_free and self._left and progress["measured"]:
            kind = self._left.pop(0)
            try:
                one = taking(self._processes, kind, self._seconds, self._hz)
                self._taken.append(self._around.enter_context(one))
                self._taken[-1].follow(transactions)
            except (PgassayError, OSError) as error:
                self._refused.append(note_of(error))

    def profiles(self, load: TrialLoad, note: Callable[[Note], None]) -> list[Profile]:
        """Returns the profiles that were taken, once the load has ended."""
        for refused in self._refused:
            note(refused)
        return [one.profile(load.native) for one in self._taken]
