"""How often a gate will be decided, and which loss it can see at all.

Enters: gates, the plan, records of earlier runs; or a run's own scatter. Leaves: shares of
simulated runs that end by the product's own rule. Never: uses a power formula, or sees an effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pgassay.analysis.compare.rule import Rule, loads_compared, rule_of
from pgassay.analysis.compare.simulated_runs import Limit, SimulatedRuns, Spreading, simulated_runs
from pgassay.analysis.gates.model import GateCheck, GateOutcome, GateResult
from pgassay.analysis.noise.power import POWER, blocks_spreading
from pgassay.analysis.noise.prior_runs import Conditions, expect
from pgassay.analysis.reading.metrics import METRICS, part_of
from pgassay.plan.model import Gate, Plan

MULTIPLES = (1.0, 1.5, 2.5)
"""Of the limit: the true changes for the worse that a forecast is made for."""
_LEAST, _MOST = -0.95, 10.0
"""The changes that are considered, as shares."""
_STEP = 0.01
"""How exactly the smallest visible change is searched for, as a share of it."""


@dataclass(frozen=True)
class GateCase:
    """Runs with one true change."""

    change_pct: float
    failed: float
    """Share of runs in which the gate fails; likewise the next two."""
    holds: float
    undecided: float
    blocks: float
    """Of a run, on average."""


@dataclass(frozen=True)
class GateForecast:
    """What a gate will say if trials scatter by `trial_sd`."""

    gate: Gate
    metric: str
    trial_sd: float
    cases: tuple[GateCase, ...]
    """No change first, then the multiples of the limit."""
    caught_pct: float | None
    """The least loss that fails it in 90 % of runs; None where there is none."""


@dataclass(frozen=True)
class GateOutlook:
    """What is foreseen of a gate, for each scatter that trials may have."""

    gate: Gate
    unknown: Literal["", "query", "metric", "noise", "mode"]
    """Why nothing is: it is on queries, whose noise is not kept, the metric has no verdict, its
    noise is not known, or arms alternate."""
    forecasts: tuple[GateForecast, ...] = ()
    """Each of one comparison alone."""
    comparisons: int = 1
    """How many the gate is on: every level at every load. It holds if it does in all of them, and
    fails if it does in one."""


def gate_outlooks(
    plan: Plan, conditions: Conditions, records: Sequence[Mapping[str, Any]]
) -> tuple[GateOutlook, ...]:
    """Forecasts every gate of the plan, by the noise of prior runs, or else of other hosts."""
    return tuple(_outlook(gate, plan, conditions, records) for gate in plan.gates)


def _outlook(
    gate: Gate, plan: Plan, conditions: Conditions, records: Sequence[Mapping[str, Any]]
) -> GateOutlook:
    metric = gated_metric(gate, plan)
    if metric is None and part_of(gate.metrics[0]):
        return GateOutlook(gate, "query")
    if metric is None or METRICS[metric].scale != "ratio":
        return GateOutlook(gate, "metric")
    if plan.alternates:
        return GateOutlook(gate, "mode")
    expected = expect(conditions, replace(plan, metric=metric), records)
    # The general figures are for the primary metric; nothing general is known of a tail.
    if expected is None or (metric != plan.metric and expected.known_from == "others"):
        return GateOutlook(gate, "noise")
    scatters = [case.trial_sd for case in expected.cases]
    rule = rule_of(plan)
    found = tuple(gate_forecast(gate, metric, plan, rule, scatter) for scatter in scatters)
    comparisons = plan.compared_levels * len(loads_compared(plan.step_levels()))
    return GateOutlook(gate, "", found, comparisons)


def gated_metric(gate: Gate, plan: Plan) -> str | None:
    """The primary metric or endpoint that the gate is on; None where it is on another one."""
    own = [plan.metric, *(one.metric for one in plan.endpoints)]
    return next((name for name in gate.metrics if name in own), None)


def gate_forecast(gate: Gate, metric: str, plan: Plan, rule: Rule, trial_sd: float) -> GateForecast:
    """Forecasts a gate on the primary metric or an endpoint, in trials of one arm."""
    runs = _runs_of(gate, metric, plan, rule, blocks_spreading(plan, trial_sd))
    losses = [_loss(gate, multiple, plan.smallest_effect) for multiple in MULTIPLES]
    changes = [0.0, *(loss for loss in losses if loss > _LEAST)]
    return GateForecast(
        gate,
        metric,
        trial_sd,
        tuple(_case(change, runs(change), plan.max_blocks) for change in changes),
        _caught_pct(gate, runs),
    )


def with_caught(
    results: Sequence[GateResult], plan: Plan, rule: Rule | None
) -> tuple[GateResult, ...]:
    """Undecided gates with the loss that runs with their scatter would have caught."""
    if rule is None or plan.alternates:
        return tuple(results)
    return tuple(
        replace(
            one, checks=tuple(_with_caught(one.gate, check, plan, rule) for check in one.checks)
        )
        for one in results
    )


def _with_caught(gate: Gate, check: GateCheck, plan: Plan, rule: Rule) -> GateCheck:
    one = check.comparison
    asked = check.outcome is GateOutcome.UNDECIDED and not check.is_final and one.step is None
    on_own_interval = one.metric == gated_metric(gate, plan) and check.unit == "%"
    if not asked or not on_own_interval or one.standard_error is None:
        return check
    spread = Spreading(one.standard_error * math.sqrt(one.blocks), adjusted=one.units < one.blocks)
    runs = _runs_of(gate, one.metric, plan, rule, spread)
    return replace(check, caught_pct=_caught_pct(gate, runs))


def _runs_of(
    gate: Gate, metric: str, plan: Plan, rule: Rule, spread: Spreading
) -> Callable[[float], SimulatedRuns]:
    """A true change as a share → runs that end when verdict and gate are decided.

    Of an endpoint the verdict ends no run, so they end by the gate alone.
    """
    is_primary = metric == plan.metric
    if not is_primary:
        endpoint = next(one for one in plan.endpoints if one.metric == metric)
        rule = rule.of_endpoint(endpoint, of=len(plan.endpoints))
    limits = [Limit.of(gate)] if gate.limit > -100.0 else []

    def runs(change: float) -> SimulatedRuns:
        return simulated_runs(
            rule,
            spread,
            plan.min_blocks,
            plan.last_block,
            math.log1p(change),
            limits,
            limits_only=plan.gates_only or not is_primary,
        )

    return runs


def _case(change: float, runs: SimulatedRuns, most: int) -> GateCase:
    failed, holds = (float(np.mean(one)) for one in (runs.fails, runs.holds))
    blocks = float(np.minimum(runs.blocks, most).mean())
    return GateCase(100.0 * change, failed, holds, 1.0 - failed - holds, blocks)


def _loss(gate: Gate, multiple: float, smallest_effect: float) -> float:
    """The change at the limit, or beyond it by so much of it; of a limit of zero by so much of the
    smallest effect."""
    limit = gate.limit / 100.0
    beyond = (multiple - 1.0) * (abs(limit) or smallest_effect)
    return limit - beyond if gate.above else limit + beyond


def _caught_pct(gate: Gate, runs: Callable[[float], SimulatedRuns]) -> float | None:
    """By bisection: larger losses are caught more often."""
    near = math.log1p(max(gate.limit / 100.0, _LEAST))
    far = math.log1p(_LEAST if gate.above else _MOST)

    def is_caught(log_change: float) -> bool:
        return float(np.mean(runs(math.expm1(log_change)).fails)) >= POWER

    if near == far or not is_caught(far):
        return None
    while abs(far - near) > _STEP * abs(far):
        middle = (near + far) / 2.0
        near, far = (near, middle) if is_caught(middle) else (middle, far)
    return 100.0 * math.expm1(far)
