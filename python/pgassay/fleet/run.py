"""Carries out the blocks of a run on the servers of a fleet.

Enters: a spec with `[target.fleet]`, a run directory, what is stored of the run. Leaves: its
trials, stored as they end, and environment.json; the servers as found. Never: begins a block when
the question is answered, or ends a run because a server was lost while another one is there.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any, Protocol

from pgassay.analysis.judge import answered
from pgassay.cluster.calls import Actor, ActorLost, answers, answers_or_losses
from pgassay.cluster.joining import joined
from pgassay.fleet.asking import changes_noted, place_of
from pgassay.fleet.existing import spec_on
from pgassay.fleet.member import OTHERS, Member, OpenedMember
from pgassay.fleet.schedule import Kept, Schedule, block_on, planned_number
from pgassay.fleet.servers import existing_servers, left_at_the_end
from pgassay.interruption import raise_if_interrupted
from pgassay.notes import Note, note_of
from pgassay.plan.model import Plan, PlannedTrial
from pgassay.readings.trial_readings import TrialReadings
from pgassay.refusals.refusal import SetupRefused, TrialRefused
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.resumed import RunSoFar
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.experiment import Spec
from pgassay.spec.server.fleet import FleetTable
from pgassay.trials.environment.server_differences import describe_servers
from pgassay.trials.model.record import FailedTrial, TrialRecord
from pgassay.trials.run.pilot import with_executions
from pgassay.trials.run.progress import ProgressListener

_OPENING_S = 86_400.0
"""Data may take hours to build; a node that dies meanwhile is noticed by itself."""
_SPARE_S = 3_600.0
"""Beyond ten times its planned length a trial is taken for lost."""
_LOOK_S = 0.2


class Runner(Protocol):
    """A server of the fleet that is ready."""

    @property
    def name(self) -> str:
        """The name by which trials of the server are stored."""
        ...

    def run(self, trial: PlannedTrial, known_texts: frozenset[str], resumed: bool) -> TrialRecord:
        """Runs one trial; raises ActorLost where the server is gone."""
        ...


@dataclass(frozen=True)
class _OnNode:
    """A member on a node of the cluster."""

    name: str
    actor: Actor
    limit_s: float

    def run(self, trial: PlannedTrial, known_texts: frozenset[str], resumed: bool) -> TrialRecord:
        call = (self.actor, "run", (trial, known_texts, resumed))
        record: TrialRecord = answers([call], self.limit_s)[0]
        return record


def run_on_fleet(
    spec: Spec,
    table: FleetTable,
    run: RunDirectory,
    listener: ProgressListener,
    readings: TrialReadings,
    so_far: RunSoFar,
) -> None:
    """Opens the servers, runs the blocks that are left, and closes the servers."""
    plan = readings.plan
    listener.preparing(
        "connecting to the servers of the fleet"
        if table.servers
        else "starting a server on each node of the fleet"
    )
    servers = existing_servers(table, listener, run.path if so_far.resumed else None)
    with (
        joined(table.ray) as cluster,
        cluster.spread(Member, len(servers) or table.count, cpus=1) as actors,
        changes_noted(actors, servers, run.journal()) if servers else nullcontext(),
        left_at_the_end(actors, listener, run),
    ):
        names = [one.name for one in servers] or [actor.name for actor in actors]
        asked: list[tuple[Any, ...]] = [(spec, plan)] * len(actors)
        if servers:
            place = place_of(run.journal())
            asked = [(spec_on(spec, one), plan, place) for one in servers]
        calls = [(actor, "open", own) for actor, own in zip(actors, asked, strict=True)]
        came = answers_or_losses(calls, _OPENING_S)
        opened = opened_members(dict(zip(names, came, strict=True)), listener)
        environment = fleet_environment(opened)
        by_name = dict(zip(names, actors, strict=True))
        for name in opened:
            environment["fleet"][name]["node"] = by_name[name].name
        environment["reset"] = spec.file.reset_rule().described()
        run.write_environment(_continued(so_far, environment))
        limit_s = _SPARE_S + 10.0 * plan.trial_s
        members = [_OnNode(name, by_name[name], limit_s) for name in opened]
        run_blocks(members, run, listener, readings)


def opened_members(
    came: Mapping[str, OpenedMember | ActorLost], listener: ProgressListener
) -> dict[str, OpenedMember]:
    """Returns the members that are ready; one that was lost while it was opened is left out with a
    warning."""
    opened = {name: one for name, one in came.items() if isinstance(one, OpenedMember)}
    lost = {name: one for name, one in came.items() if isinstance(one, ActorLost)}
    if not opened:
        each = "; ".join(f"{name} is lost: {one}" for name, one in lost.items())
        raise TrialRefused("no-server-opened", each=each)
    for name, loss in lost.items():
        listener.warned(f"{name} is lost: {loss}; the run goes on without it")
    for name, one in opened.items():
        for text in one.warnings:
            listener.warned(f"{name}: {text}")
    return opened


def fleet_environment(members: Mapping[str, OpenedMember]) -> dict[str, Any]:
    """Returns the object of environment.json for all servers; refuses servers of different
    versions."""
    versions = {name: one.facts.version for name, one in members.items()}
    if len(set(versions.values())) > 1:
        named = ", ".join(f"{version} ({name})" for name, version in versions.items())
        raise SetupRefused("fleet-of-several-versions", named=named)
    first = next(iter(members.values())).environment
    of_host = ("host", OTHERS)
    return {
        **{key: value for key, value in first.items() if key != OTHERS},
        **describe_servers({name: one.facts for name, one in members.items()}),
        "fleet": {
            name: {key: one.environment[key] for key in of_host if key in one.environment}
            for name, one in members.items()
        },
    }


def _continued(so_far: RunSoFar, now: dict[str, Any]) -> dict[str, Any]:
    """The environment to store; of servers that are there now and were before, what must stay the
    same is compared. A run may go on with other nodes."""
    before = so_far.environment.given
    if not before:
        return so_far.continued(now)
    common = before.get("servers", {}).keys() & now.get("servers", {}).keys()

    def compared(environment: Mapping[str, Any]) -> dict[str, Any]:
        servers = {name: environment["servers"][name] for name in sorted(common)}
        return {**environment, "host": {}, "servers": servers}

    earlier = EnvironmentFile.model_validate(compared(before))
    notes = replace(so_far, environment=earlier).continued(compared(now))
    servers = {**now.get("servers", {}), **before.get("servers", {})}
    # A server may be driven from another node than before.
    nodes = {**before.get("fleet", {}), **now.get("fleet", {})}
    return {**before, "servers": servers, "fleet": nodes, "resumed": notes["resumed"]}


def kept_trials(run: RunDirectory) -> dict[int, Kept]:
    """Reads the stored trials, with the servers they ran on."""
    return {
        number: Kept(run.trial(number).summary().server, run.trial(number).validity())
        for number in run.finished()
    }


@dataclass(frozen=True)
class _Event:
    """What a member's thread has to say: a record, or how its block ended."""

    server: str
    trial: PlannedTrial | None = None
    record: TrialRecord | None = None
    error: BaseException | None = None


