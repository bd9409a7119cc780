"""All comparisons of a run.

Enters: the plan, the question, the measures of its finished trials. Leaves: an `Analysis`.
Never: reads a file; `measures.py` did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pgassay.analysis.carry_over import carry_over, carry_over_doubts, outweighed, suspected
from pgassay.analysis.comparison import Question, compare
from pgassay.analysis.contrasts import BlockTable, block_table, main_effect
from pgassay.analysis.estimate import Rule
from pgassay.analysis.factorial import factorial_effects, joint_p
from pgassay.analysis.failures import failure_doubts
from pgassay.analysis.lost_trials import lost_doubts, lost_trials
from pgassay.analysis.metrics import METRICS, Metric
from pgassay.analysis.model import (
    Analysis,
    ArmSummary,
    Comparison,
    Doubt,
    IntervalKind,
    Standstill,
    TrialMeasures,
    Verdict,
)
from pgassay.analysis.round_doubts import idle_rounds, round_doubts
from pgassay.analysis.round_effects import round_effects
from pgassay.analysis.run_doubts import of_invalid, run_doubts
from pgassay.analysis.secondary import corrected
from pgassay.analysis.standstills import standstill_doubts, standstills, taken
from pgassay.analysis.turns_model import Withdrawn
from pgassay.analysis.unfinished import missing_trials, unfinished_doubts
from pgassay.analysis.variants import summarise_variants
from pgassay.analysis.withdrawing import (
    Level,
    Withdrawal,
    without_effects,
    without_standing,
    without_verdicts,
)
from pgassay.plan.model import Plan
from pgassay.plan.turns import round_count
from pgassay.trials.record import FailedTrial

_INTERVALS = {
    "fixed": IntervalKind.T,
    "sequential": IntervalKind.SEQUENCE,
    "group-sequential": IntervalKind.GROUP,
}


def analyse(
    question: str,
    plan: Plan,
    finished: Sequence[TrialMeasures],
    drift: Sequence[Doubt] = (),
    failed: Sequence[FailedTrial] = (),
) -> Analysis:
    """Compare every level with its factor's baseline, on every metric, whole and by step.

    Invalid trials are in no figure; a block that lacks one is incomplete. `failed` are those that
    broke off and were not stored.
    """
    rule = rule_of(plan)
    trials = sorted((t for t in finished if not t.invalid), key=_place)
    invalid = sorted((t for t in finished if t.invalid), key=_place)
    steps = {step: block_table(METRICS[plan.metric], trials, plan, step) for step in _steps(plan)}
    complete = _complete_blocks(plan, trials)
    stood = standstills(plan, trials, _steps(plan))
    compared = _comparisons(plan, trials, rule, steps)
    comparisons = without_standing(compared, taken(stood, trials))
    comparisons = _tested_together(plan, steps, comparisons, rule)
    carried = carry_over(plan, trials, comparisons)
    idle = idle_rounds(plan, trials)
    lost = lost_trials(plan, invalid, failed)
    missing = missing_trials(plan, finished)
    every = _every_level(plan)
    doubtful: dict[Level, Withdrawal] = {}
    if missing:
        doubtful |= dict.fromkeys(every, Withdrawal(Withdrawn.UNFINISHED, for_good=False))
    doubtful |= dict.fromkeys(lost.takes, Withdrawal(Withdrawn.LOST_TRIALS, for_good=False))
    if idle.forbid_a_verdict:
        doubtful |= dict.fromkeys(every, Withdrawal(Withdrawn.IDLE_ROUNDS, idle.for_good))
    doubtful |= dict.fromkeys(outweighed(carried), Withdrawal(Withdrawn.CARRY_OVER, for_good=True))
    if plan.calibrates:
        doubtful = {}  # there is no verdict to withdraw
    comparisons = without_verdicts(comparisons, doubtful)
    if not plan.calibrates:
        comparisons = corrected(comparisons, plan.metric)
    factorial = factorial_effects(plan, METRICS[plan.metric], steps[None], rule)
    factorial = without_effects(factorial, plan, doubtful.keys() | _still_as_a_whole(stood))
    return Analysis(
        question=question,
        metric=plan.metric,
        smallest_effect=plan.smallest_effect,
        interval=rule.interval,
        simultaneous=rule.simultaneous,
        blocks=complete,
        arms=tuple(_arm_summary(plan, trials)),
        trials=tuple(trials),
        invalid_trials=tuple(invalid),
        comparisons=comparisons,
        standstills=stood,
        variants=() if plan.alternates else summarise_variants(trials),
        carry_over=carried,
        carry_over_suspected=bool(suspected(carried) - doubtful.keys()),
        round_effects=round_effects(plan, trials),
        interactions=factorial.interactions,
        simple_effects=factorial.simple_effects,
        trends=factorial.trends,
        arm_effects=factorial.arm_effects,
        warnings=(
            *of_invalid(invalid, trials),
            *drift,
            *carry_over_doubts(carried),
            *round_doubts(plan, trials, idle),
            *standstill_doubts(plan, stood),
            *lost_doubts(plan, lost, failed),
            *unfinished_doubts(missing),
            *failure_doubts(plan, trials),
            *run_doubts(plan, trials, comparisons, complete),
        ),
    )


def _still_as_a_whole(stood: Sequence[Standstill]) -> set[Level]:
    """Levels whose verdict over whole trials is taken by an arm that stood still."""
    return {level for one in stood if one.step is None for level in one.takes}


def _every_level(plan: Plan) -> set[tuple[str, str]]:
    return {(factor.name, level) for factor in plan.factors for level in factor.levels[1:]}


def _place(trial: TrialMeasures) -> tuple[int, int]:
    """In the order they ran: a trial run again has a high number and belongs to its block."""
    return trial.block, trial.position


def rule_of(plan: Plan) -> Rule:
    """How this plan's verdicts are reached."""
    contrasts = sum(len(factor.levels) - 1 for factor in plan.factors)
    return Rule(
        interval=IntervalKind.T if plan.calibrates else _INTERVALS[plan.stops],
        smallest_effect=plan.smallest_effect,
        simultaneous=max(1, contrasts * len(_steps(plan))),
        declared_blocks=_declared(plan),
        looks=() if plan.calibrates else plan.looks,
    )


