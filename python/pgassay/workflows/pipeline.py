"""The main path: spec → plan → trials → samples → analysis → findings → report.

Enters: a checked spec and an empty run directory. Leaves: the run, analysed and reported.
Never: knows how any room does its work.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

from pgassay.analysis.curves.steadiness import sufficient_warmup_s
from pgassay.analysis.judge import after_block
from pgassay.analysis.noise.prior_runs import conditions_of, expect, record_of, runs_of
from pgassay.analysis.verdicts.run_caveats import EARLIER_RUNS
from pgassay.errors import LimitPassed, PgassayError
from pgassay.findings.diagnosis.rule_file import known_rules
from pgassay.findings.noise.busy import busy_host
from pgassay.notes import Note, note_of
from pgassay.plan.design import make_plan
from pgassay.plan.model import Gate, PlannedTrial
from pgassay.readings.trial_readings import TrialReadings
from pgassay.samples.journal import open_changes
from pgassay.samples.layout import JOURNAL, PROFILES
from pgassay.samples.noise_history import add_noise_record, noise_records
from pgassay.samples.ownership.unfinished import pending_undo
from pgassay.samples.resumed import RunSoFar
from pgassay.samples.run_directory import RunDirectory
from pgassay.samples.storage.files import lost_storage_is_a_trial_error
from pgassay.server.hosts.placement import Placement
from pgassay.server.protocol import ServerFacts
from pgassay.spec.experiment import Spec
from pgassay.trials.environment.description import describe_environment, measured_by
from pgassay.trials.host.other_programs import OtherPrograms
from pgassay.trials.load.group import load_generators
from pgassay.trials.model.record import TrialRecord
from pgassay.trials.profile.files import difference_files, files_of, pairs
from pgassay.trials.profile.model import Profile, difference_stem
from pgassay.trials.run.block import run_block
from pgassay.trials.run.pilot import with_executions
from pgassay.trials.run.preparing import others_on_host, prepare
from pgassay.trials.run.profiled import profile_arms
from pgassay.trials.run.progress import ProgressListener
from pgassay.trials.run.refusals.before_servers import refuse_experiment, refuse_plan
from pgassay.trials.run.refusals.of_servers import refuse_arms
from pgassay.trials.run.restoring import opened
from pgassay.trials.run.setup_program import run_setup
from pgassay.trials.run.testbeds import target_of, testbeds_of
from pgassay.trials.run.trial import TrialContext, run_trials
from pgassay.workflows.reporting import Outcome, report_run


def run_experiment(
    spec: Spec,
    run: RunDirectory,
    listener: ProgressListener,
    *,
    calibrates: bool = False,
    gates: Sequence[Gate] = (),
    gates_only: bool = False,
) -> Outcome:
    """Answers the spec's question, or runs its baseline against itself; finished trials are
    kept whatever fails. With `gates_only` it ends when the gates are decided."""
    placement = refuse_experiment(spec)
    known_rules()  # a mistake in a user's own rule is said now, not after the last trial
    plan = make_plan(spec, calibrates=calibrates)
    plan = replace(plan, gates=tuple(gates), gates_only=gates_only)
    refuse_plan(spec, plan)
    listener.planned(plan)
    for warning in placement.warnings:
        listener.warned(warning)
    run.store_design(spec, plan)
    return carry_out(spec, run, listener, placement, TrialReadings(run, plan))


def carry_out(
    spec: Spec,
    run: RunDirectory,
    listener: ProgressListener,
    placement: Placement,
    readings: TrialReadings,
    so_far: RunSoFar | None = None,
) -> Outcome:
    """Runs the trials of the plan that are not finished yet, and reports on all of them."""
    plan, began = readings.plan, time.monotonic()
    fleet = spec.file.target.fleet
    passed: LimitPassed | None = None
    if fleet is not None:
        # Runs on one server need none of it.
        from pgassay.fleet.run import run_on_fleet
        from pgassay.fleet.servers import put_back_at_the_end

        with put_back_at_the_end(run, listener):  # which may fail: the report is written before
            try:
                with lost_storage_is_a_trial_error():
                    run_on_fleet(spec, fleet, run, listener, readings, so_far or RunSoFar())
            except LimitPassed as error:
                passed = error
            return _reported(run, readings, listener, passed)
    testbeds = testbeds_of(spec, plan)
    target = target_of(
        spec.file,
        spec.folder,
        testbeds,
        run.journal(),
        placement.server,
        limited=spec.untrusted,
    )
    with (
        load_generators(spec.file.load) as generators,
        opened(
            target,
            listener,
            lambda: pending_undo(run.path),
            lambda: bool(open_changes(run.path / JOURNAL)),
        ) as facts,
    ):
        trials = TrialContext(
            spec,
            plan,
            target,
            testbeds,
            listener,
            run.output_folder,
            run.note_failed,
            placement,
            known_texts=run.statements,
            generators=generators,
        )
        trials = _prepared(trials, run, facts, so_far or RunSoFar())
        trials_began = time.monotonic()
        with lost_storage_is_a_trial_error():
            try:
                _run_blocks(trials, run, readings, so_far or RunSoFar())
                in_trials_s = time.monotonic() - trials_began
                _profile(trials, run)
            except LimitPassed as error:
                passed = error
    outcome = _reported(run, readings, listener, passed)
    # A resumed run may find its data built.
    outside_s = time.monotonic() - began - in_trials_s if so_far is None else None
    _remember(spec, run, outcome, outside_s)
    return outcome


def _remember(spec: Spec, run: RunDirectory, outcome: Outcome, outside_s: float | None) -> None:
    """Keep the noise and the times of a finished run for forecasts of later ones."""
    plan, analysis = outcome.context.plan, outcome.context.analysis
    if analysis.noise.floor is None:
        return
    warmup_s = sum(step.duration_s for step in plan.steps if not step.measured)
    record = record_of(
        conditions_of(spec),
        analysis.noise.floor,
        warmup_s,
        sufficient_warmup_s(plan, analysis.behaviour.courses),
        measured_by(spec, run.environment().given),
        calibrates=plan.calibrates,
        outside_s=outside_s,
    )
    add_noise_record(record)


def _reported(
    run: RunDirectory,
    readings: TrialReadings,
    listener: ProgressListener,
    passed: LimitPassed | None,
) -> Outcome:
    """The report; of a run that a limit has ended on its finished trials, then that error."""
    listener.preparing("writing the report")
    if passed is not None:
        with suppress(PgassayError):
            report_run(run, readings)
        raise passed
    return report_run(run, readings)


def _prepared(
    trials: TrialContext, run: RunDirectory, facts: ServerFacts, so_far: RunSoFar
) -> TrialContext:
    """Check every arm on the opened server, build the data, write environment.json."""
    spec, target = trials.spec, trials.target
    so_far.refuse_other_server(describe_environment(facts, target.kind, host=target.host()))
    refuse_arms(spec, trials.plan, target, trials.testbeds)
    others = _others_on_host(trials)
    setup = partial(run_setup, spec, target, run.path)
    found = prepare(spec, trials.plan, target, trials.testbeds, trials.listener, setup)
    environment = found.environment(target, trials.placement)
    environment["reset"] = spec.file.reset_rule().described()
    if trials.plan.factors and not trials.plan.calibrates:
        environment[EARLIER_RUNS] = runs_of(measured_by(spec, environment), noise_records())
    if (calls := _calls_of_users(trials)) is not None:
        environment["query_calls"] = calls
    if others is not None:
        environment["other_programs"] = others.described()
    if generators := trials.generators.described():
        environment["load_generators"] = generators
    run.write_environment(so_far.continued(environment))
    return replace(trials, notes=found.notes, levels=found.levels)


def _calls_of_users(trials: TrialContext) -> Mapping[str, object] | None:
    """How often the user's server has called the queries of a set whose files do not say it."""
    spec, queries = trials.spec, trials.plan.queries
    if queries is None or spec.file.target.dsn is None:
        return None
    asked = [one for one in spec.workload.scenarios if one.name not in queries.calls]
    from pgassay.trials.plans.calls import counted_calls  # other loads need none of it

    return counted_calls(spec.file.target.dsn, asked) if asked else None


