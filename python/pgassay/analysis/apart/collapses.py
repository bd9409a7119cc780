"""How often trials of runs that are alike may collapse, as inside a run (`verdicts/collapses.py`).

Enters: differences of the primary metric with their verdicts, the values of trials. Leaves: them
with the limit of each that says that whole trials are alike. Never: changes a verdict.

The trials are taken for independent: a run that is slow as a whole is what the spread between runs
is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pgassay.analysis.apart.model import RunDifference, SideCollapses
from pgassay.analysis.apart.spread import Values
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.verdicts.collapses import collapsed, most_unseen
from pgassay.analysis.verdicts.losses import SAME


def says_alike(found: RunDifference, primary: str) -> bool:
    """Whether it has such a limit."""
    one = found.comparison
    return one.metric == primary and one.step is None and one.verdict in SAME


def with_collapses(found: RunDifference, runs: Sequence[Values]) -> RunDifference:
    """The limit for the trials of these runs of its side, each held against the median of its run.

    Where none collapsed, the limit is that of the side with fewer trials.
    """
    metric = METRICS[found.comparison.metric]
    seen = collapsed(np.concatenate([run - np.median(run) for run in runs]), metric)
    trials = found.trials[1] if seen else min(found.trials)
    limit = 100.0 * most_unseen(trials, seen)
    return replace(found, collapses=SideCollapses(trials, seen, limit))
