"""The analysis of a run, made of named parts by one call.

Enters: the plan, what was read of each trial, the facts beside them. Leaves: an `Analysis`.
Never: reads a file (`measures/` does), or lets another part change the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pgassay.analysis.compare.accounting import account
from pgassay.analysis.compare.alternating.carry_over import carry_over_caveats
from pgassay.analysis.compare.by_server import effects_by_server
from pgassay.analysis.compare.factorial import factorial_effects
from pgassay.analysis.curves.association import associations
from pgassay.analysis.curves.checkpoints.causes import checkpoint_causes
from pgassay.analysis.curves.checkpoints.effect import checkpoint_effects
from pgassay.analysis.curves.checkpoints.profiles import checkpoint_rows
from pgassay.analysis.curves.effect_curves import effects_by_load, quantile_shifts, round_effects
from pgassay.analysis.curves.halves import effects_by_half, half_caveats
from pgassay.analysis.curves.latency_curve import latency_curves
from pgassay.analysis.curves.load_curve import load_curves
from pgassay.analysis.curves.modes.latency_modes import latency_modes
from pgassay.analysis.curves.steadiness import steadiness_caveats, step_courses
from pgassay.analysis.curves.withheld import Withheld
from pgassay.analysis.judge import judge
from pgassay.analysis.measures.courses.even_series import EvenSeries
from pgassay.analysis.measures.courses.latencies import TrialLatencies
from pgassay.analysis.measures.courses.trial_course import TrialCourse
from pgassay.analysis.measures.model import Caveat, TrialMeasures, TrialSignals
from pgassay.analysis.measures.signals import buffer_caches, by_arm
from pgassay.analysis.measures.statements import SeenPlan, TrialStatements
from pgassay.analysis.measures.variants import summarise_variants
from pgassay.analysis.methods.model import MethodCell
from pgassay.analysis.methods.tables import method_cells
from pgassay.analysis.model import Analysis, Answer, Behaviour, Explanation, RunFacts, RunNoise
from pgassay.analysis.noise.aa_run import calibrate, noise_floor
from pgassay.analysis.profiles.functions import profiles_of
from pgassay.analysis.queries.answers import answer_caveats
from pgassay.analysis.queries.price import schema_prices
from pgassay.analysis.queries.replayed import replayed_statements
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.sampled.by_load import load_profiles
from pgassay.analysis.sampled.host_figures import knobs_of, sampled_of
from pgassay.analysis.sampled.model import HostFigure
from pgassay.analysis.sampled.wait_events import wait_events
from pgassay.analysis.statements.use import plans_by_arm, statement_use
from pgassay.analysis.trade_offs.weigh import trade_offs
from pgassay.analysis.trial_reading import TrialReading
from pgassay.analysis.verdicts.checkpoint_cost import checkpoint_cost_caveats
from pgassay.analysis.verdicts.collapses import unseen_collapses
from pgassay.analysis.verdicts.drift import drift_caveats, server_caveats, unlike_server_caveats
from pgassay.analysis.verdicts.idle_rounds import round_caveats
from pgassay.analysis.verdicts.left_out_trials import (
    idle_trial_caveats,
    left_out_query_caveats,
    lost_trial_caveats,
)
from pgassay.analysis.verdicts.losses import losses_of
from pgassay.analysis.verdicts.other_programs import other_program_caveats
from pgassay.analysis.verdicts.position import position_caveats
from pgassay.analysis.verdicts.run_caveats import (
    failure_caveats,
    invalid_trial_caveats,
    repeated_run_caveats,
    run_caveats,
    unfinished_caveats,
)
from pgassay.analysis.verdicts.undecided import why_undecided
from pgassay.analysis.verdicts.withdrawal import not_in_force_caveats, withdraw_effects
from pgassay.notes import Note
from pgassay.plan.model import Plan
from pgassay.samples.forms.trial import TrialFile
from pgassay.samples.profiles import StoredProfiles
from pgassay.trials.model.record import FailedTrial

if TYPE_CHECKING:
    from pgassay.analysis.classic.model import ClassicView

T = TypeVar("T")


def analyse(
    plan: Plan,
    readings: Sequence[TrialReading],
    facts: RunFacts,
    failed: Sequence[FailedTrial] = (),
    profiles: StoredProfiles | None = None,
) -> Analysis:
    """Return everything that is estimated from a run's finished trials.

    Invalid trials enter no figure, and a block that lacks one is incomplete. Trials that executed
    some queries of a set alone enter only what is said of these. `failed` are trials
    that ended with an error and were not stored.
    """
    valid = [
        one
        for one in readings
        if not one.measures.invalid and plan.executes_all(one.measures.block)
    ]
    summaries = [one.trial.summary() for one in valid]
    drift = drift_caveats([one.trial for one in valid])
    measures = [one.measures for one in readings]
    answer = answer_of(plan.question, plan, measures, drift, failed, _calls(plan, facts))
    courses = _present(one.course for one in valid)
    even = _present(one.even for one in valid)
    explanation = explanation_of(
        plan,
        answer,
        facts,
        _present(one.signals for one in valid),
        _present(one.statements for one in valid),
        [seen for one in valid for seen in one.plans],
        profiles,
        even,
        summaries,
    )
    return Analysis(
        answer=answer,
        behaviour=behaviour_of(plan, answer, courses, _present(one.latencies for one in valid)),
        noise=noise_of(plan, answer, courses, summaries),
        explanation=explanation,
        classic=classic_of(plan, explanation, facts, even),
    )


def _calls(plan: Plan, facts: RunFacts) -> Mapping[str, float] | None:
    """Calls of each query as its file says, else as the user's server counted: then the former are
    those of an hour."""
    if plan.queries is None:
        return None
    counted = facts.environment.query_calls
    if counted is None:
        return plan.queries.calls or None
    hours = counted.hours_until(facts.environment.created_at) or 1.0
    return counted.calls | {name: hours * calls for name, calls in plan.queries.calls.items()}


def answer_of(
    question: str,
    plan: Plan,
    finished: Sequence[TrialMeasures],
    drift: Sequence[Caveat] = (),
    failed: Sequence[FailedTrial] = (),
    calls: Mapping[str, float] | None = None,
) -> Answer:
    """Return the comparison of every level with its factor's baseline, on every metric, overall
    and by load, and what else is estimated of effects from the trials' measures."""
    judged = judge(plan, finished, failed, calls=calls)
    found, tables = judged.verdicts, judged.tables
    trials, comparisons = found.trials, found.comparisons
    factorial = withdraw_effects(
        factorial_effects(plan, METRICS[plan.metric], tables[None], judged.rule),
        plan.arms,
        judged.withdrawn.keys()
        | {x for one in found.standstills if one.step is None for x in one.takes},
    )
    by_server = effects_by_server(plan, trials, found.verdicts(), tables, judged.rule)
    losses = losses_of(plan, found.verdicts(), trials, tables, found.reached.rules, judged.lost)
    return replace(
        found,
        question=question,
        accounting=account(plan, trials, comparisons),
        trade_offs=trade_offs(plan, trials, comparisons),
        variants=() if plan.alternates else summarise_variants(trials),
        round_effects=round_effects(plan, trials),
        interactions=factorial.interactions,
        simple_effects=factorial.simple_effects,
        trends=factorial.trends,
        arm_effects=factorial.arm_effects,
        by_server=by_server,
        losses=losses,
        collapses=tuple(unseen_collapses(found.verdicts())),
        undecided=tuple(why_undecided(found.verdicts(), trials, plan.smallest_effect)),
        warnings=(
            *other_program_caveats(plan, trials, found.verdicts()),
            *invalid_trial_caveats(found.invalid_trials, trials),
            *drift,
            *carry_over_caveats(found.carry_over),
            *round_caveats(plan, trials, judged.rounds),
            *position_caveats(METRICS[plan.metric], tables[None], plan.smallest_effect),
            *server_caveats(by_server),
            *idle_trial_caveats(found.standstills, plan.step_unit),
            *lost_trial_caveats(plan.arms, judged.lost, failed, losses),
            *not_in_force_caveats(plan, (*trials, *found.invalid_trials)),
            *unfinished_caveats(judged.missing),
            *failure_caveats(plan, trials),
            *left_out_query_caveats(plan, trials),
            *answer_caveats(plan, [each for one in trials for each in one.queries]),
            *run_caveats(plan, trials, comparisons, found.blocks, found.invalid_trials),
        ),
    )