def _declared(plan: Plan) -> int:
    """How many block differences, or differences of rounds, the sign-flip p is over."""
    if not plan.alternates or plan.side_by_side:
        return plan.min_blocks
    return sum(round_count(plan, t) for t in plan.trials if t.block <= plan.min_blocks)


def _steps(plan: Plan) -> list[float | None]:
    """The whole trial, and each step where there are several."""
    levels = dict.fromkeys(plan.step_levels())
    return [None, *levels] if len(levels) > 1 else [None]


def _comparisons(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    rule: Rule,
    primary: Mapping[float | None, BlockTable],
) -> list[Comparison]:
    found = []
    for metric in _measured(trials):
        tables = primary
        if metric.name != plan.metric:
            tables = {step: block_table(metric, trials, plan, step) for step in primary}
        for factor in plan.factors:
            for level in factor.levels[1:]:
                for step in primary:
                    question = Question(metric, factor, level, step)
                    comparison = compare(question, tables[step], plan, rule)
                    if comparison is not None:
                        found.append(comparison)
    return found


def _measured(trials: Sequence[TrialMeasures]) -> list[Metric]:
    """Those of which some trial, step or slice has a value."""
    measured = [part.values for trial in trials for part in (trial.whole, *trial.steps)]
    turns = [turn.values for trial in trials for turn in trial.turns]
    names = set[str]().union(*measured, *turns)
    return [metric for metric in METRICS.values() if metric.name in names]


def _tested_together(
    plan: Plan,
    tables: Mapping[float | None, BlockTable],
    comparisons: tuple[Comparison, ...],
    rule: Rule,
) -> tuple[Comparison, ...]:
    """The same, the verdicts with their max-T p; one not given has no say in the others'."""
    factors = {factor.name: factor for factor in plan.factors}
    verdicts = [
        at
        for at, c in enumerate(comparisons)
        if c.metric == plan.metric and c.withdrawn is not Withdrawn.STANDSTILL
    ]
    chosen = [comparisons[at] for at in verdicts]
    together = joint_p(
        [tables[c.step] for c in chosen],
        [main_effect(plan, factors[c.factor], c.level) for c in chosen],
        rule.declared_blocks,
    )
    corrected = dict(zip(verdicts, together or (), strict=False))
    if plan.calibrates:
        comparisons = tuple(
            replace(c, verdict=Verdict.CALIBRATION, blocks_to_decide=None) for c in comparisons
        )
    return tuple(replace(c, p_max_t=corrected.get(at)) for at, c in enumerate(comparisons))


def _complete_blocks(plan: Plan, trials: Sequence[TrialMeasures]) -> int:
    arms: dict[int, set[str]] = {}
    for trial in trials:
        arms.setdefault(trial.block, set()).add(trial.arm)
    whole = len(plan.block(1))
    return sum(len(done) == whole for done in arms.values())


def _arm_summary(plan: Plan, trials: Sequence[TrialMeasures]) -> list[ArmSummary]:
    by_arm: dict[str, list[Mapping[str, float]]] = {arm.id: [] for arm in plan.arms}
    for trial in trials:
        if trial.arm in by_arm:
            # Where nothing was committed throughput is zero; latency has no value.
            still = {} if trial.whole.transactions else {"tps": 0.0}
            by_arm[trial.arm].append({**trial.whole.values, **still})
        else:
            for name, values in by_arm.items():
                values += _of_turns(name, trial)
    summaries = []
    for arm in plan.arms:
        own = by_arm[arm.id]
        names = set[str]().union(*own)
        means = {
            name: sum(known) / len(known)
            for name in METRICS
            if name in names and (known := [v[name] for v in own if name in v])
        }
        summaries.append(ArmSummary(arm.id, arm.label, arm.levels, len(own), means))
    return summaries


def _of_turns(arm: str, trial: TrialMeasures) -> list[Mapping[str, float]]:
    """A trial's values for one of the arms that take turns in it, if any: over its slices.

    A slice in which nothing ended has a throughput of zero, and no latency.
    """
    turns = [turn.values for turn in trial.turns if turn.arm == arm]
    names = set[str]().union(*turns)
    found = {n: [v[n] for v in turns if n in v] for n in sorted(names)}
    means = {n: sum(v) / len(turns if n == "tps" else v) for n, v in found.items()}
    return [means] if means else []