def _others_on_host(trials: TrialContext) -> OtherPrograms | None:
    """Watches the server's host while the server is idle; says so where it is busy."""
    trials.listener.preparing("looking at what else runs on this host")
    used = others_on_host(trials.target)
    forecast = expect(conditions_of(trials.spec), trials.plan, noise_records())
    if (note := busy_host(used, forecast)) is not None:
        trials.listener.warned(str(note))
    if used is not None:
        trials.listener.others_named(used.names)
    return used


def _run_blocks(
    trials: TrialContext, run: RunDirectory, readings: TrialReadings, so_far: RunSoFar
) -> None:
    """Block after block, until the question is answered or the blocks are used up."""
    measures = []
    plan = with_executions(trials.plan, lambda asked: _pilot(asked, trials))
    if plan != trials.plan:
        run.store_plan(plan)
        trials.listener.replanned(plan)
        readings.plan, trials = plan, replace(trials, plan=plan)
    for block in range(1, trials.plan.max_blocks + 1):
        for trial, record in run_block(block, trials, so_far.finished):
            if record is not None:
                run.write_trial(record)
            measures.append(readings.of(trial.number).measures)
            if record is not None:
                trials.listener.trial_ended(trial, measures[-1].whole.rate)
            if (others := measures[-1].others) is not None:
                trials.listener.others_named([name for name, _ in others.programs])
        following = after_block(trials.plan, block, measures, run.failed())
        if following is None:
            return
        if following != trials.plan:
            run.store_plan(following)
            trials.listener.replanned(following)
            for arm in following.dropped.keys() - trials.plan.dropped.keys():
                label = following.arm(arm).label
                trials.listener.warned(f"{label} has its verdict: no further trials of it")
            readings.plan, trials = following, replace(trials, plan=following)


