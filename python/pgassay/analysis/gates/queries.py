"""Gates on queries of a set: `q7.mean<+10%`, `*.blocks<+5%`, `plans=same`.

Enters: a gate, the verdicts of the set. Leaves: a `GateCheck` for each query and level that it is
on. Never: computes an interval: those of a set hold together.

A query that is worse by its failures fails each of its gates. Else one that fails has no interval,
so its gates are undecided; where it fails at the level more often they look worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.analysis.gates.model import GateCheck, GateOutcome, lies_beyond
from pgassay.analysis.queries.model import QueryEffect, QuerySet
from pgassay.analysis.reading.metrics import BLOCKS, MEAN, P95, PLAN, part_of
from pgassay.analysis.statistics.values import Interval
from pgassay.notes import Note, Value
from pgassay.plan.model import Gate
from pgassay.quantities import LoadUnit

OF_A_QUERY = (MEAN, P95, BLOCKS, PLAN)
"""What of a query can be gated."""


def query_checks(gate: Gate, found: QuerySet) -> Iterator[GateCheck]:
    """Yields the checks of a gate on a part, in the order of the set; none of another gate."""
    named = part_of(gate.metrics[0])
    if named is None or named[1] not in OF_A_QUERY:
        return
    pattern, measure = named
    wanted = matching(pattern, {effect.query for effect in found.effects})
    for effect in found.effects:
        if effect.query in wanted:
            yield _check(gate, effect, measure)


def matching(pattern: str, queries: Iterable[str]) -> frozenset[str]:
    """Returns the queries that a pattern names, in which `*` stands for any text."""
    own = pattern.replace("[", "[[]")
    return frozenset(one for one in queries if fnmatchcase(one, own))


def _check(gate: Gate, effect: QueryEffect, measure: str) -> GateCheck:
    compared = _compared(effect, measure)
    change, ci95, ci90 = _figures(effect, measure)
    outcome, reason, is_final = _outcome(gate, effect, measure, ci95, ci90)
    found = GateCheck(compared, "%", change, ci95, ci90, outcome, reason, is_final)
    plans_otherwise = measure == PLAN and bool(effect.plan_differs)
    return replace(found, looks_worse=effect.fails_more or plans_otherwise)


def _figures(
    effect: QueryEffect, measure: str
) -> tuple[float | None, Interval | None, Interval | None]:
    """The change in per cent, and the intervals by which a gate fails and holds."""
    if measure == MEAN:
        return effect.change_pct, effect.ci95_pct, effect.ci90_pct
    one = effect.cost_changes.get(measure)
    if one is None:
        return None, None, None
    return one.change_pct, one.ci95_pct, one.ci95_pct


def _outcome(
    gate: Gate,
    effect: QueryEffect,
    measure: str,
    ci95: Interval | None,
    ci90: Interval | None,
) -> tuple[GateOutcome, Note | None, bool]:
    """The outcome, why, and whether more blocks cannot change it."""
    if effect.failures.failed or effect.baseline_failures.failed:
        reason = _why_failing(effect)
        if effect.verdict is Verdict.WORSE:
            return GateOutcome.FAILED, reason, True
        return GateOutcome.UNDECIDED, reason, not effect.blocks_to_decide
    if measure == PLAN:
        return _by_plan(effect)
    if ci95 is None or ci90 is None:
        absent = measure != MEAN and measure not in effect.cost_changes
        code = "analysis/gates/not-measured" if absent else "analysis/gates/no-interval"
        return GateOutcome.UNDECIDED, Note(code), absent
    if lies_beyond(ci90, gate.limit, above=gate.above):
        return GateOutcome.HOLDS, None, False
    if lies_beyond(ci95, gate.limit, above=not gate.above):
        return GateOutcome.FAILED, None, False
    values: dict[str, Value] = {"limit": gate.limit, "unit": "%"}
    return GateOutcome.UNDECIDED, Note("analysis/gates/contains", values), False


def _why_failing(effect: QueryEffect) -> Note:
    if effect.fails_only_here:
        return Note("analysis/gates/query-fails")
    more = "analysis/gates/query-fails-more"
    return Note(more if effect.fails_more else "analysis/gates/query-fails-at-times")


def _by_plan(effect: QueryEffect) -> tuple[GateOutcome, Note | None, bool]:
    if effect.plan_differs is None:
        return GateOutcome.UNDECIDED, Note("analysis/gates/not-measured"), True
    if effect.plan_differs and not effect.plan_varies:
        return GateOutcome.FAILED, Note("analysis/gates/other-plan"), False
    if effect.plan_varies:
        mostly = "analysis/gates/plan-mostly-other"
        reason = Note(mostly if effect.plan_differs else "analysis/gates/plan-varies")
        return GateOutcome.UNDECIDED, reason, True
    return GateOutcome.HOLDS, None, False


def _compared(effect: QueryEffect, measure: str) -> Comparison:
    """The effect as a comparison of the metric `QUERY.MEASURE`."""
    change, ci95, _ = _figures(effect, measure)
    costs = effect.cost_changes.get(measure)
    means = (effect.baseline_ms, effect.ms)
    if measure != MEAN:
        means = (costs.baseline, costs.level) if costs else (None, None)
    return Comparison(
        metric=f"{effect.query}.{measure}",
        factor=effect.factor,
        baseline=effect.baseline,
        level=effect.level,
        step=None,
        step_unit=LoadUnit.CLIENTS,
        blocks=effect.blocks,
        baseline_mean=means[0] or 0.0,
        level_mean=means[1] or 0.0,
        effect_pct=change,
        ci95_pct=ci95,
        difference=change or 0.0,
        ci95=ci95,
        p_t=None,
        p_sign_flip=None,
        p_looks=None,
        verdict=effect.verdict if measure == MEAN else Verdict.UNDECIDED,
        blocks_to_decide=effect.blocks_to_decide,
        block_effects_pct=(),
    )
