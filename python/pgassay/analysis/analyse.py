"""The analysis of a run: verdicts first, then curves, then the noise.

Enters: the plan, the measures and courses of its trials. Leaves: an `Analysis`.
Never: reads a file (`measures/` does), or lets a later stage change a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pgassay.analysis.classic.view import classic_view
from pgassay.analysis.compare.accounting import account
from pgassay.analysis.compare.alternating.carry_over import (
    carry_over_caveats,
)
from pgassay.analysis.compare.alternating.round_effects import round_effects
from pgassay.analysis.compare.by_server import effects_by_server
from pgassay.analysis.compare.factorial import factorial_effects
from pgassay.analysis.curves.association import associations
from pgassay.analysis.curves.checkpoints.causes import checkpoint_causes
from pgassay.analysis.curves.checkpoints.effect import checkpoint_effects
from pgassay.analysis.curves.checkpoints.rows import checkpoint_rows
from pgassay.analysis.curves.effect_curves import effects_by_load, quantile_shifts
from pgassay.analysis.curves.halves import effects_by_half, half_caveats
from pgassay.analysis.curves.latency_curve import latency_curves
from pgassay.analysis.curves.load_curve import load_curves
from pgassay.analysis.curves.modes.latency_modes import latency_modes
from pgassay.analysis.curves.steadiness import steadiness_caveats, step_courses
from pgassay.analysis.curves.withheld import Withheld
from pgassay.analysis.judge import judge
from pgassay.analysis.measures.asked import ArmAsked
from pgassay.analysis.measures.buffer_cache import buffer_caches
from pgassay.analysis.measures.courses.even_series import EvenSeries
from pgassay.analysis.measures.courses.latencies import TrialLatencies
from pgassay.analysis.measures.courses.trial_course import TrialCourse
from pgassay.analysis.measures.model import Caveat, TrialMeasures
from pgassay.analysis.measures.plans import SeenPlan
from pgassay.analysis.measures.signals import TrialSignals, by_arm
from pgassay.analysis.measures.statements import TrialStatements
from pgassay.analysis.measures.variants import summarise_variants
from pgassay.analysis.methods.tables import method_cells
from pgassay.analysis.model import Analysis
from pgassay.analysis.noise.aa_run import calibrate, noise_floor
from pgassay.analysis.profiles.functions import profiles_of
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statements.plans import plans_by_arm
from pgassay.analysis.statements.use import statement_use
from pgassay.analysis.trade_offs.weigh import trade_offs
from pgassay.analysis.verdicts.checkpoint_cost import checkpoint_cost_caveats
from pgassay.analysis.verdicts.collapses import unseen_collapses
from pgassay.analysis.verdicts.idle_rounds import round_caveats
from pgassay.analysis.verdicts.left_out_trials import (
    idle_trial_caveats,
    lost_trial_caveats,
)
from pgassay.analysis.verdicts.losses import losses_of
from pgassay.analysis.verdicts.not_in_force import not_in_force_caveats
from pgassay.analysis.verdicts.position import position_caveats
from pgassay.analysis.verdicts.repeated_run import earlier_runs, repeated_run_caveats
from pgassay.analysis.verdicts.run_caveats import (
    failure_caveats,
    invalid_trial_caveats,
    run_caveats,
    unfinished_caveats,
)
from pgassay.analysis.verdicts.servers import server_caveats, unlike_server_caveats
from pgassay.analysis.verdicts.withdrawal import (
    withdraw_effects,
)
from pgassay.notes import Note
from pgassay.plan.model import Plan
from pgassay.samples.forms.trial import TrialFile
from pgassay.samples.profiles import StoredProfiles
from pgassay.trials.model.record import FailedTrial


def analyse(
    question: str,
    plan: Plan,
    finished: Sequence[TrialMeasures],
    drift: Sequence[Caveat] = (),
    failed: Sequence[FailedTrial] = (),
) -> Analysis:
    """Compare every level with its factor's baseline, on every metric, overall and by load.

    Invalid trials enter no figure, and a block that lacks one is incomplete. `failed` are trials
    that ended with an error and were not stored.
    """
    judged = judge(plan, finished, failed)
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
        warnings=(
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
            *run_caveats(plan, trials, comparisons, found.blocks, found.invalid_trials),
        ),
    )


def with_curves(analysis: Analysis, plan: Plan, courses: Sequence[TrialCourse]) -> Analysis:
    """The analysis with its curves and what happened inside trials, and the caveats they raise.

    Not of a switchback or duet: these describe trials of one arm.
    """
    if plan.alternates:
        return analysis
    withheld = Withheld.of(analysis.verdicts(), analysis.standstills)
    effects, contrasts = checkpoint_effects(plan, courses)
    steps = step_courses(courses, plan.smallest_effect)
    curves = load_curves(plan, analysis.trials)
    by_half = effects_by_half(plan, analysis.trials, courses, analysis.verdicts())
    return replace(
        analysis,
        quantile_shifts=withheld.shifts(quantile_shifts(plan, analysis.trials)),
        by_load=withheld.effects(effects_by_load(plan, analysis.trials)),
        load_curves=withheld.load_curves(curves, plan.arms),
        by_half=by_half,
        courses=steps,
        checkpoint_effects=effects,
        checkpoint_contrasts=withheld.contrasts(contrasts),
        checkpoint_causes=checkpoint_causes(plan, courses),
        checkpoint_rows=checkpoint_rows(courses),
        associations=associations(courses),
        warnings=(
            *analysis.warnings,
            *steadiness_caveats(plan, steps),
            *half_caveats(plan, courses, by_half),
        ),
    )


def with_modes(analysis: Analysis, plan: Plan, trials: Sequence[TrialLatencies]) -> Analysis:
    """The analysis with curves and modes of latency; an A/A run compares no shares of modes."""
    modes, contrasts = latency_modes(plan, trials)
    withheld = Withheld.of(analysis.verdicts(), analysis.standstills)
    given = () if plan.calibrates else withheld.contrasts(contrasts)
    return replace(
        analysis,
        latency_modes=modes,
        mode_contrasts=given,
        latency_curves=latency_curves(plan, trials),
    )


def with_signals(
    analysis: Analysis,
    plan: Plan,
    signals: Sequence[TrialSignals],
    environment: Mapping[str, Any],
    spec_text: str = "",
    asked: Sequence[ArmAsked] = (),
) -> Analysis:
    """The analysis with everything sampled by arm, and with environment.json, for diagnosis.

    The USE, RED and LTES tables are made of these.
    """
    arms = by_arm([arm.id for arm in plan.arms], signals)
    return replace(
        analysis,
        signals=arms,
        environment=environment,
        earlier_runs=earlier_runs(environment),
        warnings=(
            *analysis.warnings,
            *checkpoint_cost_caveats(plan, analysis.trials, environment, asked),
            *unlike_server_caveats(environment),
            *repeated_run_caveats(environment, analysis.verdicts()),
        ),
        methods=method_cells(plan, analysis.trials, analysis.comparisons, arms, environment),
        buffer_cache=buffer_caches(arms),
        spec_text=spec_text,
        asked=tuple(asked),
    )


def with_classic(analysis: Analysis, plan: Plan, series: Sequence[EvenSeries]) -> Analysis:
    """The analysis with pg_expecto's figures; it has signals and environment already.

    Not of a switchback or duet, whose trials are not of one arm.
    """
    if plan.alternates:
        return analysis
    return replace(
        analysis,
        classic=classic_view(
            [arm.id for arm in plan.arms],
            series,
            analysis.signals,
            analysis.environment,
            {arm.id: arm.knobs for arm in plan.arms},
        ),
    )


def with_statements(
    analysis: Analysis,
    plan: Plan,
    statements: Sequence[TrialStatements],
    signals: Sequence[TrialSignals],
    plans: Sequence[SeenPlan],
    texts: Mapping[str, str],
) -> Analysis:
    """The analysis with the statements of the load: their texts, times and plans."""
    withdrawn = {(c.factor, c.level) for c in analysis.verdicts() if c.withdrawn is not None}
    return replace(
        analysis,
        statements=texts,
        statement_use=statement_use(plan, statements, signals, texts, withdrawn),
        plans=plans_by_arm(plan.arms, plans),
    )


def with_profiles(analysis: Analysis, plan: Plan, stored: StoredProfiles) -> Analysis:
    """The analysis with what the arms' profiles say; no verdict rests on it."""
    tps = {arm.id: arm.means.get("tps") for arm in analysis.arms}
    return replace(analysis, profiles=profiles_of(stored, plan, tps))


def with_noise(
    analysis: Analysis,
    plan: Plan,
    courses: Sequence[TrialCourse],
    summaries: Sequence[TrialFile],
) -> Analysis:
    """The analysis with the run's noise, and the calibration of an A/A run.

    An A/A run that is too small for a calibration gets a caveat instead.
    """
    floor = noise_floor(plan, analysis.trials, courses, summaries)
    analysis = replace(analysis, noise=floor)
    if not plan.calibrates:
        return analysis
    verdict = next((v for v in analysis.verdicts() if v.step is None), None)
    calibration = calibrate(plan, analysis.trials, verdict, floor, summaries)
    if calibration is not None:
        return replace(analysis, calibration=calibration)
    caveat = Caveat.of("calibration", Note("analysis/noise/no-calibration"))
    return replace(analysis, warnings=(*analysis.warnings, caveat))