def behaviour_of(
    plan: Plan,
    answer: Answer,
    courses: Sequence[TrialCourse],
    latencies: Sequence[TrialLatencies] = (),
) -> Behaviour:
    """Return what happened inside trials; of a switchback or duet only latencies, because courses
    describe trials of one arm. An A/A run compares no shares of modes.

    Nothing of a query set: its trials go as the queries that happen to run."""
    if plan.queries is not None:
        return Behaviour()
    withheld = Withheld.of(answer.verdicts(), answer.standstills)
    modes, mode_contrasts = latency_modes(plan, latencies)
    found = Behaviour(
        latency_modes=modes,
        mode_contrasts=() if plan.calibrates else withheld.contrasts(mode_contrasts),
        latency_curves=latency_curves(plan, latencies),
    )
    if plan.alternates:
        return found
    effects, contrasts = checkpoint_effects(plan, courses)
    steps = step_courses(courses, plan.smallest_effect)
    by_half = effects_by_half(plan, answer.trials, courses, answer.verdicts())
    return replace(
        found,
        quantile_shifts=withheld.shifts(quantile_shifts(plan, answer.trials)),
        by_load=withheld.effects(effects_by_load(plan, answer.trials)),
        load_curves=withheld.load_curves(load_curves(plan, answer.trials), plan.arms),
        by_half=by_half,
        courses=steps,
        checkpoint_effects=effects,
        checkpoint_contrasts=withheld.contrasts(contrasts),
        checkpoint_causes=checkpoint_causes(plan, courses),
        checkpoint_rows=checkpoint_rows(courses),
        associations=associations(courses),
        warnings=(*steadiness_caveats(plan, steps), *half_caveats(plan, courses, by_half)),
    )


