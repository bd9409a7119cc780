"""One trial: reset the servers, run the load, record what was measured.

Enters: a planned trial, what all trials of its run have in common. Leaves: a `TrialRecord`.
Never: stores anything, decides what comes next, or hides a failure: a trial in which not one
transaction succeeded is a TrialError.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from pgassay import _core
from pgassay.errors import TargetError, TrialError
from pgassay.interruption import raise_if_interrupted
from pgassay.notes import Note, note_of
from pgassay.plan.model import ALL_ARMS, Plan, PlannedTrial
from pgassay.server.data.varied_objects import MadeLevel
from pgassay.server.hosts.placement import NOWHERE, Placement
from pgassay.server.protocol import ConnectionParameters, Target
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.experiment import Spec
from pgassay.trials.guards.guards import OF_THE_HOST, GuardResult, caveats_among, validity_of
from pgassay.trials.guards.invariants import conditions_of
from pgassay.trials.guards.thresholds import own_limits
from pgassay.trials.load.caveats import failure_notes, load_notes, lost_generators, refuse_failed
from pgassay.trials.load.group import Generators, OnThisMachine
from pgassay.trials.load.overriding import overridden
from pgassay.trials.load.reloading import reloads_of
from pgassay.trials.load.trial_load import ArmsAtOnce, TrialLoad, open_trial_load, open_writes
from pgassay.trials.model.columns import without_samples
from pgassay.trials.model.record import FailedTrial, TrialRecord
from pgassay.trials.plans.capture import plan_notes, plans_of_trial
from pgassay.trials.run.limits import LimitWatch, Seen
from pgassay.trials.run.progress import ProgressListener
from pgassay.trials.run.reset_servers import TrialServer, describe_resets, reset_servers
from pgassay.trials.run.server_watch import TrialWatch
from pgassay.trials.run.testbeds import Testbeds, hidden_by


@dataclass(frozen=True)
class TrialContext:
    """What every trial of a run has in common."""

    spec: Spec
    plan: Plan
    target: Target
    testbeds: Testbeds
    listener: ProgressListener
    output_folder: Callable[[int], Path]
    """Makes the folder that a trial's own files are put in."""
    note_failed: Callable[[FailedTrial], None]
    """Stores that a trial broke off."""
    placement: Placement = NOWHERE
    notes: tuple[Note, ...] = ()
    """Those that hold for every trial of the run."""
    known_texts: Callable[[], Collection[str]] = tuple
    """The ids of statements whose texts are stored already."""
    generators: Generators = field(default_factory=OnThisMachine)
    seen: Seen = field(default_factory=Seen)
    """By the limits of `[guard]`."""
    levels: Mapping[str, MadeLevel] = field(default_factory=dict)
    """Level of the schema → what it has made, where all levels are in the data at once."""


def run_trial(trial: PlannedTrial, context: TrialContext, *, resumed: bool = False) -> TrialRecord:
    """Runs one trial; `run_trials` says more."""
    (record,) = run_trials([trial], context, resumed=resumed)
    return record


def run_trials(
    trials: Sequence[PlannedTrial], context: TrialContext, *, resumed: bool = False
) -> list[TrialRecord]:
    """Runs one trial, or several at once whose arms differ in what a session sets or sends;
    whatever the server refuses in it is a TrialError that names the trial.

    `resumed` says that another process ran the trial before it.
    """
    trial = trials[0]
    try:
        try:
            return list(_run(trials, context, resumed=resumed))
        except TargetError as error:
            of_trial = Note.of("trials/run/of-trial", number=trial.number, why=note_of(error))
            raise TrialError(of_trial) from error
    except TrialError as error:
        reason = note_of(error)
        failed = FailedTrial(trial.number, trial.block, trial.arm, reason, trial.repeats)
        context.note_failed(failed)
        raise


def _run(
    trials: Sequence[PlannedTrial], context: TrialContext, *, resumed: bool
) -> Iterator[TrialRecord]:
    raise_if_interrupted()
    trial = trials[0]
    plan, target, testbeds = context.plan, context.target, context.testbeds
    started_ns = _core.now_ns()
    shown = ALL_ARMS if len(trials) > 1 else trial.arm
    context.listener.trial_began(trial, plan.arm(shown).label)
    servers = reset_servers(trial, plan, target, testbeds, resumed=resumed)
    # Before the load opens its connections: what they bring is the trial's own doing.
    watches = [
        TrialWatch(server, own_limits(), context.known_texts, reads_host=server is servers[0])
        for server in servers
    ]
    reached = {one.arm.id: one.target.parameters() for one in servers}
    load = open_trial_load(
        trial,
        context.spec,
        plan,
        reached,
        context.output_folder,
        context.placement,
        context.generators,
        trials[1:],
        hidden_by(context.levels, plan.arms),
    )
    result, reloading = _run_load(trial, context, watches, load)
    crashes = [watch.read_log() for watch in watches]
    killed = next(filter(None, (watch.killed_for_memory() for watch in watches)), None)
    refuse_failed(trial.number, result, next(filter(None, crashes), ""), killed)
    results = list(_guard_results(watches, context.spec, load.backends, result, reloading))
    # When everything of the load has been read, so that nothing of it is of our making.
    plans = plans_of_trial(context.spec, plan, reached)
    set_by_load = _set_by_load(trial, context, reached, result)
    writes = _run_writes(trial, context, servers)
    notes = (
        *context.notes,
        *_load_notes(trial, context, result),
        *caveats_among(results),
        *_notes(watches),
        *plan_notes(plans),
        *_notes_of_writes(writes),
    )
    first, stored = watches[0], watches[0].stored()
    if len(trials) > 1:  # but for the load's waits, what was sampled is of all arms together
        stored |= without_samples(stored["fingerprint"])
    for one in trials:
        own, intervals, more = result, load.intervals(), load.stored()
        if len(trials) > 1:
            own, intervals, more = cast(ArmsAtOnce, load).of_arm(one.arm, first.samples.waits)
        arm = plan.arm(one.arm)
        yield TrialRecord(
            number=one.number,
            block=one.block,
            position=one.position,
            arm=one.arm,
            levels={} if arm.alternating else arm.levels,
            repeats=one.repeats,
            started_ns=started_ns,
            ended_ns=_core.now_ns(),
            reset=describe_resets(one, servers, testbeds),
            load=own,
            writes=writes,
            intervals=intervals,
            leading_bits=load.leading_bits,
            kept=load.kept,
            reloading=reloading,
            validity=validity_of(results),
            notes=notes,
            placement=first.placement(load.placed),
            plans=plans,
            set_by_load=set_by_load,
            statements={
                id_: text for each in watches for id_, text in each.statement_texts.items()
            },
            **(stored | more),
        )


