"""Runs made apart with known answers, without run directories.

Enters: true effects, the spread between runs and between trials. Leaves: sides of runs.
Never: measures anything.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from pgassay.analysis.apart.model import ApartRun, Side
from pgassay.plan.design import make_plan
from pgassay.spec.parse import parse_spec
from support.synthetic.directories import SPEC
from support.synthetic.trials import trials_of

SINGLE = SPEC.replace('[factors.postgres]\nmax_wal_size = ["32MB", "4GB"]\n', "")
PLAN = replace(
    make_plan(parse_spec(SINGLE, source="spec.toml", beside=Path()), calibrates=False),
    endpoints=(),
)


def sides_of(
    *effects: float,
    runs: int = 1,
    run_sd: float = 0.0,
    noise: float = 0.01,
    seed: int = 1,
) -> list[Side]:
    """A side per effect (in logarithms), each of so many runs of one arm with six trials."""
    source = np.random.default_rng(seed)
    sides = []
    for side, effect in enumerate(effects):
        made = []
        for number in range(runs):
            shift = effect + run_sd * float(source.standard_normal())
            trials = trials_of(PLAN, noise=noise, seed=int(source.integers(2**31)))
            made.append(ApartRun(f"run-{side}-{number}", PLAN, tuple(
                replace(trial, whole=replace(
                    trial.whole, values={"tps": trial.whole.values["tps"] * float(np.exp(shift))}
                ))
                for trial in trials
            )))  # fmt: skip
        sides.append(Side(f"side-{side}", tuple(made)))
    return sides