def explanation_of(
    plan: Plan,
    answer: Answer,
    facts: RunFacts,
    signals: Sequence[TrialSignals] = (),
    statements: Sequence[TrialStatements] = (),
    plans: Sequence[SeenPlan] = (),
    profiles: StoredProfiles | None = None,
    series: Sequence[EvenSeries] = (),
    trials: Sequence[TrialFile] = (),
) -> Explanation:
    """Return what was sampled by arm: signals, the host, the waits, the USE, RED and LTES tables,
    the statements of the load or of the trace with their times and plans, and the arms' profiles.
    No verdict rests on it."""
    arms = by_arm([arm.id for arm in plan.arms], signals)
    withdrawn = {(c.factor, c.level) for c in answer.verdicts() if c.withdrawn is not None}
    tps = {arm.id: arm.means.get("tps") for arm in answer.arms}
    knobs = knobs_of(plan, facts.environment)
    sampled = sampled_of(plan, series, knobs)
    return Explanation(
        infrastructure=_unjudged(sampled.host(), plan),
        speed=_unjudged(sampled.speed(), plan),
        load_profiles=load_profiles(plan, answer.trials, series, knobs, facts.asked),
        wait_events=wait_events(plan, signals),
        signals=arms,
        methods=_unjudged(
            method_cells(plan, answer.trials, answer.comparisons, arms, facts.environment), plan
        ),
        buffer_cache=buffer_caches(arms),
        statement_use=statement_use(plan, statements, signals, facts.statements, withdrawn),
        trace_statements=replayed_statements(plan, trials, withdrawn),
        schema_prices=schema_prices(plan, trials, facts.environment),
        plans=plans_by_arm(plan.arms, plans),
        profiles=None if profiles is None else profiles_of(profiles, plan, tps),
        warnings=(
            *checkpoint_cost_caveats(plan, answer.trials, facts.environment, facts.asked),
            *unlike_server_caveats(facts.environment),
            *repeated_run_caveats(facts.environment, answer.verdicts()),
        ),
    )


def classic_of(
    plan: Plan, explanation: Explanation, facts: RunFacts, series: Sequence[EvenSeries]
) -> ClassicView | None:
    """Return pg_expecto's figures; None for a switchback or duet, and for a query set, which has no
    operational speed."""
    if plan.alternates or plan.queries is not None:
        return None
    from pgassay.analysis.classic.view import classic_view

    return classic_view(
        [arm.id for arm in plan.arms],
        series,
        explanation.signals,
        facts.environment,
        {arm.id: arm.knobs for arm in plan.arms},
    )


def noise_of(
    plan: Plan, answer: Answer, courses: Sequence[TrialCourse], summaries: Sequence[TrialFile]
) -> RunNoise:
    """Return the run's noise, and the calibration of an A/A run.

    An A/A run that is too small for a calibration gets a caveat instead.
    """
    floor = noise_floor(plan, answer.trials, courses, summaries)
    if not plan.calibrates:
        return RunNoise(floor)
    verdict = next((v for v in answer.verdicts() if v.step is None), None)
    calibration = calibrate(plan, answer.trials, verdict, floor, summaries)
    if calibration is not None:
        return RunNoise(floor, calibration)
    caveat = Caveat.of("calibration", Note("analysis/noise/no-calibration"))
    return RunNoise(floor, warnings=(caveat,))


_Figure = TypeVar("_Figure", MethodCell, HostFigure)


def _unjudged(found: Sequence[_Figure], plan: Plan) -> tuple[_Figure, ...]:
    """Figures of the host; of arms that are only described, neither direction is good."""
    if not plan.describes:
        return tuple(found)
    return tuple(replace(one, good="neither") for one in found)


def _present(found: Iterable[T | None]) -> list[T]:
    return [one for one in found if one is not None]
