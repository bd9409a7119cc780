"""Trials whose latencies have known modes.

Enters: shares and places of modes. Leaves: counts on the grid of the analysis, and trials of them.
Never: measures anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.measures.courses.latencies import (
    Ages,
    ScenarioLatencies,
    TrialLatencies,
    place_ms,
)

Array = NDArray[np.float64]
Drawn = Callable[[np.random.Generator], Array]
"""Latencies in milliseconds of one trial."""
PLACES = 2_100


def on_grid(latencies_ms: Array) -> Array:
    """Counts by place."""
    edges = np.array([place_ms(at) for at in range(PLACES + 1)])
    inside = np.clip(latencies_ms, edges[0] * 1.001, edges[-1] * 0.999)
    return np.histogram(inside, edges)[0].astype(np.float64)


def mixture(
    modes: Sequence[tuple[float, float]], count: int, width: float = 0.25, unsteady: float = 0.03
) -> Drawn:
    """Log-normal modes of (milliseconds, share); places and shares vary between trials."""

    def drawn(source: np.random.Generator) -> Array:
        weights = np.array([share for _, share in modes])
        weights = weights * np.exp(unsteady * source.standard_normal(len(weights)))
        which = source.choice(len(modes), count, p=weights / weights.sum())
        at = np.log([ms for ms, _ in modes]) + unsteady * source.standard_normal(len(modes))
        values: Array = np.exp(at[which] + width * source.standard_normal(count))
        return values

    return drawn


def arm_of(drawn: Drawn, trials: int, source: np.random.Generator) -> Array:
    """Counts, a row per trial."""
    return np.array([on_grid(drawn(source)) for _ in range(trials)])


def scenario(
    latencies_ms: Array, *, during: Array | None = None, ages: Ages | None = None
) -> ScenarioLatencies:
    """A scenario of a trial; `during` are those of its latencies at checkpoints."""
    return ScenarioLatencies(
        counts=on_grid(latencies_ms),
        at_checkpoints=on_grid(np.array([]) if during is None else during),
        mean_ms=float(latencies_ms.mean()),
        resolution_ns=0.0,
        ages=ages or {},
    )


def trial(block: int, arm: str, scenarios: Mapping[str, ScenarioLatencies]) -> TrialLatencies:
    return TrialLatencies(block, arm, None, scenarios)
