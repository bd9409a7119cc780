"""What each statement took in one trial, by pg_stat_statements.

Enters: a stored trial. Leaves: `TrialStatements`: growth by statement over the whole load.
Never: compares trials, or reads texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from pgassay.analysis.measures.sources import TrialSources
from pgassay.samples.stored_parts import StoredTrial
from pgassay.trials.sampling.counted import STATEMENTS


@dataclass(frozen=True)
class TrialStatements:
    """One trial; its load with the warm-up, because the server counts that too."""

    block: int
    arm: str
    transactions: int
    grown: Mapping[str, Mapping[str, float]]
    """queryid → column → growth; one more, `(others)`, has all statements beyond the first 100."""


def read_statements(
    trial: StoredTrial, sources: TrialSources | None = None
) -> TrialStatements | None:
    """None where the statements were not read, or nothing was run."""
    counters = (sources or TrialSources(trial)).postgres
    grown: dict[str, dict[str, float]] = defaultdict(dict)
    for key in counters.keys():  # noqa: SIM118 (not a mapping)
        if key[0] == STATEMENTS.source:
            _, values = counters.points(key)
            if len(values) > 1:
                grown[key[1]][key[2]] = max(0.0, float(values[-1] - values[0]))
    summary = trial.summary()
    transactions = summary.load.transactions
    if not grown or not transactions:
        return None
    return TrialStatements(summary.block, summary.arm, transactions, dict(grown))
