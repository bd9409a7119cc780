"""The main path: spec → plan → trials → samples → analysis → findings → report.

Enters: a checked spec and an empty run directory. Leaves: the run, analysed and reported.
Never: knows how any room does its work.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgassay import __version__
from pgassay.analysis.analyse import analyse
from pgassay.analysis.beyond import look_beyond
from pgassay.analysis.calibrate import with_noise
from pgassay.analysis.course import TrialCourse, read_course
from pgassay.analysis.drift import drift_between
from pgassay.analysis.experience import record_of
from pgassay.analysis.measures import measure_trial
from pgassay.analysis.model import TrialMeasures
from pgassay.analysis.series import TrialSeries, trial_series
from pgassay.analysis.sources import TrialSources
from pgassay.errors import RunDirectoryError
from pgassay.findings.diagnose import find
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.plan.store import plan_from_json, plan_to_json
from pgassay.report.context import ReportContext
from pgassay.report.html import render_html
from pgassay.report.machine import render_json
from pgassay.report.repeating import repeat_command
from pgassay.samples.files import lost_storage_is_a_trial_error
from pgassay.samples.handover import left_to_do
from pgassay.samples.noise_memory import remember_noise
from pgassay.samples.run_directory import RunDirectory, StoredTrial
from pgassay.spec.parse import Spec
from pgassay.spec.paths import path_from
from pgassay.spec.stored import WORKLOAD_COPY, materials_to_json
from pgassay.target.access import access_of
from pgassay.target.open import make_several, make_target
from pgassay.target.placement import Place, Placement, resolve_placement
from pgassay.target.protocol import Target
from pgassay.trials.block import run_block
from pgassay.trials.continuing import Earlier
from pgassay.trials.environment import describe_environment
from pgassay.trials.grounds import Grounds, grounds_of
from pgassay.trials.loads import check_load
from pgassay.trials.observer import Observer
from pgassay.trials.preparing import check_arms, check_new_servers, prepare
from pgassay.trials.record import FailedTrial
from pgassay.trials.restoring import restored
from pgassay.trials.run import TrialContext
from pgassay.trials.servers import check_servers
from pgassay.trials.thresholds import check_thresholds


@dataclass(frozen=True)
class Outcome:
    """A finished run: where it lies, and what it says."""

    run: RunDirectory
    report: Path
    context: ReportContext


def run_experiment(
    spec: Spec, run: RunDirectory, observer: Observer, *, calibrates: bool = False
) -> Outcome:
    """Answer the spec's question, or run its baseline against itself; finished trials survive
    whatever goes wrong."""
    check_load(spec)
    check_servers(spec)
    check_thresholds()
    placement = resolve_placement(spec.file.placement, spec.file.settings.host)
    plan = make_plan(spec, calibrates=calibrates)
    check_new_servers(spec, plan)
    observer.planned(plan)
    for warning in placement.warnings:
        observer.warned(warning)
    _store_design(run, spec, plan)
    return carry_out(spec, plan, run, observer, placement)


def carry_out(
    spec: Spec,
    plan: Plan,
    run: RunDirectory,
    observer: Observer,
    placement: Placement,
    earlier: Earlier | None = None,
) -> Outcome:
    """Run what is still to be run of a plan, and report on all of it."""
    grounds = grounds_of(spec, plan)
    target = _target_of(spec, grounds, run, placement.server)
    with restored(target, observer, lambda: left_to_do(run.path)):
        _run_trials(spec, plan, target, grounds, run, observer, placement, earlier or Earlier())
    observer.preparing("writing the report")
    outcome = report_run(run)
    floor = outcome.context.analysis.noise
    if floor is not None:
        remember_noise(record_of(spec, target.kind, floor))
    return outcome


def report_run(run: RunDirectory) -> Outcome:
    """Analyse what a run has stored and write analysis.json and report.html anew."""
    context = analyse_run(run)
    run.write_text("analysis.json", render_json(context))
    report = run.write_text("report.html", render_html(context))
    return Outcome(run, report, context)


def analyse_run(run: RunDirectory) -> ReportContext:
    """Everything a stored run says, finished or not."""
    plan = stored_plan(run)
    trials = list(run.trials())
    if not trials:
        raise RunDirectoryError(f"{run.path}: holds no finished trial; there is nothing to report")
    measures, courses, series = _read(trials, plan)
    valid = [trial for trial, seen in zip(trials, measures, strict=True) if not seen.invalid]
    analysis = analyse(plan.question, plan, measures, drift_between(valid), run.failed())
    analysis = look_beyond(analysis, plan, courses)
    analysis = with_noise(analysis, plan, courses, [trial.summary() for trial in valid])
    spec_text = run.read_text("spec.toml")
    return ReportContext(
        run_name=run.path.resolve().name,
        question=analysis.question,
        spec_text=spec_text,
        plan=plan,
        analysis=analysis,
        findings=find(analysis),
        series=series,
        environment=_environment(run, trials),
        command=repeat_command(run.path, plan, spec_text),
        version=__version__,
    )


def _read(
    trials: Sequence[StoredTrial], plan: Plan
) -> tuple[list[TrialMeasures], list[TrialCourse], tuple[TrialSeries, ...]]:
    """Measures of all trials, courses and pictures of those that count; one trial at a time."""
    measures, courses, series = [], [], []
    for trial in trials:
        sources = TrialSources(trial)
        measures.append(measure_trial(trial, sources, plan=plan))
        if not measures[-1].invalid:
            course = read_course(trial, sources)
            courses += [] if course is None else [course]
            series.append(trial_series(trial, sources))
    return measures, courses, tuple(series)


def _environment(run: RunDirectory, trials: Sequence[StoredTrial]) -> dict[str, Any]:
    """environment.json, with what the resets have cost since it was written."""
    stored = run.read_json("environment.json") if run.has("environment.json") else {}
    if isinstance(stored.get("reset"), dict):
        resets = [trial.summary().get("reset") or {} for trial in trials]
        took = [reset["duration_s"] for reset in resets if reset.get("duration_s") is not None]
        if took:
            stored["reset"]["seconds"] = round(statistics.median(took), 2)
    return stored


def _run_trials(
    spec: Spec,
    plan: Plan,
    target: Target,
    grounds: Grounds,
    run: RunDirectory,
    observer: Observer,
    placement: Placement,
    earlier: Earlier,
) -> None:
    """Block after block, until the question is answered or the blocks are used up."""
    observer.preparing("opening the server")
    facts = target.open()
    earlier.refuse_other_server(describe_environment(facts, target.kind, host=target.host()))
    check_arms(spec, plan, target, grounds)
    environment, doubts = prepare(spec, plan, target, grounds, placement, observer)
    environment["reset"] = spec.file.reset_rule().described()
    run.write_json("environment.json", earlier.continued(environment))

    trials = TrialContext(
        spec, plan, target, grounds, observer, run.output_folder, run.note_failed, placement, doubts
    )
    measures: list[TrialMeasures] = []
    with lost_storage_is_a_trial_error():
        for block in range(1, plan.max_blocks + 1):
            for trial, record in run_block(block, trials, earlier.finished):
                if record is not None:
                    run.write_trial(record)
                measures.append(measure_trial(run.trial(trial.number), plan=plan))
                if record is not None:
                    observer.trial_ended(trial, measures[-1].whole.values.get("tps"))
            if answered(plan, block, measures, run.failed()):
                return


def answered(
    plan: Plan, block: int, measures: Sequence[TrialMeasures], failed: Sequence[FailedTrial] = ()
) -> bool:
    """Whether a run ends with this block; a single arm, and A/A, have no question to leave open."""
    if not plan.may_stop_after(block):
        return False
    if plan.calibrates or not plan.factors:
        return True
    # A block that is looked at again, as the run is resumed, is judged by what was known then.
    until_then = [one for one in failed if one.block <= block]
    return analyse(plan.question, plan, measures, failed=until_then).may_end()


def _target_of(spec: Spec, grounds: Grounds, run: RunDirectory, place: Place | None) -> Target:
    table, servers = spec.file.target, spec.file.factors.target.servers()
    if grounds.are_several or servers or grounds.side_by_side:
        only = {"": table.bin if table.bin is not None else table.version}
        made_from = {
            name: path_from(server, spec.folder) if isinstance(server, str) else server
            for name, server in (servers or only).items()
            if name in {ground.server for ground in grounds.datasets}
        }
        return make_several(
            made_from,
            journal=run.journal(),
            place=place,
            rule=spec.file.reset_rule(),
            first=next(iter(grounds.datasets)),
            side_by_side=grounds.side_by_side,
        )
    return make_target(
        version=table.version,
        bin=None if table.bin is None else path_from(table.bin, spec.folder),
        dsn=table.way,
        allow_changes=table.allow_changes,
        accept=table.accept,
        journal=run.journal(),
        place=place,
        access=access_of(table, lambda text: path_from(text, spec.folder)),
        rule=spec.file.reset_rule(),
        schema_variants=len(grounds.schema_variants),
    )


def _store_design(run: RunDirectory, spec: Spec, plan: Plan) -> None:
    run.write_text("spec.toml", spec.text)
    materials = materials_to_json(spec.workload, spec.variants, spec.folder)
    run.write_json(WORKLOAD_COPY, materials, verbatim=True)
    run.write_json("plan.json", plan_to_json(plan))


def stored_plan(run: RunDirectory) -> Plan:
    """The plan a run was made with."""
    try:
        return plan_from_json(run.read_json("plan.json"))
    except ValueError as error:
        raise RunDirectoryError(f"{run.path / 'plan.json'}: cannot be used: {error}") from None
