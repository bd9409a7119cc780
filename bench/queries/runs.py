"""Runs of query sets, each on a fresh embedded PostgreSQL 18.

Enters: the tables of an experiment. Leaves: what its analysis says of every query, the blocks and
seconds that this took, how busy the machine was. Never: keeps the run.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.machine import load_average
from pgassay.analysis.queries.model import QueryEffect, QuerySet
from pgassay.plan.model import PlannedTrial
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.parse import parse_spec
from pgassay.trials.run.progress import ProgressListener
from pgassay.workflows.pipeline import run_experiment

BESIDE = Path(__file__).parent
QUERIES = """
[target]
version = 18
[settings.postgres]
shared_buffers = "512MB"
[workload]
use = "orders"
queries = "./orders"
"""
"""The 60 queries of this folder; what varies and the design follow."""


@dataclass(frozen=True)
class Ran:
    """One run."""

    found: QuerySet
    seconds: float
    """Of trials with their resets, without the set-up and the report."""
    blocks: int
    load: float
    """The machine's load average at its end."""


def run_set(text: str) -> Ran:
    """Runs and analyses an experiment with two arms. Raises RuntimeError where no query ran."""
    with tempfile.TemporaryDirectory() as folder:
        spec = parse_spec(text, source="bench.queries", beside=BESIDE)
        timed = _Timed()
        outcome = run_experiment(spec, RunDirectory.create(Path(folder) / "run"), timed)
        found = outcome.context.analysis.queries
        if found is None:
            raise RuntimeError("the run has no verdicts of queries")
        (summary,) = found.summaries
        return Ran(found, timed.seconds, summary.blocks, load_average())


def excludes_zero(effect: QueryEffect) -> bool:
    """Whether the interval of a query says that it changed."""
    return effect.ci95_pct is not None and not effect.ci95_pct[0] <= 0.0 <= effect.ci95_pct[1]


class _Timed(ProgressListener):
    """From the first trial's begin to the last one's end."""

    began, seconds = 0.0, 0.0

    def trial_began(self, trial: PlannedTrial, label: str) -> None:
        self.began = self.began or time.monotonic()

    def trial_ended(self, trial: PlannedTrial, tps: float | None) -> None:
        self.seconds = time.monotonic() - self.began
