"""One trial, from reset to record.

Enters: a planned trial, the plan, the workload, an opened target. Leaves: a `TrialRecord`.
Never: stores anything, decides what comes next, or hides a failure: a trial in which not one
transaction succeeded is a TrialError.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pgassay import _core
from pgassay.errors import TargetError, TrialError
from pgassay.interruption import raise_if_asked
from pgassay.plan.model import Plan, PlannedTrial
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.parse import Spec
from pgassay.target.placement import NOWHERE, Placement
from pgassay.target.protocol import Ground, ServerFacts, Target
from pgassay.target.session import told_as_target_error
from pgassay.trials.checkpoints import CheckpointThread, other_events
from pgassay.trials.doubts import load_doubts
from pgassay.trials.drained import Drained
from pgassay.trials.glance import Watch
from pgassay.trials.grounds import Grounds
from pgassay.trials.guards import doubts_among, validity_of
from pgassay.trials.host_over_sql import sources_over_sql
from pgassay.trials.host_sources import host_sources
from pgassay.trials.loads import open_trial_load
from pgassay.trials.observer import Observer
from pgassay.trials.queries import extensions_in
from pgassay.trials.record import FailedTrial, TrialRecord
from pgassay.trials.reloading import reloads_of
from pgassay.trials.sameness import SamenessWatch
from pgassay.trials.sampling import open_sampler, transactions_of
from pgassay.trials.server_clock import ServerClock
from pgassay.trials.server_log.reader import ServerLog
from pgassay.trials.side_by_side import (
    ArmServer,
    WatchedBeside,
    connections_of,
    reset_side_by_side,
)
from pgassay.trials.statement_statistics import StatementWatch
from pgassay.trials.thresholds import own_limits

_FAILED_AT_MOST = 0.5
"""Share of transactions that may fail before a trial measures failures, not the load."""


@dataclass(frozen=True)
class TrialContext:
    """What every trial of a run has in common."""

    spec: Spec
    plan: Plan
    target: Target
    grounds: Grounds
    observer: Observer
    output: Callable[[int], Path]
    """Makes the folder that a trial's own files are put in."""
    failed: Callable[[FailedTrial], None]
    """Told of each trial that breaks off by what happens in it."""
    placement: Placement = NOWHERE
    doubts: tuple[str, ...] = ()
    """What casts a doubt on every trial of the run."""


def run_trial(trial: PlannedTrial, context: TrialContext, *, resumed: bool = False) -> TrialRecord:
    """One trial; whatever the server refuses in it is a TrialError that names the trial.

    `resumed` says that the trial before it was another process's.
    """
    try:
        try:
            return _run(trial, context, resumed=resumed)
        except TargetError as error:
            raise TrialError(f"trial {trial.number}: {error}") from error
    except TrialError as error:
        context.failed(FailedTrial(trial.number, trial.block, trial.arm, str(error), trial.repeats))
        raise


