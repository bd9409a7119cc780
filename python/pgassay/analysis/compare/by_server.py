"""Whether an effect differs between the servers of a fleet: the interaction of server and arm.

Enters: the verdicts, the tables that they rest on, the server of each block. Leaves: for each
verdict the effect on each server, and a test of their difference. Never: changes a verdict, which
is about the mean over blocks, whichever servers these ran on.

All trials of a block run on one server, so what they share cancels in the block's differences. What
is left between servers is how the effect itself differs: a one-way analysis of variance of these
differences. Its F is judged against all ways to deal the blocks to the servers where these are few
(the exact permutation test of Fisher and Pitman), else against F's distribution. That effects agree
is claimed only where the effects of every two servers differ by less than the smallest effect that
matters: all 90 % intervals of their differences lie inside (intersection-union test; Berger,
Technometrics 24, 1982).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pgassay.analysis.compare.contrasts import BlockTable, Vector, main_effect
from pgassay.analysis.compare.estimate import both, bounded, lies_inside, relative
from pgassay.analysis.compare.levels import margins_of
from pgassay.analysis.compare.model import (
    ByServer,
    Comparison,
    Dependence,
    HeterogeneityTest,
    ServerEffect,
)
from pgassay.analysis.compare.positions import without_positions
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.reading.metrics import METRICS
from pgassay.plan.model import Plan

_MOST_DEALS = 20_000
"""Ways to deal blocks to servers up to which all are looked at."""
_TIES = 1e-9
_ALPHA = 0.05


def effects_by_server(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    verdicts: Sequence[Comparison],
    tables: Mapping[float | None, BlockTable],
    rule: Rule,
) -> tuple[ByServer, ...]:
    """One for each verdict that is given; none where all blocks ran on one server."""
    servers = {trial.block: trial.server for trial in trials if trial.server}
    if len(set(servers.values())) < 2 or plan.alternates or plan.calibrates:
        return ()
    given = [one for one in verdicts if one.withdrawn is None]
    found = (_of(one, plan, tables[one.step], servers, rule, len(given)) for one in given)
    return tuple(one for one in found if one is not None)


@dataclass(frozen=True)
class _Groups:
    """The blocks' differences by server: as they are, and with the whole error of their mean."""

    names: tuple[str, ...]
    at: NDArray[np.int64]
    """The place in `names` of each block's server."""
    differences: Vector
    widened: Vector
    freedom: float
    """Degrees of freedom within servers."""

    def means(self) -> Vector:
        """Of each server."""
        found: Vector = np.bincount(self.at, self.differences) / self.counts()
        return found

    def counts(self) -> NDArray[np.int64]:
        """Blocks of each server."""
        return np.bincount(self.at, minlength=len(self.names))

    def spread(self) -> float | None:
        """The standard deviation within servers, pooled; None where it cannot be known."""
        centres = np.bincount(self.at, self.widened) / self.counts()
        inner = len(self.differences) - len(self.names)
        if inner < 1 or self.freedom < 1.0:
            return None
        found = math.sqrt(float(((self.widened - centres[self.at]) ** 2).sum()) / inner)
        scale = float(np.max(np.abs(self.widened)))
        return found if found > 1e-12 * scale and found > 0.0 else None


