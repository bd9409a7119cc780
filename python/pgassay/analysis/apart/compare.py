"""Compares runs made apart: differences, verdicts, gates, how often trials may collapse.

Enters: sides of runs, what the user states of their spread, gates. Leaves: an `ApartAnalysis`.
Never: compares runs of other loads unless it is forced to, or calls the result randomised.

The primary metric has 5 % error over all sides, arms and loads, the endpoints another 5 %; all
other metrics are corrected together, as inside a run. The limit for collapses
(`verdicts/collapses.py`) takes trials for independent: a run that is slow as a whole is what the
spread between runs is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pgassay.analysis.apart.arms import (
    CommonArm,
    Matched,
    curves_by_arm,
    first_arms,
    match_arms,
    trials_of,
    values_of,
)
from pgassay.analysis.apart.conditions import condition_differences, reasons_against
from pgassay.analysis.apart.estimate import Asked, difference_of
from pgassay.analysis.apart.model import ApartAnalysis, RunDifference, Side, SideCollapses
from pgassay.analysis.apart.spread import Values, by_session, in_sessions, session_units, unrest
from pgassay.analysis.compare.model import SAME, Comparison, IntervalKind, Verdict, Withdrawn
from pgassay.analysis.compare.rule import Rule, loads_compared
from pgassay.analysis.compare.secondary_verdicts import corrected
from pgassay.analysis.gates.judge import judge, ninety_of
from pgassay.analysis.reading.metrics import METRICS, Metric, part_of
from pgassay.analysis.verdicts.collapses import collapsed, most_unseen
from pgassay.analysis.verdicts.withdrawal import withdraw_set_by_load
from pgassay.notes import Note
from pgassay.plan.model import Gate
from pgassay.refusals.refusal import DirectoryRefused

_OF_A_RUN = ("tps_deviation",)
"""Metrics that compare a trial with its own run."""


@dataclass(frozen=True)
class Question:
    """What decides how runs are compared."""

    stated_spread: float | None = None
    """The standard deviation between runs of the same thing, a share, where the user knows it."""
    force: bool = False
    gates: tuple[Gate, ...] = ()


def compare_runs(sides: Sequence[Side], question: Question) -> ApartAnalysis:
    """Compares every side with the first; raises RunDirectoryError where that is meaningless and
    not forced."""
    matched, forced = match_arms(sides), reasons_against(sides)
    if not matched.common:
        left_out = " | ".join(matched.left_out)
        forced.append(Note("analysis/apart/no-common-arm", {"left_out": left_out}))
        matched = first_arms(sides)
    if forced and not question.force:
        why = Note.of("analysis/apart/reasons", reasons=tuple(forced))
        raise DirectoryRefused("not-comparable", why=why)
    plan = sides[0].runs[0].plan
    loads = _loads(sides)
    rule = Rule(
        interval=IntervalKind.T,
        smallest_effect=plan.smallest_effect,
        simultaneous=(len(sides) - 1) * len(matched.common) * len(loads),
    )
    found = _differences(sides, matched, loads, rule, question.stated_spread)
    judged = withdraw_set_by_load([one.comparison for one in found], plan)
    given = corrected(judged, plan, rule)
    differences = _limited(
        [replace(one, comparison=own) for one, own in zip(found, given, strict=True)],
        sides,
        matched,
        METRICS[plan.metric],
    )

    def ninety(one: Comparison) -> Comparison:
        return ninety_of(one, rule, plan.metric, plan.endpoints)

    return ApartAnalysis(
        metric=plan.metric,
        smallest_effect=plan.smallest_effect,
        endpoints=plan.endpoints,
        sides=tuple(sides),
        arms=() if matched.are_single else tuple(arm.label for arm in matched.common),
        left_out=matched.left_out,
        differences=differences,
        conditions=condition_differences(sides),
        forced=tuple(forced),
        caveats=tuple(_caveats(sides)),
        gates=judge(question.gates, given, ninety),
        curves=curves_by_arm(
            sides, matched.common, sorted(load for load in loads if load is not None)
        ),
    )


def _loads(sides: Sequence[Side]) -> list[float | None]:
    """Whole trials, and the loads that all runs have."""
    plans = [run.plan for side in sides for run in side.runs]
    if len({plan.step_unit for plan in plans}) > 1:
        return [None]
    every = [set(loads_compared(plan.step_levels())) for plan in plans]
    first = loads_compared(plans[0].step_levels())
    return [load for load in first if all(load in others for others in every)]


def _differences(
    sides: Sequence[Side],
    matched: Matched,
    loads: Sequence[float | None],
    rule: Rule,
    stated: float | None,
) -> list[RunDifference]:
    plan = sides[0].runs[0].plan
    rules = {one.metric: rule.of_endpoint(one, of=len(plan.endpoints)) for one in plan.endpoints}
    found, primary = [], METRICS[plan.metric]
    noisy = {
        arm.label: unrest(primary.name, values_of(sides, arm, primary, None))
        for arm in matched.common
    }
    sessions, base, unit = session_units(sides), sides[0].name, plan.step_unit
    for metric in measured_metrics(sides):
        for arm in matched.common:
            for step in loads:
                values = values_of(sides, arm, metric, step)
                if sessions is not None:
                    values = by_session(sessions, values)
                for at, side in enumerate(sides[1:], start=1):
                    asked = Asked(metric, arm.label, side.name, base, step, unit, noisy[arm.label])
                    one = difference_of(asked, values, at, rules.get(metric.name, rule), stated)
                    if one is not None:
                        one = one if sessions is None else in_sessions(one, sides, at)
                        found.append(_unless_idle(one, sides, arm, at, step))
    return found


def _limited(
    found: Sequence[RunDifference], sides: Sequence[Side], matched: Matched, metric: Metric
) -> tuple[RunDifference, ...]:
    """Verdicts that sides are alike say how often trials may collapse all the same."""
    places = {side.name: at for at, side in enumerate(sides)}
    values = {arm.label: values_of(sides, arm, metric, None) for arm in matched.common}
    return tuple(
        with_collapses(one, values[one.arm][places[one.side]])
        if says_alike(one, metric.name)
        else one
        for one in found
    )


def _unless_idle(
    found: RunDifference, sides: Sequence[Side], arm: CommonArm, at: int, step: float | None
) -> RunDifference:
    """No verdict where a trial committed nothing: the others would be chosen by their outcome."""
    place = 0
    for number, side in enumerate(sides):
        for run in side.runs:
            steps = [one.at(step) for one in trials_of(run.trials, arm, place)]
            if number in (0, at) and any(s is not None and s.transactions == 0 for s in steps):
                withdrawn = replace(
                    found.comparison,
                    verdict=Verdict.UNDECIDED,
                    withdrawn=Withdrawn.STANDSTILL,
                    withdrawn_for_good=True,
                )
                return replace(found, comparison=withdrawn)
            place += 1
    return found


def measured_metrics(sides: Sequence[Side]) -> list[Metric]:
    """Returns the metrics that every side has a value of."""
    by_side = [
        set[str]().union(
            *(
                part.values
                for run in side.runs
                for trial in run.trials
                for part in (trial.whole, *trial.steps)
            )
        )
        for side in sides
    ]
    of_scenarios = sorted(name for name in set[str]().union(*by_side) if part_of(name))
    return [
        METRICS[name]
        for name in (*METRICS, *of_scenarios)
        if name not in _OF_A_RUN and all(name in names for names in by_side)
    ]


def _caveats(sides: Sequence[Side]) -> list[Note]:
    """What makes single runs weaker than they look."""
    found = []
    for run in (run for side in sides for run in side.runs):
        planned = sum(trial.block <= run.plan.min_blocks for trial in run.plan.trials)
        if len(run.trials) + run.invalid < planned:
            done = len(run.trials) + run.invalid
            found.append(
                Note.of("analysis/apart/unfinished", name=run.name, done=done, planned=planned)
            )
        if run.invalid:
            found.append(
                Note.of("analysis/apart/invalid-trials", name=run.name, invalid=run.invalid)
            )
    return found


def says_alike(found: RunDifference, primary: str) -> bool:
    """Returns whether a difference of the primary metric says that sides are alike."""
    one = found.comparison
    return one.metric == primary and one.step is None and one.verdict in SAME


def with_collapses(found: RunDifference, runs: Sequence[Values]) -> RunDifference:
    """Adds the limit of collapses for the trials of a side, each held against the median of its
    run.

    Where none collapsed, the limit is that of the side with fewer trials.
    """
    metric = METRICS[found.comparison.metric]
    seen = collapsed(np.concatenate([run - np.median(run) for run in runs]), metric)
    trials = found.trials[1] if seen else min(found.trials)
    limit = 100.0 * most_unseen(trials, seen)
    return replace(found, collapses=SideCollapses(trials, seen, limit))
