"""Throughput by counts of a few transactions: what the count cannot tell.

Enters: the trials' measures by block and arm. Leaves: a `Counts`. Never: estimates a contrast
(`contrast_estimate.py` does).

A client that ends 12 transactions a trial ends 12 or 13 whatever its speed is in between. Where
transactions take about the same time this error is the same in every trial, so it neither shows in
the scatter nor averages out over blocks. Two ways to know more: the mean duration of transactions,
which is measured to the nanosecond but leaves out those that did not end; and the size of the step,
one transaction of each client, which is the most that a count can be off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.measures.model import StepMeasures

Values = NDArray[np.float64]
Parts = Sequence[Sequence[StepMeasures | None]]
ENOUGH = 200
"""Transactions of a client in a trial, from which a step of one is less than half a per cent."""


@dataclass(frozen=True)
class Counts:
    """The counts that a table of throughput was made from, in the same rows and columns."""

    parts: Parts

    def rows(self, kept: Sequence[int]) -> Counts:
        """Returns the counts of these rows."""
        return Counts([self.parts[at] for at in kept])

    def are_few(self, weights: Values) -> bool:
        """Whether a client is known to end fewer than `ENOUGH` transactions in some trial."""
        return any(
            0.0 < one.transactions < ENOUGH * one.clients for one in self._concerned(weights)
        )

    def resolution(self, weights: Values) -> float:
        """Returns by how much a contrast may be off, on either side, in logarithms.

        Where the number of clients is unknown it is taken for one.
        """
        steps = self._table(lambda one: math.log1p((one.clients or 1.0) / one.transactions))
        return float((steps @ np.abs(weights)).mean())

    def by_duration(self, weights: Values) -> Values | None:
        """Logarithms of throughput by mean durations; None where a trial concerned has none."""
        durations = [one.tps_by_duration for one in self._concerned(weights)]
        if not durations or None in durations:
            return None
        return self._table(lambda one: math.log(one.tps_by_duration or 1.0))

    def _concerned(self, weights: Values) -> Iterator[StepMeasures]:
        for row in self.parts:
            for one, weight in zip(row, weights.tolist(), strict=True):
                if one is not None and weight and one.transactions:
                    yield one

    def _table(self, of: Callable[[StepMeasures], float]) -> Values:
        """A value of each trial, zero where nothing was counted."""
        rows = [[of(one) if one and one.transactions else 0.0 for one in row] for row in self.parts]
        return np.array(rows, dtype=np.float64)
