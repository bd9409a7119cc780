"""Error rates of duets whose server starts differ, by simulation.

Enters: nothing. Leaves: docs/measured/validation-duet.md. Never: touches a server.

The host is that of `switchback_errors.py`: its speed drifts and is autocorrelated. The starts of a
trial shift the effect of all its rounds by the same amount.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from bench import MEASURED
from bench.tables import page, rate, table
from bench.validate.looks import conclude
from bench.validate.parallel import spread
from bench.validate.switchback_errors import (
    HOST,
    OF_MORE,
    ORDERS,
    OWN,
    WANTED,
    Counts,
    World,
    each_trial,
    wanted,
)
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.spec.parse import parse_spec

OUTPUT = MEASURED / "validation-duet.md"
STEP_S = 8
"""Of every arm, in a trial."""
DESIGNS = ((4, 4), (6, 6), (6, 24))
LUCK = (0.0, 0.005, 0.01, 0.03)
EFFECTS = (0.0, 0.02, 0.05)


@cache
def make_design(least: int, most: int, seed: int, arms: int = 2) -> Plan:
    """A factor that needs a restart, in slices of 1 s and of half a second."""
    text = "[factors.target]\nversion = [16, 18]\n"
    if arms == 3:
        text = "[factors.postgres]\nmax_connections = [100, 200, 300]\n"
    text += f"[load]\nstep = '{STEP_S * arms}s'\n[design]\n"
    text += f"mode = 'duet'\nmin_blocks = {least}\nmax_blocks = {most}\nseed = {seed}\n"
    return make_plan(parse_spec(text, source="simulated", beside=Path()))


def count(world: World, runs: int, least: int, most: int) -> Counts:
    """Run so many experiments."""
    source = np.random.default_rng(most + round(1e4 * (world.between + world.effect)))
    found = Counts()
    for run in range(runs):
        plan = make_design(least, most, run % ORDERS, world.arms)
        found += Counts.of(world, *conclude(plan, each_trial(plan, world, source)))
    return found


Task = tuple[tuple[int, int], float, float, int, int]
"""A design, an effect, how much starts differ, arms; experiments."""


def row_of(task: Task) -> list[str]:
    """One row."""
    (least, most), effect, luck, arms, runs = task
    world = World("", effect=effect, memory=0.9, between=luck, arms=arms)
    n, aims = count(world, runs, least, most), wanted(world, fixed=least == most)
    shares = (
        rate(n.different, runs, aims.different),
        rate(n.equivalent, runs),
        rate(n.missed, runs, aims.missed),
        rate(n.withdrawn, runs),
    )
    return [
        str(arms), str(least) if least == most else f"{least} to {most}", f"{100 * effect:g} %",
        f"{100 * luck:g} %", *shares, f"{n.blocks / runs:.1f}",
    ]  # fmt: skip


def cost(task: Task) -> float:
    """The largest number of blocks of a run."""
    (_, most), effect, luck, arms, _ = task
    return arms * (most + luck - effect)


def main(runs: int = 400) -> None:
    """Write the page."""
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}; {runs} experiments a row; steps of {STEP_S} s for each"
        " arm in slices of 1 s and of 0.5 s in alternate trials; the host's speed is autocorrelated"
        f" (0.9 from slice to slice, standard deviation {100 * HOST:g} %), with {100 * OWN:g} % of"
        " independent noise a second; server starts change the effect of a trial by the stated"
        f" standard deviation; smallest effect 2 %. A trial is one value. {WANTED} {OF_MORE} Made"
        " by `make validate`."
    )
    head = (
        "arms", "blocks", "effect", "starts differ by", "called different", "called equivalent",
        "interval misses it", "withdrawn", "mean blocks",
    )  # fmt: skip
    tasks = [
        *product(DESIGNS, EFFECTS, LUCK, [2], [runs]),
        *product(DESIGNS[1:], (0.0, 0.05), (0.01,), [3], [runs]),
    ]
    rows = spread(row_of, tasks, cost)
    OUTPUT.write_text(page("Validation of duets", about, {"": table(head, rows)}), "utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