def run_blocks(
    members: Sequence[Runner],
    run: RunDirectory,
    listener: ProgressListener,
    readings: TrialReadings,
) -> None:
    """Runs blocks until the question is answered, no block is left, or no server is."""
    plan, kept = (
        with_executions(readings.plan, lambda asked: _pilot(asked, members)),
        kept_trials(run),
    )
    if plan != readings.plan:
        run.store_plan(plan)
        readings.plan = plan
    by_name = {member.name: member for member in members}
    schedule = Schedule(plan, by_name, kept)
    events: queue.Queue[_Event] = queue.Queue()
    failure: BaseException | None = None
    _judge(schedule, readings, kept)
    while True:
        for server in schedule.free if failure is None else ():
            block = schedule.begin(server)
            if block is not None:
                arguments = (by_name[server], block, plan, dict(kept), run, events)
                threading.Thread(target=_run_block, args=arguments, daemon=True).start()
        if not schedule.running:
            break
        listener.fleet_at_work(schedule.running, schedule.finished_blocks)
        event = _next(events)
        if event.record is not None and event.trial is not None:
            _store(event.record, event.trial, run, listener, readings, kept)
        elif event.error is None:
            schedule.finished(event.server)
            _judge(schedule, readings, kept)
        elif isinstance(event.error, ActorLost):
            block = schedule.lost(event.server)
            _note(event, run)
            listener.warned(
                f"{event.server} is lost: {event.error}; block {block} is run again on another"
                " server"
            )
        else:  # as with one server, a trial that fails by itself ends the run
            schedule.lost(event.server)
            _note(event, run)
            failure = failure or event.error
    if failure is not None:
        raise failure
    if not schedule.is_over:
        raise TrialRefused("no-server-left", run=quote(run.place))


