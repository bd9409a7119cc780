"""A run that broke off is undone or goes on.

Enters: a run directory, and the names of differences to accept. Leaves: the target as the run had
found it; after `resume`, the whole run, analysed and reported.
Never: runs a finished trial again, draws the plan anew, or touches a run that is alive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pgassay.analysis.measures import measure_trial
from pgassay.errors import RunDirectoryError
from pgassay.pipeline import (
    Outcome,
    analyse_run,
    answered,
    carry_out,
    report_run,
    stored_plan,
)
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.plan.store import same_design
from pgassay.recovery import undo_what_is_left
from pgassay.samples.handover import clear_unfinished
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.parse import Spec, load_spec
from pgassay.target.placement import resolve_placement
from pgassay.trials.block import repeats_in
from pgassay.trials.continuing import Earlier
from pgassay.trials.loads import check_load
from pgassay.trials.observer import Observer
from pgassay.trials.record import Validity
from pgassay.trials.servers import check_servers
from pgassay.trials.thresholds import check_thresholds


def resume(
    run: RunDirectory, spec_path: Path | None, accepted: Iterable[str], observer: Observer
) -> Outcome:
    """Go on with a run at its next trial; `spec_path` is the experiment file it was made from."""
    plan = stored_plan(run)
    spec = _same_spec(run, plan, spec_path)
    check_load(spec)
    check_servers(spec)
    check_thresholds()
    placement = resolve_placement(spec.file.placement, spec.file.settings.host)
    _, left_alone = undo_what_is_left(run)
    for note in left_alone:
        observer.warned(note)
    clear_unfinished(run.path)
    finished = {number: run.trial(number).validity() for number in run.finished()}
    if _is_over(plan, run, finished):
        return _as_reported(run, len(finished), observer)
    observer.planned(plan)
    observer.preparing(f"resuming after {len(finished)} finished trials")
    environment = run.read_json("environment.json") if run.has("environment.json") else {}
    earlier = Earlier(environment, finished, frozenset(accepted), resumed=True)
    return carry_out(spec, plan, run, observer, placement, earlier)


def _same_spec(run: RunDirectory, plan: Plan, spec_path: Path | None) -> Spec:
    """The run's spec; refuses one that is not what the plan was drawn from."""
    spec = load_spec(run.path / "spec.toml", plan.seed, plan.mode)
    if not same_design(make_plan(spec, calibrates=plan.calibrates), plan):
        raise RunDirectoryError(
            f"{run.path / 'spec.toml'}: is not what plan.json was drawn from; put it back, or"
            " start a new run with another --out"
        )
    if spec_path is None or spec_path.resolve() == (run.path / "spec.toml").resolve():
        return spec
    given = load_spec(spec_path, plan.seed, plan.mode)
    materials = (spec.workload, spec.variants)
    if given.text != spec.text or (given.workload, given.variants) != materials:
        what = "workload" if given.text == spec.text else "experiment file"
        raise RunDirectoryError(
            f"{run.path}: was begun with another {what} than {spec_path} now has; go on with its"
            f" own by pgassay run --resume {run.path}, or start a new run with another --out"
        )
    return given


def _is_over(plan: Plan, run: RunDirectory, finished: Mapping[int, Validity]) -> bool:
    """Whether the run had nothing left to do but to report."""
    measures = []
    for block in range(1, plan.max_blocks + 1):
        trials = list(plan.block(block))
        if all(trial.number in finished for trial in trials):
            trials += repeats_in(plan, block, finished)
        if any(trial.number not in finished for trial in trials):
            return False
        measures += [measure_trial(run.trial(trial.number), plan=plan) for trial in trials]
        if answered(plan, block, measures, run.failed()):
            return True
    return True


def _as_reported(run: RunDirectory, trials: int, observer: Observer) -> Outcome:
    """A finished run as it stands; the report is written where the run died before it."""
    context = analyse_run(run)
    told = run.read_json("analysis.json") if run.has("analysis.json") else {}
    reported = len(told.get("trials", ())) + len(told.get("invalid_trials", ()))
    if run.has("report.html") and reported == trials:
        observer.warned(f"{run.path}: is finished; there is nothing to resume")
        return Outcome(run, run.path / "report.html", context)
    observer.preparing("writing the report")
    return report_run(run)
