"""Error rates of duets whose server starts or directories differ, by simulation.

Enters: nothing. Leaves: docs/measured/validation-duet.md. Never: touches a server.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np

from bench import MEASURED
from bench.tables import Aim, page, rate, table
from bench.validate.alternating.duet_runs import MEMORY, Design, World
from bench.validate.alternating.switchback_errors import HOST, OF_MORE, ORDERS, OWN, WANTED, Counts
from bench.validate.parallel import spread
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.spec.parse import parse_spec

OUTPUT = MEASURED / "validation-duet.md"
STEP_S = 8
"""Of every arm, in a trial."""
BATCH = 50
"""Runs that are simulated at once."""
DESIGNS = ((4, 4), (6, 6), (8, 8), (6, 24))


@dataclass(frozen=True)
class Row:
    """One world in one design."""

    least: int
    most: int
    world: World
    arms: int = 2

    @property
    def is_fixed(self) -> bool:
        return self.least == self.most


def _each(*worlds: World) -> list[Row]:
    return [Row(*design, world) for world in worlds for design in DESIGNS]


PARTS: dict[str, Sequence[Row]] = {
    "Server starts that differ": [
        *_each(World(starts=0.01), World(starts=0.02), World(effect=0.02, starts=0.01)),
        Row(6, 6, World(starts=0.01), arms=3),
        Row(6, 24, World(effect=0.05, starts=0.01), arms=3),
    ],
    "Directories that differ in all trials, starts by 0.5 %, identical arms": [
        *_each(
            *(
                World(starts=0.005, directories=by, exchanged=exchanged)
                for by in (0.01, 0.02)
                for exchanged in (False, True)
            )
        ),
        Row(6, 24, World(starts=0.005, directories=0.02), arms=3),
    ],
}


@cache
def make_design(least: int, most: int, seed: int, arms: int = 2) -> Plan:
    """A factor that needs a restart, in slices of 1 s and of half a second."""
    text = "[factors.target]\nversion = [16, 18]\n"
    if arms == 3:
        text = "[factors.postgres]\nmax_connections = [100, 200, 300]\n"
    text += f"[load]\nstep = '{STEP_S * arms}s'\n[design]\n"
    text += f"mode = 'duet'\nmin_blocks = {least}\nmax_blocks = {most}\nseed = {seed}\n"
    return make_plan(parse_spec(text, source="simulated", beside=Path()))


def count(row: Row, runs: int) -> Counts:
    """Run so many experiments, a few of each of `ORDERS` plans."""
    world = row.world
    source = np.random.default_rng(
        row.most + round(1e4 * (world.starts + world.effect)) + round(1e6 * world.directories)
    )
    found = Counts()
    for seed in range(ORDERS):
        own = runs // ORDERS + (seed < runs % ORDERS)
        design = Design(make_design(row.least, row.most, seed, row.arms))
        for first in range(0, own, BATCH):
            some = design.simulate(world, min(BATCH, own - first), source)
            for run in range(len(some.whole)):
                found += design.conclude(some, run).counts(world.effect)
    return found


def cells_of(task: tuple[Row, int]) -> list[str]:
    """One row; of a lasting difference that is not exchanged nothing is wanted."""
    row, runs = task
    world, n = row.world, count(row, runs)
    confounded = world.directories > 0.0 and not world.exchanged
    different = Aim(0.0, 5.0) if not (world.effect or confounded) else None
    # What an exchange leaves between trials, and Bonferroni's rule, make intervals wider.
    least = 3.0 if row.arms == 2 and not world.directories else 0.0
    missed = Aim(least, 7.0) if row.is_fixed else Aim(0.0, 5.0)
    blocks = str(row.least) if row.is_fixed else f"{row.least} to {row.most}"
    shared = [str(row.arms), blocks]
    if world.directories:
        kept = "exchanged" if world.exchanged else "kept"
        shared += [f"{100 * world.directories:g} %", kept]
    else:
        shared += [f"{100 * world.effect:g} %", f"{100 * world.starts:g} %"]
    return [
        *shared,
        rate(n.different, runs, different),
        rate(n.equivalent, runs),
        rate(n.missed, runs, None if confounded else missed),
        rate(n.withdrawn, runs),
        f"{n.blocks / runs:.1f}",
    ]


def cost(task: tuple[Row, int]) -> float:
    """The largest number of looks of a run."""
    row, _ = task
    return row.arms * (row.most - row.least + 1 + row.world.starts)


ERRORS = ("called different", "called equivalent", "interval misses it", "withdrawn", "mean blocks")
HEADS = (
    ("arms", "blocks", "effect", "starts differ by", *ERRORS),
    ("arms", "blocks", "directories differ by", "arms' directories", *ERRORS),
)


def main(runs: int = 2000) -> None:
    """Write the page."""
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}; {runs} experiments a row; steps of {STEP_S} s for each"
        " arm in slices of 1 s and of 0.5 s in alternate trials; the host's speed is autocorrelated"
        f" ({MEMORY:g} from second to second, standard deviation {100 * HOST:g} %), with"
        f" {100 * OWN:g} % of independent noise a second; server starts change the effect of a"
        " trial by the stated standard deviation; smallest effect 2 %. A trial is one value."
        f" {WANTED} {OF_MORE} Where directories differ, the last is faster than the first by as"
        " much in all trials of the run; arms that keep theirs are what the exchange is for, and"
        " have no target. Made by `make validate`."
    )
    tasks = [(row, runs) for rows in PARTS.values() for row in rows]
    cells = spread(cells_of, tasks, cost)
    sections = {
        title: table(head, [next(cells) for _ in rows])
        for head, (title, rows) in zip(HEADS, PARTS.items(), strict=True)
    }
    OUTPUT.write_text(page("Validation of duets", about, sections), "utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