def _pilot(asked: Sequence[PlannedTrial], trials: TrialContext) -> Sequence[TrialRecord]:
    """Trials that are not stored; one that breaks off is none of the run's."""
    trials.listener.preparing("timing the queries, to choose how often each is executed")
    of_queries = replace(trials.spec, writes=None)
    return run_trials(asked, replace(trials, spec=of_queries, note_failed=lambda _: None))


def _profile(trials: TrialContext, run: RunDirectory) -> None:
    """Profile every arm, if the spec asks for it; what fails costs the run nothing else."""
    asked, plan = trials.spec.file.profile, trials.plan
    if asked is None or plan.calibrates:
        return
    folder, notes = run.profiles(), list[Note]()
    taken: dict[str, tuple[Profile, ...]] = {}
    for one in profile_arms(asked, trials, notes.append):
        with _noted(notes, one.arm.label):
            for profile in one.profiles:
                folder.write_files(files_of(profile, one.arm.label), one.arm.id)
            taken[one.arm.id] = one.profiles
    first = plan.arms[0]
    for arm in plan.arms[1:]:
        for before, after in pairs(taken.get(first.id, ()), taken.get(arm.id, ())):
            stem = difference_stem(first.id, arm.id, after.kind)
            with _noted(notes, arm.label):
                folder.write_files(difference_files(before, after, (first.label, arm.label), stem))
    with _noted(notes, PROFILES):
        folder.finish(taken, notes)
    for note in notes:
        trials.listener.warned(str(note))


@contextmanager
def _noted(notes: list[Note], of: str) -> Iterator[None]:
    """What cannot be written of a profile is a note."""
    try:
        yield
    except (PgassayError, OSError) as error:
        notes.append(Note.of("trials/profile/none-of", of=of, why=note_of(error)))
