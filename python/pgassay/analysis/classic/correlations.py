"""Classic correlations of each arm, each beside its tested counterpart.

Enters: the trials of an arm. Leaves: a `ClassicCorrelation` for each pair. Never: calls one a
cause, or corrects the p values of one arm without those of the others.

Classic: Pearson's r between the intervals of a trial, the mean of the arm's trials. Tested: second
by second, without the means of steps and of checkpoint phases, prewhitened, pooled over trials
(statistics/correlation.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.classic.model import LIMITS, Agreement, ClassicCorrelation, label
from pgassay.analysis.measures.courses.even_series import EvenSeries
from pgassay.analysis.measures.courses.figures import Figures, figures
from pgassay.analysis.statistics.correlation import Pooled, among, fisher_z, pooled, residuals
from pgassay.analysis.statistics.multiple_testing import selected_alpha, yekutieli
from pgassay.analysis.statistics.prewhitening import cycle_phase

Array = NDArray[np.float64]
_RULES = LIMITS["correlation"]
_RATE: float = LIMITS["tested"]["rate"]
_ANYTHING = 0.95
"""An interval that reaches this far on both sides excludes nothing."""
Pair = tuple[str, str, str]
"""(group, first, second)."""


@dataclass(frozen=True)
class Tested:
    """The tested correlation of one pair of figures over the trials of an arm."""

    r: float
    ci95: tuple[float, float]
    """It excludes zero where the pair is clear."""
    p_adjusted: float
    trials: int

    @property
    def clear(self) -> bool:
        """Whether the correlation stays significant after correction for all pairs of all arms."""
        return self.p_adjusted <= _RATE


def pairs(disks: Sequence[str]) -> list[Pair]:
    """Lists the pairs of classic.toml; those with `*` once for each disk."""
    found = []
    for group, listed in LIMITS["pairs"].items():
        for first, second in listed:
            names = disks if second.startswith("*/") else ("",)
            found += [(group, first, second.replace("*", disk, 1)) for disk in names]
    return found


def pearson(first: Array | None, second: Array | None) -> float | None:
    """Correlates two series over the intervals in which both are known; 0 where one never changes.

    None where one was not read, or in too few intervals.
    """
    if first is None or second is None:
        return None
    known = np.isfinite(first) & np.isfinite(second)
    if np.count_nonzero(known) < LIMITS["intervals"]["least_for_correlation"]:
        return None
    a, b = (row[known] - row[known].mean() for row in (first, second))
    size = math.sqrt(float(a @ a) * float(b @ b))
    largest = float(np.abs(first[known]).max() * np.abs(second[known]).max())
    if size <= 1e-12 * largest * len(a):
        return 0.0
    return float(np.clip((a @ b) / size, -1.0, 1.0))


def mean_of(values: Sequence[float | None]) -> float | None:
    """Returns the mean of the known values."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def classic_r(trials: Sequence[Figures], first: str, second: str) -> float | None:
    """Returns the mean of the trials' r."""
    return mean_of([pearson(one.get(first), one.get(second)) for one in trials])


def correlations(
    trials: Mapping[str, Sequence[Figures]], series: Mapping[str, Sequence[EvenSeries]]
) -> dict[str, tuple[ClassicCorrelation, ...]]:
    """Returns correlations by arm; `trials` are figures of its `series` over the longer
    intervals."""
    disks = sorted({disk for own in series.values() for one in own for disk in one.disks})
    wanted = pairs(disks)
    tested = tested_correlations(series, wanted)
    return {
        arm: tuple(
            _beside(pair, classic_r(own, pair[1], pair[2]), tested.get((arm, pair)))
            for pair in wanted
        )
        for arm, own in trials.items()
    }


