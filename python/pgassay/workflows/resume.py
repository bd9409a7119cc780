"""Resumes a run that was interrupted.

Enters: a run directory, and the names of differences to accept. Leaves: the whole run, analysed
and reported.
Never: runs a finished trial again, draws the plan anew, or touches a run that is still active.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shlex import quote

from pgassay.analysis.judge import after_block
from pgassay.errors import TargetError
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.plan.store import same_design
from pgassay.readings.trial_readings import TrialReadings
from pgassay.recovery import left_changed, undo_what_is_left
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.layout import REPORT, SPEC
from pgassay.samples.ownership.own_runs import was_begun_here
from pgassay.samples.ownership.unfinished import clear_unfinished
from pgassay.samples.resumed import RunSoFar
from pgassay.samples.run_directory import RunDirectory
from pgassay.server.change import visible
from pgassay.server.recovery.acts import Act
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import load_spec
from pgassay.spec.untrusted import harmful_keys
from pgassay.trials.model.record import Validity
from pgassay.trials.run.block import repeats_in
from pgassay.trials.run.progress import ProgressListener
from pgassay.trials.run.refusals.before_servers import refuse_experiment, refuse_plan
from pgassay.workflows.pipeline import carry_out
from pgassay.workflows.reporting import Outcome, analyse_run, report_run


def resume(
    run: RunDirectory,
    spec_path: Path | None,
    accepted: Iterable[str],
    listener: ProgressListener,
) -> Outcome:
    """Goes on with a run at its next trial; `spec_path` is the experiment file it was made from."""
    plan = run.plan()
    spec = _same_spec(run, plan, spec_path)
    placement = refuse_experiment(spec)
    refuse_plan(spec, plan)
    for note in _put_back(run, spec):
        listener.warned(note)
    clear_unfinished(run.path)
    finished = {number: run.trial(number).validity() for number in run.finished()}
    readings = TrialReadings(run, plan)
    on_fleet = spec.file.target.fleet is not None
    if _is_over_on_fleet(readings) if on_fleet else _is_over(readings, finished):
        return _as_reported(readings, listener)
    listener.planned(plan)
    listener.preparing(f"resuming after {len(finished)} finished trials")
    so_far = RunSoFar(run.environment(), finished, frozenset(accepted), resumed=True)
    return carry_out(spec, run, listener, placement, readings, so_far)


def acts_of_resuming(run: RunDirectory, spec_path: Path | None) -> list[Act]:
    """What going on does that the user may not know of: undoing changes, and running what the
    stored experiment names, unless the user gives the same file or has begun it here."""
    _same_spec(run, run.plan(), spec_path)
    own_spec = spec_path is not None and not _is_stored(run, spec_path)
    acts = left_changed(run).acts(own_spec=own_spec)
    if own_spec or was_begun_here(run.path):
        return acts
    lines = [f"{key} = {value!r}" for key, value in harmful_keys(run.read_text(SPEC))]
    what = "go on with an experiment that you have not begun on this machine, with its SQL"
    return [*acts, Act(what, False), *(Act(f"use {visible(line)}", False) for line in lines)]


def _is_stored(run: RunDirectory, spec_path: Path) -> bool:
    """Whether a path is that of the run's own copy."""
    return spec_path.resolve() == (run.path / SPEC).resolve()


def _put_back(run: RunDirectory, spec: Spec) -> Sequence[str]:
    """Undo what the run left changed; notes on the rest. A fleet goes on without a server that
    cannot be put back now."""
    try:
        return undo_what_is_left(run)[1]
    except TargetError as error:
        fleet = spec.file.target.fleet
        if fleet is None or not fleet.servers:
            raise
        return [f"not all is undone, `pgassay recover` does it later: {error}"]


def _same_spec(run: RunDirectory, plan: Plan, spec_path: Path | None) -> Spec:
    """The run's spec; refuses one that is not what the plan was drawn from."""
    spec = load_spec(run.path / SPEC, plan.seed, plan.mode, plan.metric)
    if not same_design(make_plan(spec, calibrates=plan.calibrates), plan):
        raise DirectoryRefused("spec-was-changed", run.path / SPEC)
    if spec_path is None or _is_stored(run, spec_path):
        return spec
    given = load_spec(spec_path, plan.seed, plan.mode, plan.metric)
    materials = (spec.workload, spec.variants)
    if given.text != spec.text or (given.workload, given.variants) != materials:
        what = "workload" if given.text == spec.text else "experiment file"
        raise DirectoryRefused(
            "begun-with-another", run.path, what=what, given=spec_path, run=quote(run.place)
        )
    return given


def _is_over_on_fleet(readings: TrialReadings) -> bool:
    from pgassay.fleet.run import is_over  # runs on one server need none of it

    return is_over(readings)


def _is_over(readings: TrialReadings, finished: Mapping[int, Validity]) -> bool:
    """Whether all trials that the run needs are finished."""
    plan, measures = readings.plan, []
    for block in range(1, plan.max_blocks + 1):
        trials = list(plan.block(block))
        if all(trial.number in finished for trial in trials):
            trials += repeats_in(plan, block, finished)
        if any(trial.number not in finished for trial in trials):
            return False
        measures += [readings.of(trial.number).measures for trial in trials]
        following = after_block(plan, block, measures, readings.run.failed())
        if following is None:
            return True
        plan = following
    return True


def _as_reported(readings: TrialReadings, listener: ProgressListener) -> Outcome:
    """A finished run as it stands; writes the report where the run was killed before it."""
    run = readings.run
    context = analyse_run(run, readings)
    stored = run.analysis()
    reported = sum(map(len, (stored.trials, stored.partial_trials, stored.invalid_trials)))
    if run.has(REPORT) and reported == len(run.finished()):
        listener.warned(f"{run.path}: this run is finished; there is nothing to resume")
        return Outcome(run, run.path / REPORT, context)
    listener.preparing("writing the report")
    return report_run(run, readings)
