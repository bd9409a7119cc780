"""What each statement takes per transaction, by arm, how levels differ, and how it is planned.

Enters: the plan, the statements and plans of trials, sampled waits, texts. Leaves: `StatementUse`
values by total time; `StatementPlans`, those that differ between arms first. Never: compares calls
or seconds (the unit is the block), or judges a plan.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.blocks.contrasts import pair_blocks
from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.compare.secondary import SECONDARY, critical_for_many
from pgassay.analysis.measures.model import TrialSignals
from pgassay.analysis.measures.statements import SeenPlan, TrialStatements
from pgassay.analysis.plans.change import plan_change
from pgassay.analysis.reading.own_statements import own_among
from pgassay.analysis.reading.plan_shape import PlanShape
from pgassay.analysis.statements.model import (
    StatementCosts,
    StatementEffect,
    StatementPlan,
    StatementPlans,
    StatementUse,
)
from pgassay.analysis.statistics.intervals import mean_within, paired_t_p
from pgassay.analysis.statistics.multiple_testing import selected_alpha, yekutieli
from pgassay.plan.model import Arm, Factor, Plan

_LIMITS = tomllib.loads((files(__package__) / "statements.toml").read_text("utf-8"))
_TEMP = ("temp_blks_read", "temp_blks_written")
_NOTHING: Mapping[str, float] = {}
_OTHERS = "("
"""Begins the names of rows that stand for several statements."""


def statement_use(
    plan: Plan,
    trials: Sequence[TrialStatements],
    signals: Sequence[TrialSignals],
    texts: Mapping[str, str],
    withdrawn: Collection[tuple[str, str]] = (),
) -> tuple[StatementUse, ...]:
    """The statements of the load that matter, the longest first.

    `withdrawn` are levels of factors whose verdicts are not given: none of their differences is
    clear.
    """
    own = own_among(texts)
    trials = [replace(one, grown=_without(one.grown, own)) for one in trials]
    listed = _listed(trials, of_each_arm=plan.describes)
    arms = dict.fromkeys(one.arm for one in trials)
    ordered = [arm.id for arm in plan.arms if arm.id in arms] or list(arms)
    found = [
        StatementUse(
            queryid,
            texts.get(queryid, ""),
            place,
            of_the_80_pct,
            tuple(
                _costs(queryid, [one for one in trials if one.arm == arm], signals)
                for arm in ordered
            ),
        )
        for place, (queryid, of_the_80_pct) in enumerate(listed.items(), start=1)
    ]
    if plan.calibrates or plan.alternates:
        return tuple(found)
    effects = list(_effects(plan, trials, list(listed), withdrawn))
    return tuple(
        replace(one, effects=tuple(each for each in effects if each.queryid == one.queryid))
        for one in found
    )


def _without(
    grown: Mapping[str, Mapping[str, float]], own: set[str]
) -> dict[str, Mapping[str, float]]:
    return {queryid: columns for queryid, columns in grown.items() if queryid not in own}


def _listed(trials: Sequence[TrialStatements], *, of_each_arm: bool) -> dict[str, bool]:
    """The statements that matter → whether they are of those with 80 % of the time together; of
    each arm, where a transaction of one may take many times as long as one of another."""
    time: dict[str, float] = {}
    for one in trials:
        every = sum(columns.get("exec_time_ms", 0.0) for columns in one.grown.values())
        unit = every if of_each_arm else one.transactions
        for queryid, columns in one.grown.items() if unit else ():
            spent = columns.get("exec_time_ms", 0.0) / unit
            time[queryid] = time.get(queryid, 0.0) + spent
    total = sum(time.values())
    found: dict[str, bool] = {}
    before = 0.0
    for queryid in sorted(time, key=lambda one: -time[one]):
        if time[queryid] < _LIMITS["smallest_share"] * total or not total:
            break
        if not queryid.startswith(_OTHERS):
            found[queryid] = before < _LIMITS["pareto_share"] * total
        before += time[queryid]
    return found


def _costs(
    queryid: str, trials: Sequence[TrialStatements], signals: Sequence[TrialSignals]
) -> StatementCosts:
    """Ratios of sums over the trials of an arm, so that a call counts as much in each."""

    def total(*names: str) -> float:
        columns = (one.grown.get(queryid, _NOTHING) for one in trials)
        return sum(own.get(name, 0.0) for own in columns for name in names)

    calls, spent = total("calls"), total("exec_time_ms")
    transactions = sum(one.transactions for one in trials)
    every = sum(own.get("exec_time_ms", 0.0) for one in trials for own in one.grown.values())

    def per_call(*names: str) -> float:
        return total(*names) / calls if calls else 0.0

    return StatementCosts(
        arm=trials[0].arm,
        trials=len(trials),
        calls_per_tx=calls / transactions,
        mean_ms=spent / calls if calls else None,
        ms_per_tx=spent / transactions,
        share_pct=100.0 * spent / every if every else 0.0,
        rows_per_call=per_call("rows"),
        hit_per_call=per_call("shared_blks_hit"),
        read_per_call=per_call("shared_blks_read"),
        dirtied_per_call=per_call("shared_blks_dirtied"),
        written_per_call=per_call("shared_blks_written"),
        wal_bytes_per_call=per_call("wal_bytes"),
        temp_blocks_per_call=per_call(*_TEMP),
        waits=_waits(queryid, [one for one in signals if one.arm == trials[0].arm]),
    )


def _waits(queryid: str, signals: Sequence[TrialSignals]) -> tuple[tuple[str, float], ...]:
    sums: dict[str, float] = {}
    for trial in signals:
        for (source, thing, event), sessions in trial.values.items():
            if source == "query" and thing == queryid and not event.startswith("Client:"):
                sums[event] = sums.get(event, 0.0) + sessions / len(signals)
    ranked = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return tuple((event, float(value)) for event, value in ranked[: _LIMITS["most_waits"]])


@dataclass(frozen=True)
class _Difference:
    """The blocks of one level and its baseline, one column per statement."""

    factor: Factor
    level: str
    baseline_ms: NDArray[np.float64]
    level_ms: NDArray[np.float64]

    @property
    def blocks(self) -> int:
        return len(self.level_ms)

    def of(self, at: int) -> NDArray[np.float64]:
        """The differences of one statement, block by block."""
        found: NDArray[np.float64] = self.level_ms[:, at] - self.baseline_ms[:, at]
        return found


def _effects(
    plan: Plan,
    trials: Sequence[TrialStatements],
    listed: Sequence[str],
    withdrawn: Collection[tuple[str, str]],
) -> Iterator[StatementEffect]:
    vectors = {
        (one.block, one.arm): np.array(
            [
                one.grown.get(queryid, _NOTHING).get("exec_time_ms", 0.0) / one.transactions
                for queryid in listed
            ]
        )
        for one in trials
    }
    differences = []
    for factor in plan.factors:
        for level in factor.levels[1:]:
            pairs = pair_blocks(vectors, plan, factor, level)
            if pairs is not None:
                differences.append(_Difference(factor, level, pairs.baseline, pairs.level))
    p = {
        (place, at): found
        for place, one in enumerate(differences)
        for at in range(len(listed))
        if (found := paired_t_p(one.of(at))) is not None
    }
    family = np.array(list(p.values()), dtype=np.float64)
    corrected = dict(zip(p, yekutieli(family).tolist(), strict=True)) if p else {}
    alpha = selected_alpha(family, SECONDARY["discovery_rate"])
    for place, one in enumerate(differences):
        is_given = (one.factor.name, one.level) not in withdrawn
        critical = critical_for_many(rule_of(plan), one.blocks, alpha) if is_given else math.inf
        for at, queryid in enumerate(listed):
            p_by = corrected.get((place, at))
            ends = mean_within(one.of(at), critical)
            clear = ends is not None and (ends[0] > 0.0 or ends[1] < 0.0)
            yield StatementEffect(
                queryid,
                one.factor.name,
                one.factor.baseline,
                one.level,
                one.blocks,
                float(one.baseline_ms[:, at].mean()),
                float(one.level_ms[:, at].mean()),
                float(one.of(at).mean()),
                ends,
                p.get((place, at)),
                p_by,
                clear and p_by is not None and p_by <= SECONDARY["discovery_rate"],
            )


def plans_by_arm(arms: Sequence[Arm], seen: Sequence[SeenPlan]) -> tuple[StatementPlans, ...]:
    """Returns the plans that each statement had in each arm, by scenario and line."""
    by_statement: dict[tuple[str, str], list[SeenPlan]] = {}
    for one in seen:
        by_statement.setdefault((one.scenario, one.sql), []).append(one)
    found = [
        replace(one, factor=_deciding(one.plan_of_arm, arms))
        for plans in by_statement.values()
        for one in [_of_statement([arm.id for arm in arms], plans)]
    ]
    return tuple(
        sorted(found, key=lambda one: (not one.differs, not one.varies, one.scenario, one.line))
    )


def _of_statement(arms: Sequence[str], seen: Sequence[SeenPlan]) -> StatementPlans:
    shapes: dict[str, PlanShape] = {}
    trials: dict[str, dict[str, int]] = {}
    for one in sorted(seen, key=lambda one: arms.index(one.arm) if one.arm in arms else 0):
        if one.shape is not None:
            shapes[one.shape.fingerprint] = one.shape
            counts = trials.setdefault(one.shape.fingerprint, {})
            counts[one.arm] = counts.get(one.arm, 0) + 1
    first = seen[0]
    plans = [
        StatementPlan(found, counts, shapes[found].nodes, shapes[found].text, shapes[found].tree)
        for found, counts in trials.items()
    ]
    return StatementPlans(
        first.scenario,
        min(one.line for one in seen),
        first.sql,
        tuple(dict.fromkeys(one.queryid for one in seen if one.queryid)),
        tuple(_told_apart(plans)),
        None if plans else first.reason,
    )


def _told_apart(plans: Sequence[StatementPlan]) -> Iterator[StatementPlan]:
    """Adds to each plan where and how it differs from the first."""
    for one in plans:
        change = plan_change(plans[0].tree, one.tree)
        if change is not None:
            yield replace(one, differs_at=change.level.differs_at, reasons=change.reasons)
        elif len(plans) > 1 and (second := plan_change(one.tree, plans[1].tree)):
            yield replace(one, differs_at=second.baseline.differs_at)
        else:
            yield one


def _deciding(plans: Mapping[str, str], arms: Sequence[Arm]) -> str | None:
    deciding = []
    for factor in arms[0].levels if arms else ():
        by_level: dict[str, set[str]] = {}
        for arm in arms:
            if arm.id in plans:
                by_level.setdefault(arm.levels[factor], set()).add(plans[arm.id])
        if len(set[str]().union(*by_level.values())) > 1 and all(
            len(own) == 1 for own in by_level.values()
        ):
            deciding.append(factor)
    return deciding[0] if len(deciding) == 1 else None
