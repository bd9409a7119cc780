"""Factors that the load sets itself: their levels are not what its transactions run with.

Enters: the plan, its trials. Leaves: the levels that have no verdict, and the caveats.
Never: looks at results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgassay.analysis.measures.model import Caveat, TrialMeasures
from pgassay.analysis.verdicts.withdrawal import Level
from pgassay.notes import Note, Value
from pgassay.plan.model import Plan


def set_by_load(trials: Sequence[TrialMeasures]) -> dict[str, tuple[str, ...]]:
    """Setting → scenarios that set it, in whatever arm."""
    found: dict[str, dict[str, None]] = {}
    for trial in trials:
        for name, scenarios in trial.set_by_load:
            found.setdefault(name, {}).update(dict.fromkeys(scenarios))
    return {name: tuple(by) for name, by in found.items()}


def levels_not_in_force(plan: Plan, trials: Sequence[TrialMeasures]) -> tuple[Level, ...]:
    """Those of factors that every scenario of some arm sets itself."""
    names = {
        name
        for trial in trials
        for name, by in trial.set_by_load
        if {one.scenario for one in trial.scenarios} <= set(by)
    }
    factors = [factor for factor in plan.factors if factor.name in names]
    return tuple((factor.name, level) for factor in factors for level in factor.levels[1:])


def not_in_force_caveats(plan: Plan, trials: Sequence[TrialMeasures]) -> Iterator[Caveat]:
    """One for each setting."""
    withdrawn = {name for name, _ in levels_not_in_force(plan, trials)}
    for name, by in set_by_load(trials).items():
        note = Note("analysis/verdicts/not-in-force", {"name": name, "scenarios": by})
        if name in withdrawn:
            values: dict[str, Value] = {"text": note, "name": name}
            note = Note("analysis/verdicts/not-in-force-withdrawn", values)
        yield Caveat.of("not-in-force", note)
