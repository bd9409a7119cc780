"""Position in the block as a covariate: what the first, second, … trial of a block shares.

Enters: a table of complete blocks with the position of each arm in each. Leaves: the table without
the effects of positions, and the degrees of freedom that are left. Never: adjusts where the effects
of arms and positions cannot be separated.

A host that warms up within a block, or drifts from trial to trial, adds the same amount to
whatever runs at a position. Orders are balanced (`plan/orders.py`), so the effect of an arm is
hardly biased, but the differences of blocks vary more: false differences become more frequent with
few blocks, and real ones are missed. Least squares with blocks, arms and positions (analysis of
covariance; Fisher's Latin square where the blocks complete one) removes it, for one degree of
freedom of each contrast.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.contrasts import BlockTable, Vector

FEWEST_BLOCKS = 4
"""With fewer, a degree of freedom is worth more than what it buys."""
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class PositionEffects:
    """What each position adds, on the scale of comparison."""

    values: Vector
    """One per position, against their mean."""
    covariance: Matrix
    freedom: float
    """Degrees of freedom of the covariance."""

    def contrast(self, weights: Vector) -> tuple[float, float]:
        """A weighted sum of the effects, and its standard error."""
        error = math.sqrt(max(0.0, float(weights @ self.covariance @ weights)))
        return float(weights @ self.values), error


@dataclass(frozen=True)
class Adjusted:
    """A table without the effects of positions."""

    table: BlockTable
    effects: PositionEffects | None = None
    fit: _Fit | None = None

    def differences(self, weights: Vector) -> Vector:
        """A number per block whose mean is the contrast and whose spread gives its whole error.

        Least squares makes residuals smaller than what is left of the noise; their distance from
        the mean is enlarged by as much. So a t statistic and flipped signs are right for them.
        """
        found = self.table.of(weights)
        if self.fit is None or self.table.positions is None:
            return found
        blocks = len(found)
        at = np.eye(len(self.fit.effects))[self.table.positions - 1]
        means = np.einsum("a,bap->p", weights, at) / blocks
        own = np.broadcast_to(weights / blocks, self.table.values.shape).ravel()
        coefficients = own - means @ self.fit.effects
        wider = float(coefficients @ coefficients) * blocks / float(weights @ weights)
        scale = wider * (blocks - 1) / (self.units(blocks) - 1)
        mean = found.mean()
        enlarged: Vector = mean + (found - mean) * math.sqrt(scale)
        return enlarged

    def units(self, blocks: int) -> float:
        """How many independent values the differences of so many blocks are worth."""
        return blocks if self.fit is None else 1.0 + (blocks - 1) * self.fit.left


def without_positions(table: BlockTable) -> Adjusted:
    """The table without what each position adds; as it is where that cannot be estimated."""
    if table.positions is None or len(table.blocks) < FEWEST_BLOCKS:
        return Adjusted(table)
    known = np.ones(table.values.shape, dtype=bool) if table.known is None else table.known
    positions = np.where(known, table.positions, 0)
    fit = _fit(positions.tobytes(), table.values.shape)
    if fit is None:
        return Adjusted(table)
    effects = fit.effects @ table.values.ravel()
    values = table.values - effects[table.positions - 1]
    residuals = values.ravel() - fit.rest @ values.ravel()
    variance = float(residuals[known.ravel()] @ residuals[known.ravel()]) / fit.freedom
    found = PositionEffects(effects, variance * fit.of_positions, fit.freedom)
    return Adjusted(replace(table, values=values), found, fit)


@dataclass(frozen=True)
class _Fit:
    """What depends on the order of arms alone."""

    effects: Matrix
    """Positions × (blocks · arms): the effects of positions are this times the values."""
    rest: Matrix
    """Times the values: their fit by blocks and arms."""
    of_positions: Matrix
    """The covariance of the effects, in units of a trial's variance."""
    freedom: float
    """Degrees of freedom of the residuals."""
    left: float
    """Share of the degrees of freedom that are left, so also of those of each contrast."""


@lru_cache(maxsize=256)
def _fit(content: bytes, shape: tuple[int, int]) -> _Fit | None:
    """Least squares on blocks, arms and positions; None where positions cannot be separated.

    A position of zero stands for a value that is not known.
    """
    blocks, arms = shape
    positions = np.frombuffer(content, dtype=np.int64)
    known = (positions > 0).astype(np.float64)
    of_blocks = np.repeat(np.eye(blocks), arms, axis=0) * known[:, None]
    of_arms = np.tile(np.eye(arms), (blocks, 1)) * known[:, None]
    at = np.eye(int(positions.max()) + 1)[positions][:, 1:]
    rest = np.hstack([of_blocks, of_arms])
    model = np.hstack([rest, at])
    ranks = int(np.linalg.matrix_rank(rest)), int(np.linalg.matrix_rank(model))
    freedom = int(known.sum()) - ranks[1]
    left = freedom / max(1, int(known.sum()) - ranks[0])
    # All that positions could tell apart but their mean is lost to arms and blocks.
    if ranks[1] - ranks[0] < at.shape[1] - 1 or (blocks - 1) * left < 1.0:
        return None
    effects = np.asarray(np.linalg.pinv(model), dtype=np.float64)[rest.shape[1] :]
    effects = effects - effects.mean(axis=0)
    hat = np.asarray(rest @ np.linalg.pinv(rest), dtype=np.float64)
    return _Fit(effects, hat, effects @ effects.T, freedom, left)