def _set_by_load(
    trial: PlannedTrial,
    context: TrialContext,
    reached: Mapping[str, ConnectionParameters],
    result: Mapping[str, Any],
) -> Mapping[str, Sequence[str]]:
    """Once for every arm: its scripts are the same in all blocks."""
    if trial.block != 1:
        return {}
    spec = spec_of_arm(context.spec, context.plan.arm(trial.arm).by_kind)
    return overridden(
        spec, next(iter(reached.values())), result, in_sessions=trial.slice_s is not None
    )


def _run_load(
    trial: PlannedTrial, context: TrialContext, watches: Sequence[TrialWatch], load: TrialLoad
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run the load under observation: its result, and how settings alternated meanwhile."""
    first, place = watches[0], context.placement.sampler
    with ExitStack() as around:
        for watch in watches:
            every_s = context.spec.file.sampling.waits
            around.enter_context(
                watch.sampling(load.native, place, every_s, alone=len(watches) == 1)
            )
        around.enter_context(first.processors_counted(watches[1:]))
        reloads = around.enter_context(reloads_of(trial, context.plan, first.server.target))
        targets = [one.server.target for one in watches]
        limits = LimitWatch(context.spec.file.guard, targets, context.seen)
        around.callback(limits.close)

        def in_progress(progress: Mapping[str, Any]) -> None:
            raise_if_interrupted()
            limits.look()
            if reloads is not None and load.native is not None:
                reloads.follow(load.native.progress)
            context.listener.loading(progress, first.live_figures())
            for watch in watches:
                watch.samples.take_if_due()

        result = load.run(in_progress, lambda: first.own_transactions() + limits.transactions)
    return result, {} if reloads is None else reloads.described(result["slices"])


def _run_writes(
    trial: PlannedTrial, context: TrialContext, servers: Sequence[TrialServer]
) -> dict[str, Any] | None:
    """Run the writes of a query set: last, so that its queries and their readings see the data
    unchanged. Blocks of a few queries have none."""
    if context.spec.writes is None or not context.plan.executes_all(trial.block):
        return None
    targets = [one.target for one in servers]
    limits = LimitWatch(context.spec.file.guard, targets, context.seen)
    with ExitStack() as around:
        around.callback(limits.close)

        def in_progress(progress: Mapping[str, Any]) -> None:
            raise_if_interrupted()
            limits.look()
            context.listener.loading(progress)

        load = open_writes(
            trial, context.spec, context.plan, targets[0].parameters(), context.placement
        )
        result = load.run(in_progress)
    refuse_failed(trial.number, result, "")
    return result


def _notes_of_writes(result: Mapping[str, Any] | None) -> list[Note]:
    found = [] if result is None else failure_notes(result)
    return [Note.of("trials/run/of-writes", note=note) for note in found]


def _guard_results(
    watches: Sequence[TrialWatch],
    spec: Spec,
    own_backends: Collection[int],
    result: Mapping[str, Any],
    reloading: Mapping[str, Any],
) -> Iterator[GuardResult]:
    """Of every server; one of several is named by its arm."""
    for watch in watches:
        arm = watch.server.arm
        for found in watch.judge(
            conditions_of(spec_of_arm(spec, arm.by_kind), arm, own_backends), result, reloading
        ):
            named = len(watches) > 1 and found.guard not in OF_THE_HOST
            of_arm = Note("trials/guards/of-arm", {"arm": arm.label, "note": found.note})
            yield replace(found, note=of_arm) if named else found


def _notes(watches: Sequence[TrialWatch]) -> Iterator[Note]:
    """What could not be read; a note that not all servers share is of the server's arm."""
    of_each = {watch.server.arm.label: watch.notes() for watch in watches}
    yield from watches[0].host_sources.notes
    for note in dict.fromkeys(note for notes in of_each.values() for note in notes):
        arms = [arm for arm, notes in of_each.items() if note in notes]
        if len(arms) == len(watches):
            yield note
        else:
            yield from (Note.of("trials/guards/of-arm", arm=arm, note=note) for arm in arms)


def _load_notes(
    trial: PlannedTrial, context: TrialContext, result: Mapping[str, Any]
) -> list[Note]:
    plan, threads = context.plan, context.spec.file.load.threads
    if result["backend"] == "command":
        threads = os.cpu_count() or 1
    return [
        *lost_generators(context.generators.lost),
        *load_notes(result, plan.steps_in(trial.block), threads, arms_alternate=plan.alternates),
    ]
