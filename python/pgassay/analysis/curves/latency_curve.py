"""The latency of each arm by quantile, in milliseconds, as far as its transactions reach.

Enters: the trials' latencies. Leaves: a `ArmLatencyCurve` per scenario and arm.
Never: extrapolates: a quantile is given where at least ten transactions were slower.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.curves.model import ArmLatencyCurve
from pgassay.analysis.measures.courses.latencies import (
    ALL,
    ScenarioLatencies,
    TrialLatencies,
    place_ms,
)
from pgassay.plan.model import Plan

_FEWEST_BEYOND = 10
_NAMED = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999)
_NINES_STEP = 0.08
"""Of the other quantiles, in decimal logarithms of the share that is slower."""


def latency_curves(plan: Plan, trials: Sequence[TrialLatencies]) -> tuple[ArmLatencyCurve, ...]:
    """Returns the curves of all scenarios together, then of each, the arms in the plan's order."""
    return curves_of_groups(
        {arm.id: [trial for trial in trials if trial.arm == arm.id] for arm in plan.arms}
    )


def curves_of_groups(groups: Mapping[str, Sequence[TrialLatencies]]) -> tuple[ArmLatencyCurve, ...]:
    """Returns the curves of trials that belong together, by the name that they have for an arm."""
    names = sorted({name for own in groups.values() for one in own for name in one.scenarios})
    names = [name for name in names if name != ALL]
    found = []
    for name in (ALL, *(names if len(names) > 1 else ())):
        for group, own in groups.items():
            of_it = [one for trial in own if (one := _scenario(trial, name)) is not None]
            if of_it:
                found.append(_curve(name, group, own[0].step, of_it))
    return tuple(found)


def _scenario(trial: TrialLatencies, name: str) -> ScenarioLatencies | None:
    """A scenario of the trial; the only one is all of them."""
    if name == ALL and len(trial.scenarios) == 1:
        return next(iter(trial.scenarios.values()))
    return trial.scenarios.get(name)


def _curve(
    name: str, arm: str, step: float | None, trials: Sequence[ScenarioLatencies]
) -> ArmLatencyCurve:
    is_open = all(one.responses is not None for one in trials)
    counts = [
        one.counts if one.responses is None or not is_open else one.responses for one in trials
    ]
    total = float(sum(own.sum() for own in counts))
    shares = _shares(total)
    longest = max(one.longest_response_ms if is_open else one.longest_ms for one in trials)
    values = np.minimum(_quantiles_ms(np.sum(counts, axis=0), shares), longest)
    each = np.array([_quantiles_ms(own, shares) for own in counts])
    fewest = min(float(own.sum()) for own in counts)
    known = fewest * (1 - np.array(shares)) + 1e-9 >= _FEWEST_BEYOND
    return ArmLatencyCurve(
        scenario=name,
        arm=arm,
        of="response" if is_open else "latency",
        step=step,
        trials=len(trials),
        transactions=round(total),
        shares=tuple(shares),
        latency_ms=tuple(values.tolist()),
        low_ms=_where(known, each.min(axis=0)),
        high_ms=_where(known, np.minimum(each.max(axis=0), longest)),
        max_ms=longest,
    )


def _shares(total: float) -> list[float]:
    """The named shares and those between, up to the last that ten transactions exceed."""
    last = max(total / _FEWEST_BEYOND, 2.0)
    nines = np.arange(_NINES_STEP, np.log10(last), _NINES_STEP)
    between = [round(float(1 - 10**-at), 7) for at in nines]
    named = [share for share in _NAMED if 1 - share >= 1 / last - 1e-12]
    return sorted({*between, *named})


def _quantiles_ms(counts: NDArray[np.float64], shares: Sequence[float]) -> NDArray[np.float64]:
    """Quantiles of counts on the grid, interpolated within a place."""
    up_to = np.cumsum(counts)
    ranks = np.array(shares) * up_to[-1]
    at = np.minimum(np.searchsorted(up_to, ranks), len(up_to) - 1)
    own = counts[at]
    within = np.clip(1 - (up_to[at] - ranks) / np.where(own > 0, own, 1.0), 0.0, 1.0)
    return np.array([place_ms(float(place)) for place in at + within])


def _where(known: NDArray[np.bool_], values: NDArray[np.float64]) -> tuple[float | None, ...]:
    return tuple(
        float(value) if is_known else None for value, is_known in zip(values, known, strict=True)
    )
