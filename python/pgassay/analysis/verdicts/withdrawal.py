"""Withdraws verdicts that rest on data which cannot be trusted.

Enters: comparisons and factorial effects, the levels concerned; the plan, its trials. Leaves: the
same, undecided there; levels of factors that the load sets itself, with their caveats.
Never: changes an estimate. Figures that have no verdict (simple effects, single arms) lose their
interval and p instead, because those would be read as a verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pgassay.analysis.compare.factorial import FactorialEffects
from pgassay.analysis.compare.model import Comparison, Dependence, Estimate, Verdict, Withdrawn
from pgassay.analysis.measures.model import Caveat, TrialMeasures
from pgassay.analysis.verdicts.idle_rounds import idle_rounds
from pgassay.notes import Note, Value
from pgassay.plan.model import Arm, Plan

Level = tuple[str, str]
"""A factor's name and one of its levels."""
LevelAt = tuple[str, str, float | None]
"""Factor, level and load; None means whole trials."""


@dataclass(frozen=True)
class Withdrawal:
    """Why there is no verdict."""

    reason: Withdrawn
    for_good: bool
    """Whether further blocks of this run cannot bring it back."""


def withdraw_verdicts(
    comparisons: Sequence[Comparison], withdrawn: Mapping[Level, Withdrawal]
) -> tuple[Comparison, ...]:
    """Makes these levels undecided on every metric.

    An earlier reason stays, unless it is that effects may be slow, which more trials can refute.
    """

    def why(c: Comparison) -> Withdrawal | None:
        stays = c.withdrawn is not None and c.withdrawn is not Withdrawn.SLOW_EFFECTS
        return None if stays else withdrawn.get((c.factor, c.level))

    return tuple(c if (one := why(c)) is None else _withdraw(c, one) for c in comparisons)


def withdraw_idle(
    comparisons: Sequence[Comparison], kept: Mapping[LevelAt, Collection[str]]
) -> tuple[Comparison, ...]:
    """Makes levels with an idle arm undecided, except on the metrics in `kept`.

    Those have a value even in an idle trial, as the share of failed transactions has.
    """
    why = Withdrawal(Withdrawn.STANDSTILL, for_good=True)

    def is_withdrawn(c: Comparison) -> bool:
        at = (c.factor, c.level, c.step)
        return at in kept and c.metric not in kept[at]

    return tuple(_withdraw(c, why) if is_withdrawn(c) else c for c in comparisons)


def withdraw_idle_endpoints(
    comparisons: Sequence[Comparison], plan: Plan, trials: Sequence[TrialMeasures]
) -> tuple[Comparison, ...]:
    """Makes endpoints undecided of which too many rounds have no value in some arm: a scenario may
    end in none of its slices because it is slow there."""
    found = {
        one.metric: idle_rounds(replace(plan, metric=one.metric), trials)
        for one in (plan.endpoints if plan.alternates else ())
    }
    idle = {
        metric: Withdrawal(Withdrawn.IDLE_ROUNDS, one.for_good)
        for metric, one in found.items()
        if one.forbid_a_verdict
    }
    return tuple(_withdraw(c, idle[c.metric]) if c.metric in idle else c for c in comparisons)


def withdraw_set_by_load(comparisons: Sequence[Comparison], plan: Plan) -> tuple[Comparison, ...]:
    """Makes throughput undecided where a rate sets it.

    It is better or worse only where an arm did not reach the rate.
    """
    why = Withdrawal(Withdrawn.SET_BY_LOAD, for_good=True)
    alike = (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)
    return tuple(
        _withdraw(c, why) if plan.has_rate and c.metric == "tps" and c.verdict in alike else c
        for c in comparisons
    )


def withdraw_effects(
    effects: FactorialEffects, arms: Sequence[Arm], levels: Collection[Level]
) -> FactorialEffects:
    """Makes every factorial effect undecided that a factor of these levels takes part in."""
    factors = {name for name, _ in levels}
    baseline = arms[0].levels
    by_id: Mapping[str, Mapping[str, str]] = {arm.id: arm.levels for arm in arms}
    return FactorialEffects(
        interactions=tuple(
            replace(one, verdict=Dependence.UNDECIDED, estimate=_undecided(one.estimate))
            if factors & {one.factor, one.other}
            else one
            for one in effects.interactions
        ),
        simple_effects=tuple(
            replace(one, estimate=_bare(one.estimate)) if factors & {one.factor, one.other} else one
            for one in effects.simple_effects
        ),
        trends=tuple(
            replace(one, verdict=Verdict.UNDECIDED, estimate=_undecided(one.estimate))
            if one.factor in factors
            else one
            for one in effects.trends
        ),
        arm_effects=tuple(
            replace(one, estimate=_bare(one.estimate))
            if any(by_id[one.arm][name] != baseline[name] for name in factors)
            else one
            for one in effects.arm_effects
        ),
    )


def _withdraw(comparison: Comparison, why: Withdrawal) -> Comparison:
    return replace(
        comparison,
        verdict=Verdict.UNDECIDED,
        blocks_to_decide=None,
        withdrawn=why.reason,
        withdrawn_for_good=why.for_good,
    )


def _undecided(estimate: Estimate) -> Estimate:
    """Without the number of blocks to decide: more blocks do not help."""
    return replace(estimate, blocks_to_decide=None)


def _bare(estimate: Estimate) -> Estimate:
    """The point estimate alone."""
    return replace(_undecided(estimate), ci95_pct=None, p_sign_flip=None, p_looks=None)


def set_by_load(trials: Sequence[TrialMeasures]) -> dict[str, tuple[str, ...]]:
    """Returns setting → scenarios that set it, in whatever arm."""
    found: dict[str, dict[str, None]] = {}
    for trial in trials:
        for name, scenarios in trial.set_by_load:
            found.setdefault(name, {}).update(dict.fromkeys(scenarios))
    return {name: tuple(by) for name, by in found.items()}


def levels_not_in_force(plan: Plan, trials: Sequence[TrialMeasures]) -> tuple[Level, ...]:
    """Returns the levels of factors that every scenario of some arm sets itself."""
    names = {
        name
        for trial in trials
        for name, by in trial.set_by_load
        if {one.scenario for one in trial.scenarios} <= set(by)
    }
    factors = [factor for factor in plan.factors if factor.name in names]
    return tuple((factor.name, level) for factor in factors for level in factor.levels[1:])


def not_in_force_caveats(plan: Plan, trials: Sequence[TrialMeasures]) -> Iterator[Caveat]:
    """Makes one caveat for each setting that the load sets itself."""
    withdrawn = {name for name, _ in levels_not_in_force(plan, trials)}
    for name, by in set_by_load(trials).items():
        note = Note("analysis/verdicts/not-in-force", {"name": name, "scenarios": by})
        if name in withdrawn:
            values: dict[str, Value] = {"text": note, "name": name}
            note = Note("analysis/verdicts/not-in-force-withdrawn", values)
        yield Caveat.of("not-in-force", note)
