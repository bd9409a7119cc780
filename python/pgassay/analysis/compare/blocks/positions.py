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

from pgassay.analysis.compare.blocks.contrasts import BlockTable, Vector

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
        """Returns a weighted sum of the effects, and its standard error."""
        error = math.sqrt(max(0.0, float(weights @ self.covariance @ weights)))
        return float(weights @ self.values), error


@dataclass(frozen=True)
class Adjusted:
    """A table without the effects of positions."""

    table: BlockTable
    fit: _Fit | None = None

    def differences(self, weights: Vector) -> Vector:
        """Returns a number per block whose mean is the contrast and whose spread gives its whole
        error.

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
        """Returns how many independent values the differences of so many blocks are worth."""
        return blocks if self.fit is None else 1.0 + (blocks - 1) * self.fit.left


def without_positions(table: BlockTable) -> Adjusted:
    """Returns the table without what each position adds; as it is where that cannot be
    estimated."""
    positions = _known_positions(table)
    fit = None if positions is None else _fit(positions.tobytes(), table.values.shape)
    if fit is None or table.positions is None:
        return Adjusted(table)
    effects = fit.effects @ table.values.ravel()
    return Adjusted(replace(table, values=table.values - effects[table.positions - 1]), fit)


def position_effects(table: BlockTable) -> PositionEffects | None:
    """Estimates what each position adds; None where that cannot be estimated."""
    positions, fit = _known_positions(table), without_positions(table).fit
    if positions is None or fit is None:
        return None
    rest, _ = _models(positions.ravel(), table.values.shape)
    values, known = table.values.ravel(), positions.ravel() > 0
    effects = fit.effects @ values
    values = values - effects[positions.ravel() - 1]
    residuals = (values - rest @ np.linalg.lstsq(rest, values)[0])[known]
    variance = float(residuals @ residuals) / fit.freedom
    return PositionEffects(effects, variance * (fit.effects @ fit.effects.T), fit.freedom)


def _known_positions(table: BlockTable) -> NDArray[np.int64] | None:
    """Zero stands for a value that is not known."""
    if table.positions is None or len(table.blocks) < FEWEST_BLOCKS:
        return None
    return table.positions if table.known is None else np.where(table.known, table.positions, 0)


@dataclass(frozen=True)
class _Fit:
    """What depends on the order of arms alone."""

    effects: Matrix
    """Positions × (blocks · arms): the effects of positions are this times the values."""
    freedom: float
    """Degrees of freedom of the residuals."""
    left: float
    """Share of the degrees of freedom that are left, so also of those of each contrast."""


@lru_cache(maxsize=8192)
def _fit(content: bytes, shape: tuple[int, int]) -> _Fit | None:
    """Least squares on blocks, arms and positions; None where positions cannot be separated."""
    positions = np.frombuffer(content, dtype=np.int64)
    blocks, _ = shape
    rest, model = _models(positions, shape)
    ranks = int(np.linalg.matrix_rank(rest)), int(np.linalg.matrix_rank(model))
    known, places = int((positions > 0).sum()), model.shape[1] - rest.shape[1]
    freedom = known - ranks[1]
    left = freedom / max(1, known - ranks[0])
    # All that positions could tell apart but their mean is lost to arms and blocks.
    if ranks[1] - ranks[0] < places - 1 or (blocks - 1) * left < 1.0:
        return None
    effects = np.asarray(np.linalg.pinv(model), dtype=np.float64)[rest.shape[1] :]
    return _Fit(effects - effects.mean(axis=0), freedom, left)


def _models(positions: NDArray[np.int64], shape: tuple[int, int]) -> tuple[Matrix, Matrix]:
    """A column for each block and arm; and also for each position."""
    blocks, arms = shape
    known = (positions > 0).astype(np.float64)[:, None]
    of_blocks = np.repeat(np.eye(blocks), arms, axis=0) * known
    of_arms = np.tile(np.eye(arms), (blocks, 1)) * known
    at = np.eye(int(positions.max()) + 1)[positions][:, 1:]
    rest = np.hstack([of_blocks, of_arms])
    return rest, np.hstack([rest, at])
