"""The main path: spec → plan → trials → samples → analysis → findings → report.

Enters: a checked spec and an empty run directory. Leaves: the run, analysed and reported.
Never: knows how any room does its work.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pgassay import __version__
from pgassay.analysis.analyse import (
    analyse,
    answered,
    with_classic,
    with_curves,
    with_modes,
    with_noise,
    with_profiles,
    with_signals,
    with_statements,
)
from pgassay.analysis.curves.steadiness import sufficient_warmup_s
from pgassay.analysis.measures.asked import asked_of
from pgassay.analysis.measures.readings import TrialReadings
from pgassay.analysis.noise.prior_runs import conditions_of, record_of
from pgassay.analysis.verdicts.drift import drift_caveats
from pgassay.errors import RunDirectoryError
from pgassay.findings.diagnosis.rule_file import known_rules
from pgassay.findings.registry import find
from pgassay.plan.design import make_plan
from pgassay.report.analysis_object import render_json
from pgassay.report.context import ReportContext
from pgassay.report.flame_graphs import flame_graphs
from pgassay.report.html import render_html
from pgassay.report.repeat_command import repeat_command
from pgassay.samples.files import lost_storage_is_a_trial_error
from pgassay.samples.journal import JOURNAL, open_changes
from pgassay.samples.noise_history import add_noise_record
from pgassay.samples.run_directory import RunDirectory
from pgassay.samples.stored_design import store_design, stored_plan
from pgassay.samples.unfinished import pending_undo
from pgassay.server.hosts.placement import Placement, resolve_placement
from pgassay.server.protocol import ServerFacts
from pgassay.spec.experiment import Spec
from pgassay.trials.environment.description import describe_environment
from pgassay.trials.profile.files import difference_files, files_of, pairs
from pgassay.trials.profile.model import Profile, difference_stem
from pgassay.trials.run.block import run_block
from pgassay.trials.run.checks import check_arms, check_experiment, check_new_servers
from pgassay.trials.run.preparing import prepare
from pgassay.trials.run.profiled import profile_arms
from pgassay.trials.run.progress import ProgressListener
from pgassay.trials.run.restoring import opened
from pgassay.trials.run.resumed import RunSoFar
from pgassay.trials.run.target import target_of
from pgassay.trials.run.testbeds import testbeds_of
from pgassay.trials.run.trial import TrialContext


@dataclass(frozen=True)
class Outcome:
    """A finished run: where it lies, and what it says."""

    run: RunDirectory
    report: Path
    context: ReportContext


def run_experiment(
    spec: Spec, run: RunDirectory, listener: ProgressListener, *, calibrates: bool = False
) -> Outcome:
    """Answer the spec's question, or run its baseline against itself; finished trials are
    kept whatever fails."""
    check_experiment(spec)
    known_rules()  # a mistake in a user's own rule is said now, not after the last trial
    placement = resolve_placement(spec.file.placement, spec.file.settings.host)
    plan = make_plan(spec, calibrates=calibrates)
    check_new_servers(spec, plan)
    listener.planned(plan)
    for warning in placement.warnings:
        listener.warned(warning)
    store_design(run, spec, plan)
    return carry_out(spec, run, listener, placement, TrialReadings(run, plan))


def carry_out(
    spec: Spec,
    run: RunDirectory,
    listener: ProgressListener,
    placement: Placement,
    readings: TrialReadings,
    so_far: RunSoFar | None = None,
) -> Outcome:
    """Run the trials of the plan that are not finished yet, and report on all of them."""
    plan = readings.plan
    testbeds = testbeds_of(spec, plan)
    target = target_of(spec.file, spec.folder, testbeds, run.journal(), placement.server)
    trials = TrialContext(
        spec, plan, target, testbeds, listener, run.output_folder, run.note_failed, placement
    )
    with opened(
        target,
        listener,
        lambda: pending_undo(run.path),
        lambda: bool(open_changes(run.path / JOURNAL)),
    ) as facts:
        trials = _prepared(trials, run, facts, so_far or RunSoFar())
        with lost_storage_is_a_trial_error():
            _run_blocks(trials, run, readings, so_far or RunSoFar())
            _profile(trials, run)
    listener.preparing("writing the report")
    outcome = report_run(run, readings)
    floor = outcome.context.analysis.noise
    if floor is not None:
        plan, courses = outcome.context.plan, outcome.context.analysis.courses
        warmup_s = sum(step.duration_s for step in plan.steps if not step.measured)
        settled_s = sufficient_warmup_s(plan, courses)
        add_noise_record(record_of(conditions_of(spec), floor, warmup_s, settled_s))
    return outcome


def _prepared(
    trials: TrialContext, run: RunDirectory, facts: ServerFacts, so_far: RunSoFar
) -> TrialContext:
    """Check every arm on the opened server, build the data, write environment.json."""
    spec, target = trials.spec, trials.target
    so_far.refuse_other_server(describe_environment(facts, target.kind, host=target.host()))
    check_arms(spec, trials.plan, target, trials.testbeds)
    found = prepare(spec, trials.plan, target, trials.testbeds, trials.listener)
    environment = found.environment(target, trials.placement)
    environment["reset"] = spec.file.reset_rule().described()
    run.write_json("environment.json", so_far.continued(environment))
    return replace(trials, caveats=found.caveats)


def _run_blocks(
    trials: TrialContext, run: RunDirectory, readings: TrialReadings, so_far: RunSoFar
) -> None:
    """Block after block, until the question is answered or the blocks are used up."""
    measures = []
    for block in range(1, trials.plan.max_blocks + 1):
        for trial, record in run_block(block, trials, so_far.finished):
            if record is not None:
                run.write_trial(record)
            measures.append(readings.of(trial.number).measures)
            if record is not None:
                trials.listener.trial_ended(trial, measures[-1].whole.values.get("tps"))
        if answered(trials.plan, block, measures, run.failed()):
            return


def _profile(trials: TrialContext, run: RunDirectory) -> None:
    """Profile every arm, if the spec asks for it; what fails costs the run nothing else."""
    asked, plan = trials.spec.file.profile, trials.plan
    if asked is None or plan.calibrates:
        return
    folder, notes = run.profiles(), list[str]()
    taken: dict[str, tuple[Profile, ...]] = {}
    for one in profile_arms(asked, trials, notes.append):
        taken[one.arm.id] = one.profiles
        for profile in one.profiles:
            folder.write_files(files_of(profile, one.arm.label), one.arm.id)
    first = plan.arms[0]
    for arm in plan.arms[1:]:
        for before, after in pairs(taken.get(first.id, ()), taken.get(arm.id, ())):
            stem = difference_stem(first.id, arm.id, after.kind)
            folder.write_files(difference_files(before, after, (first.label, arm.label), stem))
    folder.finish(taken, notes)
    for note in notes:
        trials.listener.warned(note)


def report_run(run: RunDirectory, readings: TrialReadings | None = None) -> Outcome:
    """Analyse what a run has stored and write analysis.json and report.html anew."""
    context = analyse_run(run, readings)
    run.write_text("analysis.json", render_json(context))
    report = run.write_text("report.html", render_html(context))
    return Outcome(run, report, context)


def analyse_run(run: RunDirectory, readings: TrialReadings | None = None) -> ReportContext:
    """Everything a stored run says, finished or not; `readings` are of trials read already."""
    readings = readings or TrialReadings(run, stored_plan(run))
    plan, trials = readings.plan, readings.every()
    if not trials:
        raise RunDirectoryError(f"{run.path}: holds no finished trial; there is nothing to report")
    valid = [one for one in trials if not one.measures.invalid]
    courses = [one.course for one in valid if one.course is not None]
    drift = drift_caveats([one.trial for one in valid])
    analysis = analyse(plan.question, plan, [one.measures for one in trials], drift, run.failed())
    analysis = with_curves(analysis, plan, courses)
    analysis = with_noise(analysis, plan, courses, [one.trial.summary() for one in valid])
    environment = readings.environment()
    signals = [one.signals for one in valid if one.signals is not None]
    latencies = [one.latencies for one in valid if one.latencies is not None]
    analysis = with_modes(analysis, plan, latencies)
    spec_text = run.read_text("spec.toml")
    asked = asked_of(run.path, plan)
    analysis = with_signals(analysis, plan, signals, environment, spec_text, asked)
    even = [one.even for one in valid if one.even is not None]
    analysis = with_classic(analysis, plan, even)
    statements = [one.statements for one in valid if one.statements is not None]
    plans = [seen for one in valid for seen in one.plans]
    analysis = with_statements(analysis, plan, statements, signals, plans, run.statements())
    folder = run.profiles()
    analysis = with_profiles(analysis, plan, folder.read())
    return ReportContext(
        run_name=run.path.resolve().name,
        question=analysis.question,
        spec_text=spec_text,
        plan=plan,
        analysis=analysis,
        findings=find(analysis),
        series=tuple(one.series for one in valid if one.series is not None),
        environment=environment,
        command=repeat_command(run.path, plan, spec_text),
        version=__version__,
        flame_graphs=flame_graphs(folder, plan, analysis.profiles),
    )
