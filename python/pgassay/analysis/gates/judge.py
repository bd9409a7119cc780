"""Do the gates hold, by the intervals of the verdicts?

Enters: gates, an analysis. Leaves: a `GateResult` each, and whether a run may end with them.
Never: computes an interval that the verdicts do not rest on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from pgassay.analysis.compare.model import Comparison, Withdrawn
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.compare.secondary import SECONDARY, scaled_interval, with_interval
from pgassay.analysis.gates.model import GateCheck, GateOutcome, GateResult, lies_beyond
from pgassay.analysis.gates.queries import query_checks
from pgassay.analysis.model import Answer
from pgassay.analysis.reading.metrics import METRICS, part_of
from pgassay.analysis.statistics.values import Interval
from pgassay.notes import Note, Term, Value
from pgassay.plan.model import Endpoint, Gate, Plan
from pgassay.spec.endpoints import OF_QUERIES

Ninety = Callable[[Comparison], Comparison]
"""A comparison → the same with its 90 % interval in place of the 95 % one."""


def judge_gates(gates: Iterable[Gate], analysis: Answer) -> tuple[GateResult, ...]:
    """Judges every gate on every level and load that the run compares."""
    rule, metric, reached = analysis.rule, analysis.metric, analysis.reached

    def ninety(one: Comparison) -> Comparison:
        if rule is None:
            return one
        now = reached.rules.get((one.factor, one.level, one.step), reached.rule_now(rule))
        own = now if one.metric == metric else rule
        return ninety_of(one, own, metric, analysis.endpoints)

    comparisons = [
        one if rule is None or one.metric != metric else _shared_by_all(one, rule)
        for one in analysis.comparisons
    ]
    found = judge(gates, comparisons, ninety)
    if analysis.queries is None:
        return found
    withdrawn = {
        (one.factor, one.level): one
        for one in analysis.verdicts()
        # Where all queries failed, their failures decide.
        if one.step is None and one.withdrawn not in (None, Withdrawn.STANDSTILL)
    }
    of_queries = (
        tuple(_unless(withdrawn, check) for check in query_checks(one.gate, analysis.queries))
        for one in found
    )
    return tuple(
        replace(one, checks=(*one.checks, *own)) for one, own in zip(found, of_queries, strict=True)
    )


def _unless(withdrawn: Mapping[tuple[str, str], Comparison], check: GateCheck) -> GateCheck:
    """The check of a query, undecided where the verdicts on its level are withdrawn."""
    level = withdrawn.get((check.comparison.factor, check.comparison.level))
    if level is None or level.withdrawn is None:
        return check
    return replace(
        check,
        outcome=GateOutcome.UNDECIDED,
        reason=why_withdrawn(level.withdrawn),
        is_final=level.withdrawn_for_good,
    )


def _shared_by_all(one: Comparison, rule: Rule) -> Comparison:
    """With the 95 % interval that holds together with those of all levels.

    A verdict that was reached has left its share to others, which is right for differences from
    zero, and not for those from a limit.
    """
    if rule.simultaneous == 1:
        return one
    interval = scaled_interval(one, rule.critical(one.blocks, one.units, 0.05))
    return one if interval is None else with_interval(one, interval)


def judge(
    gates: Iterable[Gate], comparisons: Sequence[Comparison], ninety: Ninety
) -> tuple[GateResult, ...]:
    """Judges every gate on every comparison of its metric."""
    measured = {one.metric for one in comparisons}
    found = []
    for gate in gates:
        metric = next((name for name in gate.metrics if name in measured), None)
        gated = [one for one in comparisons if one.metric == metric]
        found.append(GateResult(gate, tuple(_check(gate, one, ninety(one)) for one in gated)))
    return tuple(found)


def verdicts_suffice(plan: Plan) -> bool:
    """Whether the plan's gates rest on the primary metric and the endpoints alone."""
    own = {plan.metric, *(one.metric for one in plan.endpoints)}
    if plan.metric == OF_QUERIES:
        own |= {name for gate in plan.gates for name in gate.metrics if part_of(name)}
    # Without a rate there are no response times, which stand first; nor times of a set without one.
    absent = OF_QUERIES if plan.metric != OF_QUERIES else ""
    asked = ([name for name in gate.metrics if name != absent] for gate in plan.gates)
    return all(
        next((name in own for name in names if plan.has_rate or name in own), False)
        for names in asked
    )


def may_end(plan: Plan, found: Answer) -> bool:
    """Returns whether a run may end: verdicts and gates are decided, or cannot be."""
    results = judge_gates(plan.gates, found)
    if not all(one.is_settled for one in results):
        return False
    by_gates = plan.gates_only and any(one.checks for one in results)
    return (by_gates and not found.carry_over_suspected) or found.may_end()


