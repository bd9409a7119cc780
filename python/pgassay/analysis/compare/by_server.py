"""Whether an effect differs between the servers of a fleet: the interaction of server and arm.

Enters: the verdicts, the tables that they rest on, the server of each block. Leaves: for each
verdict the effect on each server, and a test of their difference. Never: changes a verdict, which
is about the mean over blocks, whichever servers these ran on.

All trials of a block run on one server, so what they share cancels in the block's differences. What
is left between servers is how the effect itself differs: a one-way analysis of variance of these
differences. Its F is judged against all ways to deal the blocks to the servers where these are few
(a permutation test), else against F's distribution. That effects agree
is claimed only where the effects of every two servers differ by less than the smallest effect that
matters: all 90 % intervals of their differences lie inside (intersection-union test; Berger,
Technometrics 24, 1982).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.blocks.contrasts import BlockTable, Vector, main_effect
from pgassay.analysis.compare.blocks.positions import without_positions
from pgassay.analysis.compare.estimate import both, bounded, lies_inside, relative
from pgassay.analysis.compare.levels import margins_of
from pgassay.analysis.compare.model import (
    ByServer,
    Comparison,
    Dependence,
    HeterogeneityTest,
    ServerEffect,
)
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.intervals import is_rounding
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
    """Estimates by server the effect of each given verdict; none where all blocks ran on one
    server."""
    servers = {trial.block: trial.server for trial in trials if trial.server}
    if len(set(servers.values())) < 2 or plan.alternates or plan.calibrates:
        return ()
    given = [one for one in verdicts if one.withdrawn is None]
    found = (_of(one, plan, tables[one.step], servers, rule, len(given)) for one in given)
    return tuple(one for one in found if one is not None)


@dataclass(frozen=True)
class _Groups:
    """The blocks' differences by server."""

    names: tuple[str, ...]
    at: NDArray[np.int64]
    """The place in `names` of each block's server."""
    values: Vector
    """Their spread within servers is the whole error of a block."""
    positions: NDArray[np.float64]
    """Blocks × directions, orthonormal and without a mean: what positions in the block add."""
    freedom: float
    """Degrees of freedom within servers."""

    @cached_property
    def fitted(self) -> tuple[Vector, NDArray[np.float64]]:
        """Each server's mean beside the effect of positions, and how its error grows: the
        covariance of the means over the variance of a block."""
        servers = _without(np.eye(len(self.names))[self.at], self.positions)
        inverse = np.asarray(np.linalg.inv(servers.T @ servers), np.float64)
        return inverse @ (servers.T @ _without(self.values, self.positions)), inverse

    def counts(self) -> NDArray[np.int64]:
        """Blocks of each server."""
        return np.bincount(self.at, minlength=len(self.names))

    def spread(self) -> float | None:
        """Pools the standard deviation within servers; None where it cannot be known."""
        means, _ = self.fitted
        inner = len(self.values) - len(self.names) - self.positions.shape[1]
        if inner < 1 or self.freedom < 1.0:
            return None
        left = _without(self.values - means[self.at], self.positions)
        found = math.sqrt(float(left @ left) / inner)
        scale = float(np.max(np.abs(self.values)))
        return None if is_rounding(found, scale) else found


def _without(values: NDArray[np.float64], directions: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = values - directions @ (directions.T @ values)
    return found


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
    units = adjusted.units(blocks)
    positions = _position_directions(table, contrast, blocks - units)
    at = np.array([names.index(servers[block]) for block in table.blocks], dtype=np.int64)
    freedom = units - len(names)
    if not _are_separable(np.eye(len(names))[at], positions):
        # Where servers and orders of arms go together, nobody knows which of them it is.
        positions, freedom = positions[:, :0], 0.0
    values = table.of(contrast) if positions.shape[1] else adjusted.differences(contrast)
    groups = _Groups(names, at, values, positions, freedom)
    metric = METRICS[verdict.metric]
    ratio = metric.scale == "ratio"
    to_pct = relative(ratio, verdict.baseline_mean)
    (means, covariance), counts, spread = groups.fitted, groups.counts(), groups.spread()
    shared = _ALPHA / (verdicts * len(names))
    reach = math.inf if spread is None else spread * _student(groups.freedom, 1 - shared / 2)
    effects = []
    for place, name in enumerate(names):
        mean, half = float(means[place]), reach * math.sqrt(covariance[place, place])
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
    means, covariance = groups.fitted
    reach = spread * _student(groups.freedom, 1 - _ALPHA)
    for one, other in itertools.combinations(range(len(groups.names)), 2):
        distance = float(means[one] - means[other])
        variance = covariance[one, one] + covariance[other, other] - 2.0 * covariance[one, other]
        half = reach * math.sqrt(variance)
        yield distance - half, distance + half


def _position_directions(table: BlockTable, contrast: Vector, lost: float) -> NDArray[np.float64]:
    """What positions add to the difference of each block, where it alone tells how much: with more
    than two arms the others tell too, and fewer degrees of freedom are `lost`."""
    if table.positions is None or lost <= 0.0:
        return np.empty((len(table.blocks), 0))
    at = np.eye(len(contrast))[table.positions - 1]
    parts = np.einsum("a,bap->bp", contrast, at)
    directions, sizes, _ = np.linalg.svd(parts - parts.mean(axis=0), full_matrices=False)
    rank = int(np.count_nonzero(sizes > _TIES))
    return directions[:, : rank if rank <= lost + 0.5 else 0]


def _are_separable(servers: NDArray[np.float64], positions: NDArray[np.float64]) -> bool:
    columns = np.hstack([servers, positions])
    return bool(np.linalg.matrix_rank(columns) == columns.shape[1])


def _test(groups: _Groups) -> HeterogeneityTest:
    """The F of servers, and its p by permutation, or by its distribution where deals are many.

    What the mean and the positions leave is dealt, and they are taken out of each deal as well
    (Freedman and Lane, Journal of Business & Economic Statistics 1, 1983): where each server has
    all orders of arms, positions are taken from the spread within servers alone.
    """
    counts, freedom = groups.counts(), (len(groups.names) - 1, groups.freedom)
    mean = np.full((len(groups.values), 1), 1.0 / math.sqrt(len(groups.values)))
    reduced = np.hstack([mean, groups.positions])
    left = _without(groups.values, reduced)
    (between,) = _between(left, groups.at[None, :], reduced)
    inner = len(left) - len(counts) - groups.positions.shape[1]
    f = (float(between) / freedom[0]) / ((float(left @ left) - float(between)) / inner)
    if _deals(counts) > _MOST_DEALS:
        return HeterogeneityTest("F", f, freedom, float(special.fdtrc(*freedom, f)))
    # The whole sum of squares is the same for every deal, so the part between servers orders them.
    every = _between(left, np.array(list(_dealt(counts))), reduced)
    p = float(np.mean(every >= between * (1.0 - _TIES)))
    return HeterogeneityTest("permutation", f, freedom, p)


def _between(
    left: Vector, deals: NDArray[np.int64], reduced: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The sum of squares that servers explain beside the reduced model, for each deal."""
    servers = np.eye(int(deals.max()) + 1)[deals]
    servers -= np.einsum("bq,cq,dcs->dbs", reduced, reduced, servers, optimize=True)
    explained = np.einsum("b,dbs->ds", left, servers)
    inverse = np.linalg.pinv(np.einsum("dbs,dbt->dst", servers, servers), hermitian=True)
    found: NDArray[np.float64] = np.einsum("ds,dst,dt->d", explained, inverse, explained)
    return found


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
