"""Gates on queries of a set: `q7.mean<+10%`, `*.blocks<+5%`, `plans=same`.

Enters: a gate, the verdicts of the set. Leaves: a `GateCheck` for each query and level that it is
on. Never: computes an interval: those of a set hold together.

A query that always fails at a level, and never at the baseline, fails each of its gates. Where it
fails now and then there is no interval, so its gates are undecided.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.analysis.gates.model import GateCheck, GateOutcome, lies_beyond
from pgassay.analysis.queries.model import QueryEffect, QuerySet
from pgassay.analysis.reading.metrics import BLOCKS, MEAN, PLAN, part_of
from pgassay.analysis.statistics.values import Interval
from pgassay.notes import Note, Value
from pgassay.plan.model import Gate
from pgassay.quantities import LoadUnit


def query_checks(gate: Gate, found: QuerySet) -> Iterator[GateCheck]:
    """Yields the checks of a gate on a part, in the order of the set; none of another gate."""
    named = part_of(gate.metrics[0])
    if named is None or named[1] not in (MEAN, BLOCKS, PLAN):
        return
    pattern, measure = named
    for effect in found.effects:
        if fnmatchcase(effect.query, pattern.replace("[", "[[]")):
            yield _check(gate, effect, measure)


def _check(gate: Gate, effect: QueryEffect, measure: str) -> GateCheck:
    compared = _compared(effect, measure)
    change, ci95, ci90 = _figures(effect, measure)
    outcome, reason, is_final = _outcome(gate, effect, measure, ci95, ci90)
    return GateCheck(compared, "%", change, ci95, ci90, outcome, reason, is_final)


def _figures(
    effect: QueryEffect, measure: str
) -> tuple[float | None, Interval | None, Interval | None]:
    """The change in per cent, and the intervals by which a gate fails and holds."""
    if measure == MEAN:
        return effect.change_pct, effect.ci95_pct, effect.ci90_pct
    one = effect.block_change
    if measure == PLAN or one is None:
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
        if effect.fails_only_here and effect.verdict is Verdict.WORSE:
            return GateOutcome.FAILED, Note("analysis/gates/query-fails"), True
        return GateOutcome.UNDECIDED, Note("analysis/gates/query-fails-at-times"), True
    if measure == PLAN:
        return _by_plan(effect)
    if ci95 is None or ci90 is None:
        code = "not-measured" if measure == BLOCKS and effect.block_change is None else None
        return GateOutcome.UNDECIDED, Note(f"analysis/gates/{code or 'no-interval'}"), bool(code)
    if lies_beyond(ci90, gate.limit, above=gate.above):
        return GateOutcome.HOLDS, None, False
    if lies_beyond(ci95, gate.limit, above=not gate.above):
        return GateOutcome.FAILED, None, False
    values: dict[str, Value] = {"limit": gate.limit, "unit": "%"}
    return GateOutcome.UNDECIDED, Note("analysis/gates/contains", values), False


def _by_plan(effect: QueryEffect) -> tuple[GateOutcome, Note | None, bool]:
    if effect.plan_differs is None:
        return GateOutcome.UNDECIDED, Note("analysis/gates/not-measured"), True
    if effect.plan_differs and not effect.plan_varies:
        return GateOutcome.FAILED, Note("analysis/gates/other-plan"), False
    if effect.plan_varies:
        return GateOutcome.UNDECIDED, Note("analysis/gates/plan-varies"), True
    return GateOutcome.HOLDS, None, False


def _compared(effect: QueryEffect, measure: str) -> Comparison:
    """The effect as a comparison of the metric `QUERY.MEASURE`."""
    change, ci95, _ = _figures(effect, measure)
    costs = effect.block_change if measure == BLOCKS else None
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