def _check(gate: Gate, comparison: Comparison, ninety: Comparison) -> GateCheck:
    in_points = METRICS[comparison.metric].unit == "%"
    change = comparison.difference if in_points else comparison.effect_pct
    fails_by, holds_by = (_interval(one, in_points) for one in (comparison, ninety))
    if comparison.rounds is not None:
        fails_by, holds_by = _undiluted(fails_by), _slow(holds_by, comparison, in_points)
    outcome, reason = _outcome(gate, comparison, fails_by, holds_by, change)
    seen = _interval(comparison, in_points)
    hidden = outcome is GateOutcome.UNDECIDED and comparison.withdrawn is None
    if hidden and seen is not None and lies_beyond(seen, gate.limit, above=gate.above):
        reason = Note("analysis/gates/slow-effects")
    found = GateCheck(
        comparison=comparison,
        unit="points" if in_points else "%",
        change=change,
        ci95=fails_by,
        ci90=holds_by,
        outcome=outcome,
        reason=reason,
        is_final=_cannot_be_decided(comparison, change),
    )
    if not found.is_worse:
        return found
    return replace(found, reason=Note("analysis/gates/worse", _limit(gate, in_points)))


def _cannot_be_decided(comparison: Comparison, change: float | None) -> bool:
    """Whether more blocks would not help: nothing to compare with, no spread, a verdict withdrawn
    for good."""
    never_varies = comparison.standard_error is None and comparison.ci95 is None
    hopeless = change is None or (never_varies and _is_constant(comparison))
    return comparison.withdrawn_for_good or hopeless


def _limit(gate: Gate, in_points: bool) -> dict[str, Value]:
    return {"limit": gate.limit, "unit": Term("points") if in_points else "%"}


def _outcome(
    gate: Gate,
    comparison: Comparison,
    fails_by: Interval | None,
    holds_by: Interval | None,
    change: float | None,
) -> tuple[GateOutcome, Note | None]:
    if comparison.withdrawn is not None:
        return GateOutcome.UNDECIDED, why_withdrawn(comparison.withdrawn)
    if change is None:
        return GateOutcome.UNDECIDED, Note("analysis/gates/no-relative-change")
    if fails_by is None or holds_by is None:
        return GateOutcome.UNDECIDED, Note("analysis/gates/no-interval")
    if lies_beyond(holds_by, gate.limit, above=gate.above):
        return GateOutcome.HOLDS, None
    if lies_beyond(fails_by, gate.limit, above=not gate.above):
        return GateOutcome.FAILED, None
    limit = _limit(gate, METRICS[comparison.metric].unit == "%")
    return GateOutcome.UNDECIDED, Note("analysis/gates/contains", limit)


def why_withdrawn(reason: Withdrawn) -> Note:
    """Returns the note that says why a comparison has no verdict."""
    return Note(f"analysis/gates/{reason.value}")


def _interval(comparison: Comparison, in_points: bool) -> Interval | None:
    found = comparison.ci95 if in_points else comparison.ci95_pct
    if found is None and _never_differs(comparison):
        return 0.0, 0.0
    return found


def _never_differs(comparison: Comparison) -> bool:
    """Such as failures where nothing failed in any trial: no spread, and so no interval."""
    is_same = comparison.standard_error is None and comparison.difference == 0.0
    return is_same and _is_constant(comparison)


def _is_constant(comparison: Comparison) -> bool:
    """Whether it has blocks enough for values without a spread to be constant."""
    return comparison.blocks >= SECONDARY["constant_blocks"]


def ninety_of(
    comparison: Comparison, rule: Rule, metric: str, endpoints: Sequence[Endpoint]
) -> Comparison:
    """Returns a comparison with the 90 % interval by the rule of the run, or of the endpoint; else
    as it is."""
    endpoint = next((one for one in endpoints if one.metric == comparison.metric), None)
    if endpoint is None and comparison.metric != metric:
        return comparison
    if endpoint is not None:
        rule = rule.of_endpoint(endpoint, of=len(endpoints))
    critical = rule.critical_inside(comparison.blocks, comparison.units)
    interval = scaled_interval(comparison, critical)
    return comparison if interval is None else with_interval(comparison, interval)


def _undiluted(interval: Interval | None) -> Interval | None:
    """Of a switchback, whose slices may show only a part of an effect: the end beyond zero is open.

    An effect of which a part is seen has the same sign and is larger.
    """
    if interval is None:
        return None
    low, high = interval
    return (low if low >= 0.0 else -math.inf), (high if high <= 0.0 else math.inf)


def _slow(interval: Interval | None, comparison: Comparison, in_points: bool) -> Interval | None:
    """The same, but with the ends that its rounds allow where these were computed."""
    slow = comparison.slow_ci90_pct
    if interval is None or slow is None or in_points:
        return _undiluted(interval)
    return min(interval[0], slow[0]), max(interval[1], slow[1])