def _run(trial: PlannedTrial, context: TrialContext, *, resumed: bool) -> TrialRecord:
    """Reset the target, run the load under observation, gather what was seen."""
    raise_if_asked()
    plan, target = context.plan, context.target
    arm = plan.arm(trial.arm)
    spec = spec_of_arm(context.spec, arm.by_kind)
    ground = context.grounds.of_arm[arm.id]
    started_ns = _core.now_ns()
    context.observer.trial_began(trial, arm.label)
    servers: tuple[ArmServer, ...] = ()
    if plan.side_by_side:
        servers = reset_side_by_side(trial, plan, context.grounds, target)
        target, facts, reset = servers[0].target, servers[0].facts, servers[0].reset
    else:
        facts = target.choose(ground)
        reset = target.reset(
            arm.levels_of("postgres"),
            arm.levels_of("host"),
            restart=(resumed or plan.begins_plot(trial)) if plan.hard else None,
        )
    parameters = target.parameters()
    clock = ServerClock(target.connect)
    clock.look()
    address = parameters.hostaddr or parameters.host
    log = ServerLog(target.connect, address, facts.log_file, machine=target.host(), clock=clock)
    with told_as_target_error("looking at the server"), target.connect() as session:
        extensions = extensions_in(session)
        host = target.host()
        sources = (
            host_sources(host, session, facts) if host is not None else sources_over_sql(session)
        )
    statements = StatementWatch(target.connect, facts.version_num, extensions)
    # Before the load opens its connections: what they bring is the trial's own doing.
    beside = [WatchedBeside(server, own_limits()) for server in servers[1:]]
    watch = SamenessWatch(target, facts, own_limits(), [one.postmaster for one in beside])
    place = context.placement
    of_arms = connections_of(servers, context.spec) or None
    load = open_trial_load(trial, context.spec, plan, parameters, context.output, place, of_arms)
    sampler, sampler_placed = open_sampler(
        target.parameters(),
        facts.version_num,
        load=load.native,
        host=sources,
        extensions=extensions,
        place=place.sampler,
        waits_every_s=context.spec.file.sampling.waits,
    )
    samples = Drained(sampler)
    live = Watch(sampler, lambda: transactions_of(sampler, facts.version_num))
    try:
        for one in beside:
            one.sample(load.native, place.sampler, context.spec.file.sampling.waits)
        with watch.processors_counted(), reloads_of(trial, plan, target) as reloads:

            def loading(progress: Mapping[str, Any]) -> None:
                raise_if_asked()
                if reloads is not None and load.native is not None:
                    reloads.follow(load.native.progress)
                context.observer.loading(progress, live.look())
                samples.look()
                for one in beside:
                    one.look()

            result = load.run(loading, lambda: transactions_of(sampler, facts.version_num))
    finally:
        sampler.stop()
        for one in beside:
            one.stop()
    reloading = {} if reloads is None else reloads.described(result["slices"])
    samples.take()
    counted = samples.counters_of("checkpointer", "wal_position", "progress")
    clock.look()
    logged = log.read()
    thread = CheckpointThread()
    thread.count(counted)
    told = thread.tell(logged, last=True)
    crash = next(filter(None, (logged.crash, *(one.crash() for one in beside))), "")
    _refuse_broken(trial, result, crash)
    samples.add_counters(statements.counters())
    waits = samples.each_wait()
    remarks = watch.remarks(spec, arm, result, waits, counted, told.checkpoints, reloading)
    remarks += [remark for one in beside for remark in one.remarks(context.spec, result)]
    return TrialRecord(
        number=trial.number,
        block=trial.block,
        position=trial.position,
        arm=trial.arm,
        levels={} if arm.alternating else arm.levels,
        started_ns=started_ns,
        ended_ns=_core.now_ns(),
        reset={**asdict(reset), **_told(ground, facts), **_of_all(servers)},
        load=result,
        sampler_cost=json.loads(sampler.cost()),
        warnings=(
            *context.doubts,
            *_doubts(result, trial, plan, spec),
            *doubts_among(remarks),
            *sampler.warnings(),
            *(text for one in beside for text in one.warnings()),
            *sources.notes,
            *dict.fromkeys(note for one in servers for note in one.reset.notes),
            *(() if servers else reset.notes),
            *clock.notes,
            *logged.notes,
            *told.notes,
            *statements.notes,
        ),
        intervals=load.intervals(),
        waits=samples.waits,
        counters=samples.counters,
        host=samples.host,
        checkpoints=told.checkpoints,
        checkpoints_from=told.source,
        events=other_events(logged.events or ()),
        log=logged.described,
        clock=clock.described(),
        kept=load.kept,
        placement={
            "server": reset.placement,
            "client": load.placed,
            "sampler": sampler_placed,
        },
        validity=validity_of(remarks),
        repeats=trial.repeats,
        fingerprint=watch.described(),
        reloading=reloading,
    )


def _refuse_broken(trial: PlannedTrial, result: Mapping[str, Any], crash: str) -> None:
    """A trial whose server went away, or that failed more than it did, is no observation."""
    done, failed, lost = (result[name] for name in ("transactions", "failed", "lost_connections"))
    if lost and not result.get("outages"):
        count = result["connections"]["count"]
        what = f"{lost} of {count} connections were lost; is the server still up?"
    elif done == 0:
        what = "not one transaction succeeded"
    elif failed > _FAILED_AT_MOST * (done + failed):
        what = f"{failed} of {done + failed} transactions failed"
    else:
        return
    first = result.get("first_error")
    reason = (
        f"the first error was {first['sqlstate']} in {first['scenario']}: {first['message']}"
        if first
        else "no error was seen; is a step long enough for one transaction?"
    )
    told = f"; the server's log says: {crash}" if crash else ""
    raise TrialError(f"trial {trial.number}: {what}; {reason}{told}")


def _told(ground: Ground, facts: ServerFacts) -> dict[str, Any]:
    """For trial.json: on which server and data, where there are several."""
    told = {name: value for name, value in asdict(ground).items() if value}
    return {"ground": told | {"version": facts.version}} if told else {}


def _of_all(servers: Sequence[ArmServer]) -> dict[str, Any]:
    """For trial.json, where every arm has a server: each one's reset, and how long all took."""
    if not servers:
        return {}
    took_s = sum(server.reset.duration_s for server in servers)
    arms = {server.arm.id: server.described() for server in servers}
    return {"duration_s": took_s, "arms": arms, "sampled": servers[0].arm.id}


def _doubts(result: Mapping[str, Any], trial: PlannedTrial, plan: Plan, spec: Spec) -> list[str]:
    threads = spec.file.load.threads
    if result["backend"] == "command":
        threads = os.cpu_count() or 1
    steps = plan.steps_in(trial.block)
    return load_doubts(result, steps, threads, arms_alternate=plan.alternates)