def _beside(pair: Pair, r: float | None, tested: Tested | None) -> ClassicCorrelation:
    group, first, second = pair
    return ClassicCorrelation(
        group=group,
        first=first,
        second=second,
        r=r,
        label=label(r, _RULES["labels"]),
        claims=r is not None and abs(r) >= _RULES["claims_from"],
        honest_r=None if tested is None else tested.r,
        ci95=None if tested is None else tested.ci95,
        p_adjusted=None if tested is None else tested.p_adjusted,
        trials=0 if tested is None else tested.trials,
        clear=None if tested is None else tested.clear,
        agreement=agreement(r, tested),
    )


def agreement(r: float | None, tested: Tested | None) -> Agreement | None:
    """Returns what the tested correlation makes of a classic one."""
    if r is None:
        return None
    strong = _RULES["claims_from"]
    claims = abs(r) >= strong
    if tested is None or min(abs(end) for end in tested.ci95) > _ANYTHING > abs(tested.r):
        return Agreement.TOO_LITTLE if claims else None
    most = max(abs(end) for end in tested.ci95)
    if not claims:
        if tested.clear and abs(tested.r) >= strong:
            return Agreement.MISSED
        return Agreement.AGREE if most < strong else None
    if not tested.clear:
        return Agreement.UNCLEAR
    if tested.r * r < 0.0:
        return Agreement.OPPOSITE
    return Agreement.WEAKER if most < strong else Agreement.AGREE


def tested_correlations(
    series: Mapping[str, Sequence[EvenSeries]], wanted: Sequence[Pair]
) -> dict[tuple[str, Pair], Tested]:
    """Tests, by arm and pair, those of which both series vary in a step that is long enough."""
    names = sorted({name for _, first, second in wanted for name in (first, second)})
    rows, columns = (np.array([names.index(pair[at]) for pair in wanted], int) for at in (1, 2))
    found: dict[str, tuple[Pooled, Array]] = {}
    for arm, trials in series.items():
        z, weights = (np.zeros((len(trials), len(names), len(names))) for _ in range(2))
        for at, trial in enumerate(trials):
            for varying, values, samples in _steps(trial, names):
                own = np.ix_(varying, varying)
                weight = np.maximum(samples - 3.0, 0.0)
                z[at][own] += weight * fisher_z(values)
                weights[at][own] += weight
        np.divide(z, weights, out=z, where=weights > 0.0)
        weights = weights[:, rows, columns]
        found[arm] = pooled(z[:, rows, columns], weights), (weights > 0.0).sum(axis=0)
    p = np.concatenate([one.p[one.known] for one, _ in found.values()] or [np.empty(0)])
    alpha, adjusted = selected_alpha(p, _RATE), iter(yekutieli(p).tolist())
    return {
        (arm, wanted[at]): _tested(one, one.reach(alpha), at, next(adjusted), int(trials[at]))
        for arm, (one, trials) in found.items()
        for at in np.flatnonzero(one.known).tolist()
    }


def _tested(found: Pooled, reach: Array, at: int, p_adjusted: float, trials: int) -> Tested:
    mean, half = float(found.z[at]), float(reach[at])
    ends = math.tanh(mean - half), math.tanh(mean + half)
    return Tested(math.tanh(mean), ends, p_adjusted, trials)


def _steps(
    trial: EvenSeries, names: Sequence[str]
) -> Iterator[tuple[NDArray[np.intp], Array, Array]]:
    """Of each step: the places of the series that vary, their correlations, effective samples."""
    known = figures(trial)
    at_s = np.arange(trial.intervals, dtype=np.float64) * trial.width_s
    phase = cycle_phase(at_s, trial.checkpoints_s) if trial.intervals else None
    for first, last in trial.steps:
        if last - first < LIMITS["tested"]["least_samples"]:
            continue
        rows = [known[name][first:last] if name in known else None for name in names]
        places = [
            at for at, row in enumerate(rows) if row is not None and bool(np.isfinite(row).all())
        ]
        if len(places) < 2:
            continue
        groups = np.zeros(last - first, np.int64) if phase is None else phase[first:last]
        left, varies = residuals(np.array([rows[at] for at in places]), groups)
        values, samples = among(left[varies], len(np.unique(groups)))
        yield np.array(places)[varies], values, samples