def _pilot(asked: Sequence[PlannedTrial], members: Sequence[Runner]) -> list[TrialRecord]:
    """On the first server that is there."""
    for member in members:
        with suppress(ActorLost):
            return [member.run(one, frozenset(), False) for one in asked]
    return []


def _next(events: queue.Queue[_Event]) -> _Event:
    while True:
        raise_if_interrupted()
        with suppress(queue.Empty):
            return events.get(timeout=_LOOK_S)


def _run_block(
    member: Runner,
    block: int,
    plan: Plan,
    kept: Mapping[int, Kept],
    run: RunDirectory,
    events: queue.Queue[_Event],
) -> None:
    """In a thread of the member's own; the only one that calls it."""
    begun: PlannedTrial | None = None

    def run_trial(trial: PlannedTrial, resumed: bool) -> TrialRecord:
        nonlocal begun
        begun = trial
        record = member.run(trial, frozenset(run.statements()), resumed)
        return replace(record, server=member.name)

    try:
        for trial, record in block_on(block, plan, member.name, kept, run_trial):
            events.put(_Event(member.name, trial, record))
        events.put(_Event(member.name))
    except BaseException as error:
        events.put(_Event(member.name, begun, error=error))


def _store(
    record: TrialRecord,
    trial: PlannedTrial,
    run: RunDirectory,
    listener: ProgressListener,
    readings: TrialReadings,
    kept: dict[int, Kept],
) -> None:
    run.write_trial(record)
    kept[record.number] = Kept(record.server, record.validity)
    tps = readings.of(record.number).measures.whole.rate
    listener.trial_of_fleet(trial, readings.plan.arm(trial.arm).label, record.server, tps)
    if not record.validity.valid:
        reasons = "; ".join(record.validity.reasons)
        listener.warned(f"trial {record.number} does not count: {reasons}")


def _note(event: _Event, run: RunDirectory) -> None:
    trial = event.trial
    if trial is not None:
        reason = Note.of("trials/run/on-server", server=event.server, why=note_of(event.error))
        run.note_failed(FailedTrial(trial.number, trial.block, trial.arm, reason, trial.repeats))


def _judge(schedule: Schedule, readings: TrialReadings, kept: Mapping[int, Kept]) -> None:
    """Look at the blocks that are finished up to some number, in their order."""
    plan = readings.plan
    for block in schedule.to_judge():
        numbers = {trial.number for trial in plan.trials if trial.block <= block}
        measures = [
            readings.of(number).measures
            for number in sorted(kept)
            if planned_number(plan, number) in numbers
        ]
        if answered(plan, block, measures, readings.run.failed()):
            schedule.answered()


def is_over(readings: TrialReadings) -> bool:
    """Returns whether a stored run needs no more trials."""
    kept = kept_trials(readings.run)
    schedule = Schedule(readings.plan, (), kept)
    _judge(schedule, readings, kept)
    return schedule.is_over