def _of(
    verdict: Comparison,
    plan: Plan,
    table: BlockTable,
    servers: Mapping[int, str],
    rule: Rule,
    verdicts: int,
) -> ByServer | None:
    factor = next(one for one in plan.factors if one.name == verdict.factor)
    contrast = main_effect(plan, factor, verdict.level)
    table = table.known_for(contrast)
    names = tuple(sorted({servers[block] for block in table.blocks if block in servers}))
    if len(names) < 2 or any(block not in servers for block in table.blocks):
        return None
    adjusted, blocks = without_positions(table), len(table.blocks)
    groups = _Groups(
        names,
        np.array([names.index(servers[block]) for block in table.blocks], dtype=np.int64),
        adjusted.table.of(contrast),
        adjusted.differences(contrast),
        adjusted.units(blocks) - len(names),
    )
    metric = METRICS[verdict.metric]
    ratio = metric.scale == "ratio"
    to_pct = relative(ratio, verdict.baseline_mean)
    means, counts, spread = groups.means(), groups.counts(), groups.spread()
    shared = _ALPHA / (verdicts * len(names))
    reach = math.inf if spread is None else spread * _student(groups.freedom, 1 - shared / 2)
    effects = []
    for place, name in enumerate(names):
        mean, half = float(means[place]), reach / math.sqrt(counts[place])
        ends = (mean - half, mean + half) if math.isfinite(half) else None
        effects.append(
            ServerEffect(
                server=name,
                blocks=int(counts[place]),
                effect_pct=to_pct(mean),
                ci95_pct=bounded(both(ends, to_pct), least=-100.0),
            )
        )
    test = None if spread is None else _test(groups)
    margins = margins_of(rule, metric, verdict.baseline_mean)
    inside = spread is not None and all(
        lies_inside(ends, margins) for ends in _distances(groups, spread)
    )
    differs = test is not None and test.p * verdicts < _ALPHA
    return ByServer(
        metric=verdict.metric,
        factor=verdict.factor,
        baseline=verdict.baseline,
        level=verdict.level,
        step=verdict.step,
        step_unit=verdict.step_unit,
        servers=tuple(effects),
        test=test,
        verdict=_dependence(differs=differs, inside=inside),
    )


def _dependence(*, differs: bool, inside: bool) -> Dependence:
    if inside:
        return Dependence.NEGLIGIBLE if differs else Dependence.INDEPENDENT
    return Dependence.DEPENDS if differs else Dependence.UNDECIDED


def _distances(groups: _Groups, spread: float) -> Iterator[tuple[float, float]]:
    """The 90 % interval of the difference of every two servers' effects."""
    means, counts = groups.means(), groups.counts()
    reach = spread * _student(groups.freedom, 1 - _ALPHA)
    for one, other in itertools.combinations(range(len(groups.names)), 2):
        distance = float(means[one] - means[other])
        half = reach * math.sqrt(1.0 / counts[one] + 1.0 / counts[other])
        yield distance - half, distance + half


def _test(groups: _Groups) -> HeterogeneityTest:
    """The F of servers, and its p by permutation, or by its distribution where deals are many."""
    values, counts = groups.widened, groups.counts()
    freedom = len(groups.names) - 1, groups.freedom
    between, within = _sums(values, groups.at, counts)
    inner = len(values) - len(groups.names)
    f = (between / freedom[0]) / (within / inner)
    if _deals(counts) > _MOST_DEALS:
        return HeterogeneityTest("F", f, freedom, float(special.fdtrc(*freedom, f)))
    # The whole sum of squares is the same for every deal, so the part between servers orders them.
    bar = between * (1.0 - _TIES)
    every = [_sums(values, at, counts)[0] for at in _dealt(counts)]
    p = sum(one >= bar for one in every) / len(every)
    return HeterogeneityTest("permutation", f, freedom, p)


def _sums(values: Vector, at: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[float, float]:
    """Sums of squares between and within servers."""
    means = np.bincount(at, values) / counts
    between = float((counts * (means - values.mean()) ** 2).sum())
    return between, float(((values - means[at]) ** 2).sum())


def _deals(counts: NDArray[np.int64]) -> int:
    """In how many ways the blocks can be dealt to the servers."""
    found, left = 1, int(counts.sum())
    for count in counts.tolist():
        found *= math.comb(left, count)
        left -= count
    return found


def _dealt(counts: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Each way to deal the blocks: the server's place of each block."""
    at = np.full(int(counts.sum()), -1, dtype=np.int64)
    yield from _dealt_from(counts.tolist(), 0, at)


def _dealt_from(
    counts: Sequence[int], server: int, at: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    free = np.flatnonzero(at < 0).tolist()
    if server == len(counts) - 1:
        whole = at.copy()
        whole[free] = server
        yield whole
        return
    for chosen in itertools.combinations(free, counts[server]):
        dealt = at.copy()
        dealt[list(chosen)] = server
        yield from _dealt_from(counts, server + 1, dealt)


def _student(freedom: float, share: float) -> float:
    return float(special.stdtrit(freedom, share)) if freedom > 0.0 else math.inf
