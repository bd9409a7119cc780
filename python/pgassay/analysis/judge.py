"""The verdicts of a run, and whether it may end with them.

Enters: the plan, the measures of its trials. Leaves: an `Answer` of verdicts, or the plan of
the blocks that follow.
Never: describes what else the trials show (`analyse.py` does).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pgassay.analysis.compare.alternating.carry_over import carry_over, outweighed, suspected
from pgassay.analysis.compare.blocks.contrasts import block_table
from pgassay.analysis.compare.early_end import adjusted_for_early_end
from pgassay.analysis.compare.levels import Tables, compare_levels, judge_levels, with_typical_trial
from pgassay.analysis.compare.model import CarryOver, Comparison, IntervalKind, Verdict, Withdrawn
from pgassay.analysis.compare.rule import Rule, loads_compared, rule_of
from pgassay.analysis.compare.secondary_verdicts import corrected
from pgassay.analysis.compare.step_down import Reached
from pgassay.analysis.gates.judge import may_end, verdicts_suffice
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.measures.queries import with_query_times
from pgassay.analysis.measures.within_run import of_one_server, with_deviations, with_parallel_time
from pgassay.analysis.model import Answer
from pgassay.analysis.queries.effects import query_set
from pgassay.analysis.queries.model import QueryEffect
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.verdicts.arm_summary import summarise_arms
from pgassay.analysis.verdicts.described import described
from pgassay.analysis.verdicts.idle_rounds import IdleRounds, idle_rounds
from pgassay.analysis.verdicts.left_out_trials import (
    LostTrials,
    idle_trials,
    levels_of_arm,
    levels_withdrawn,
    lost_trials,
)
from pgassay.analysis.verdicts.run_caveats import missing_trials
from pgassay.analysis.verdicts.withdrawal import (
    Level,
    Withdrawal,
    levels_not_in_force,
    withdraw_idle,
    withdraw_idle_endpoints,
    withdraw_set_by_load,
    withdraw_verdicts,
)
from pgassay.plan.model import Plan
from pgassay.plan.whole_loads import OpenQueries
from pgassay.spec.endpoints import OF_QUERIES
from pgassay.spec.load.of_queries import FEWEST
from pgassay.trials.model.record import FailedTrial

_Judged = TypeVar("_Judged", QueryEffect, Comparison)
_MOST_TIMES = 3.0
"""As often as in a block of all queries is one executed at most, where the others are left out."""


@dataclass(frozen=True)
class Judged:
    """The verdicts, and what they rest on."""

    verdicts: Answer
    rule: Rule
    tables: Tables
    rounds: IdleRounds
    lost: LostTrials
    missing: int
    withdrawn: Mapping[Level, Withdrawal]


def judge(
    plan: Plan,
    finished: Sequence[TrialMeasures],
    failed: Sequence[FailedTrial] = (),
    before: Answer | None = None,
    *,
    of_verdicts_only: bool = False,
    calls: Mapping[str, float] | None = None,
) -> Judged:
    """Compares every level; of verdicts only, on the primary metric and the endpoints. `calls` are
    those of the queries of a set, which decide nothing."""
    rule, loads = rule_of(plan), loads_compared(plan.step_levels())
    finished = of_one_server(finished)
    if plan.metric == OF_QUERIES:
        partial = [one for one in finished if not plan.executes_all(one.block)]
        whole = with_query_times([one for one in finished if plan.executes_all(one.block)])
        finished = [*whole, *partial]
    valid = sorted((t for t in finished if not t.invalid), key=_place)
    trials = [one for one in valid if plan.executes_all(one.block)]
    if not plan.calibrates and not plan.alternates and not of_verdicts_only:
        trials = with_parallel_time(with_deviations(trials))
    invalid = sorted((t for t in finished if t.invalid), key=_place)
    tables = {load: block_table(METRICS[plan.metric], trials, plan, load) for load in loads}
    idle = idle_trials(plan, trials, loads)
    metrics = (
        {plan.metric, *(one.metric for one in plan.endpoints)} if of_verdicts_only else METRICS
    )
    looks = _looks(plan, rule, trials, before)
    primary, reached = judge_levels(
        plan, rule, tables, looks, Reached() if before is None else before.reached
    )
    others = compare_levels(plan, trials, rule, loads, metrics)
    comparisons = withdraw_idle([*primary, *others], levels_withdrawn(idle, trials))
    earlier = None if before is None else before.carry_over
    carried = carry_over(plan, trials, comparisons, earlier)
    rounds = idle_rounds(plan, trials)
    lost = lost_trials(plan, invalid, failed)
    missing = missing_trials(plan, finished)
    withdrawn = _withdrawn(plan, missing, lost, rounds, carried)
    if not plan.calibrates:
        why = Withdrawal(Withdrawn.SET_BY_LOAD_ITSELF, for_good=True)
        withdrawn |= dict.fromkeys(levels_not_in_force(plan, finished), why)
    if plan.calibrates:  # an A/A run gives no verdicts
        comparisons = tuple(
            replace(c, verdict=Verdict.CALIBRATION, blocks_to_decide=None) for c in comparisons
        )
    else:
        comparisons = withdraw_idle_endpoints(comparisons, plan, trials)
        given = withdraw_set_by_load(withdraw_verdicts(comparisons, withdrawn), plan)
        comparisons = corrected(given, plan, rule)
        if not of_verdicts_only:
            comparisons = adjusted_for_early_end(comparisons, plan, rule)
        comparisons = described(with_typical_trial(comparisons, plan.metric), plan, rule)
    found = Answer(
        question=plan.question,
        metric=plan.metric,
        smallest_effect=plan.smallest_effect,
        endpoints=plan.endpoints,
        interval=rule.interval,
        rule=rule,
        simultaneous=rule.simultaneous,
        blocks=_complete_blocks(plan, trials),
        arms=summarise_arms(plan.arms, () if of_verdicts_only else trials),
        trials=tuple(trials),
        partial_trials=tuple(one for one in valid if not plan.executes_all(one.block)),
        invalid_trials=tuple(invalid),
        comparisons=comparisons,
        warnings=(),
        standstills=idle,
        reached=reached,
        queries=query_set(
            plan,
            [each for one in valid for each in one.queries],
            calls,
            set(withdrawn),
            [one for one in comparisons if one.metric == OF_QUERIES and one.step is None],
        ),
        carry_over=carried,
        carry_over_suspected=bool(suspected(carried) - withdrawn.keys()),
    )
    return Judged(found, rule, tables, rounds, lost, missing, withdrawn)


def verdicts(
    plan: Plan,
    finished: Sequence[TrialMeasures],
    failed: Sequence[FailedTrial] = (),
    before: Answer | None = None,
) -> Answer:
    """Returns what `analyse` says of the primary metric and the endpoints, in a fraction of the
    time.

    The rest of the analysis is empty, and arms have no means. A run needs no more at a look.
    `before` is the same at the look before, if it is at hand: then nothing is computed for earlier
    looks again.
    """
    return judge(plan, finished, failed, before, of_verdicts_only=True).verdicts


def after_block(
    plan: Plan, block: int, measures: Sequence[TrialMeasures], failed: Sequence[FailedTrial] = ()
) -> Plan | None:
    """The plan of the blocks that follow; None where the run ends with this one.

    A single arm, and A/A, have no question to leave open.
    """
    if not plan.may_stop_after(block):
        return plan
    if plan.calibrates or not plan.factors:
        return None
    # A resumed run judges a finished block by what was known when it was run.
    until_then = [one for one in failed if one.block <= block]
    found = judge(plan, measures, until_then, of_verdicts_only=verdicts_suffice(plan)).verdicts
    following = without_settled(plan, found, block)
    is_alone = len(following.dropped) == len(plan.arms) - 1
    if not may_end(plan, found):
        return None if is_alone else following
    if plan.gates_only or is_alone:
        return None
    if _open_endpoints(plan, found, block):
        return following
    open_ = _open_queries(plan, found, block)
    return with_open_alone(following, found, open_, block) if open_ else None


def _open_queries(plan: Plan, found: Answer, block: int) -> list[QueryEffect]:
    """The open queries, by level, that the blocks that are left may decide."""
    return _open(found.queries.effects if found.queries else (), plan, block)


def _open_endpoints(plan: Plan, found: Answer, block: int) -> list[Comparison]:
    """The same of the endpoints of a set of queries, which are of blocks of the whole set."""
    beside = {one.metric for one in plan.endpoints} if found.queries else set()
    asked = (one for one in found.comparisons if one.metric in beside and not one.withdrawn)
    return _open(asked, plan, block)


def _open(asked: Iterable[_Judged], plan: Plan, block: int) -> list[_Judged]:
    """Those that are undecided and that the blocks that are left may decide.

    How many more it takes is known badly from a few blocks, so twice as many as are left do not end
    the run yet. Intervals hold at every look: giving up the others makes no claim wrong.
    """
    left = 2 * (plan.last_block - block)
    return [
        one
        for one in asked
        if one.verdict is Verdict.UNDECIDED and 0 < (one.blocks_to_decide or 0) <= left
    ]


def with_open_alone(plan: Plan, found: Answer, open_: Sequence[QueryEffect], block: int) -> Plan:
    """The plan whose next blocks execute the open queries alone: more often, where a pilot has said
    how often, in at most the time of all queries.

    Of an earlier process it may have later blocks, which stay: they were decided in the same way.
    """
    queries = plan.queries
    if queries is None or found.queries is None:
        return plan
    names = {one.query for one in open_}
    took = {one.query: one.baseline_ms or 0.0 for one in found.queries.effects}
    if names == took.keys():
        return plan
    before = queries.chosen or dict.fromkeys(took, queries.repeats or FEWEST)
    times = 1.0
    if queries.chosen:
        of_each = {name: before[name] * ms for name, ms in took.items() if name in before}
        of_open = sum(ms for name, ms in of_each.items() if name in names)
        times = min(_MOST_TIMES, sum(of_each.values()) / of_open) if of_open else 1.0
    repeats = {name: int(before[name] * times) for name in before if name in names}
    since = OpenQueries(block + 1, repeats)
    by_block = {one.since: one for one in queries.open_alone} | {block + 1: since}
    kept = tuple(by_block[at] for at in sorted(by_block))
    return replace(plan, queries=replace(queries, open_alone=kept))


def answered(
    plan: Plan, block: int, measures: Sequence[TrialMeasures], failed: Sequence[FailedTrial] = ()
) -> bool:
    """Returns whether a run is answered, so that it ends with this block."""
    return after_block(plan, block, measures, failed) is None


def without_settled(plan: Plan, found: Answer, block: int) -> Plan:
    """The plan without the arms that no open verdict needs."""
    if not plan.drops_arms or block >= plan.last_block:
        return plan
    of_queries, beside = (ask(plan, found, block) for ask in (_open_queries, _open_endpoints))
    open_ = found.open_levels() | {(one.factor, one.level) for one in [*of_queries, *beside]}
    if len(open_) == plan.compared_levels:
        return plan
    settled = [
        arm.id
        for place, arm in enumerate(plan.arms)
        if arm.id not in plan.dropped and open_.isdisjoint(levels_of_arm(plan, place))
    ]
    return replace(plan, dropped={**plan.dropped, **dict.fromkeys(settled, block)})


def _looks(
    plan: Plan, rule: Rule, trials: Sequence[TrialMeasures], before: Answer | None
) -> list[int]:
    """The blocks at which several verdicts were judged, or could have been; the last is now."""
    now = max((trial.block for trial in trials), default=0)
    if before is not None or rule.simultaneous == 1 or rule.interval is IntervalKind.T:
        return [now]
    return [*filter(plan.may_stop_after, range(1, now)), now]


def _withdrawn(
    plan: Plan, missing: int, lost: LostTrials, rounds: IdleRounds, carried: Sequence[CarryOver]
) -> dict[Level, Withdrawal]:
    """Levels whose verdicts are not given on any metric; of several reasons the last one counts."""
    if plan.calibrates:
        return {}
    every = [(factor.name, level) for factor in plan.factors for level in factor.levels[1:]]
    found: dict[Level, Withdrawal] = {}
    if missing:
        found |= dict.fromkeys(every, Withdrawal(Withdrawn.UNFINISHED, for_good=False))
    found |= dict.fromkeys(lost.takes, Withdrawal(Withdrawn.LOST_TRIALS, for_good=False))
    if rounds.forbid_a_verdict:
        found |= dict.fromkeys(every, Withdrawal(Withdrawn.IDLE_ROUNDS, rounds.for_good))
    found |= dict.fromkeys(outweighed(carried), Withdrawal(Withdrawn.CARRY_OVER, for_good=True))
    return found


def _place(trial: TrialMeasures) -> tuple[int, int]:
    """By block and position: a repeated trial has a high number and belongs to its block."""
    return trial.block, trial.position


def _complete_blocks(plan: Plan, trials: Sequence[TrialMeasures]) -> int:
    arms: dict[int, set[str]] = {}
    for trial in trials:
        arms.setdefault(trial.block, set()).add(trial.arm)
    return sum(len(done) == plan.sizes[block] for block, done in arms.items())
