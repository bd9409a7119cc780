"""Error rates where the host is disturbed in a rhythm of a few trials; `make validate`.

Enters: nothing. Leaves: docs/measured/validation-periodic.md. Never: touches a server, or orders
arms by other rules than pgassay's.

Trials run on a clock, one after the other, as by the default settings. What returns on that clock,
such as a job of cron, hits arms by their order alone; its phase is drawn anew for every experiment.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from bench import MEASURED
from bench.tables import Aim, page, rate, table
from bench.validate import looks
from bench.validate.parallel import spread
from bench.validate.whole_trials.adverse_conditions import SCATTER, trials_of
from bench.validate.whole_trials.false_positives import MARGIN
from bench.validate.whole_trials.trial_worlds import Array
from pgassay.analysis.model import Verdict
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.spec.parse import parse_spec

OUTPUT = MEASURED / "validation-periodic.md"
PART = 100
"""Experiments that share a generator. Each has other orders, as each run of a user has."""
TRIAL_S, BEFORE_S = 73.0, 13.0
"""A trial, and what it takes of it before it measures: the defaults with a reset of 3 s."""
SINE = 0.03
JOB_S, JOB_SLOWER, CRON_S = 20.0, 0.25, 300.0
PERIODS = (2, 3, 4, 6, 8, 12)
_OTHER = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)
_SAME = (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)


@dataclass(frozen=True)
class World:
    """What disturbs the host."""

    name: str
    period_s: float
    is_job: bool

    @property
    def matters_at_many_looks(self) -> bool:
        """Slow sines do the least harm, and many looks take the most time to simulate."""
        return self.is_job or self.period_s <= CRON_S


WORLDS = (
    World("a job every five minutes", CRON_S, is_job=True),
    *(World(f"a job every {n} trials", n * TRIAL_S, is_job=True) for n in PERIODS),
    *(World(f"a sine with a period of {n} trials", n * TRIAL_S, is_job=False) for n in PERIODS),
)


@dataclass(frozen=True)
class Design:
    """Arms, and the numbers of blocks after which runs may end."""

    name: str
    factors: str
    rules: tuple[tuple[int, int], ...] = ((8, 8),)


_SETTINGS = ["4MB", "8MB", "16MB", "32MB"]
DESIGNS = (
    Design("Two arms", f"work_mem = {_SETTINGS[:2]}", ((4, 4), (6, 6), (8, 8), (6, 24))),
    Design("Three arms", f"work_mem = {_SETTINGS[:3]}"),
    Design("Four arms", f"work_mem = {_SETTINGS}"),
    Design(
        "Two by two, in split plots",
        f"shared_buffers = ['64MB', '1GB']\nwork_mem = {_SETTINGS[:2]}",
    ),
)
SEQUENTIAL = (6, 24)


@cache
def plan_of(design: int, rule: tuple[int, int], seed: int) -> Plan:
    """One experiment's plan."""
    found = DESIGNS[design]
    plots = "split" if "shared_buffers" in found.factors else "complete"
    text = f"[factors.postgres]\n{found.factors}\n[design]\nmode = 'blocks'\nplots = '{plots}'\n"
    text += f"min_blocks = {rule[0]}\nmax_blocks = {rule[1]}\nseed = {seed}\n"
    text += f"smallest_effect = {MARGIN}\n"
    return make_plan(parse_spec(text, source=json.dumps([design, rule, seed]), beside=Path()))


def disturbance(world: World, trials: int, source: np.random.Generator) -> Array:
    """What is added to the logarithm of the throughput of each trial."""
    phase_s = BEFORE_S + world.period_s * source.random()
    begin = phase_s + TRIAL_S * np.arange(trials, dtype=np.float64)
    if not world.is_job:
        found: Array = SINE * np.sin(2 * math.pi * begin / world.period_s)
        return found
    measured_s = TRIAL_S - BEFORE_S
    busy_s = _busy_s(world, begin + measured_s) - _busy_s(world, begin)
    return np.log1p(-JOB_SLOWER * busy_s / measured_s)


def _busy_s(world: World, until_s: Array) -> Array:
    """Seconds of the job from 0 to a time."""
    periods, rest = np.divmod(until_s, world.period_s)
    found: Array = periods * JOB_S + np.minimum(rest, JOB_S)
    return found


Tally = Counter[str]
Case = tuple[int, int, tuple[int, int]]
"""Places of the design and the world, the rule."""
Task = tuple[int, int]
"""The place of a design, and a part."""


def do(task: Task) -> dict[Case, Tally]:
    """Experiments of one part, in every world by every rule."""
    design, part = task
    source = np.random.default_rng([part, design])
    found: dict[Case, Tally] = {}
    for seed in range(part * PART, (part + 1) * PART):
        for rule, world in product(DESIGNS[design].rules, range(len(WORLDS))):
            if rule == SEQUENTIAL and not WORLDS[world].matters_at_many_looks:
                continue
            plan = plan_of(design, rule, seed)
            values = disturbance(WORLDS[world], len(plan.trials), source)
            values += SCATTER * source.standard_normal(len(plan.trials))
            verdicts, block = _conclude(plan, values, 0.0)
            tally = found.setdefault((design, world, rule), Tally())
            tally.update(runs=1, blocks=block, different=any(v in _OTHER for v in verdicts))
            if rule == SEQUENTIAL and seed % 4 == 0:
                verdicts, _ = _conclude(plan, values, MARGIN)
                tally.update(with_effect=1, same=verdicts[0] in _SAME)
    return found


def _conclude(plan: Plan, values: Array, effect: float) -> tuple[list[Verdict], int]:
    analysis, block = looks.conclude(plan, trials_of(plan, values, effect))
    return [one.verdict for one in analysis.verdicts()], block


def simulate(runs: int) -> dict[Case, Tally]:
    """Sums over all parts."""
    parts = range(max(1, runs // PART))
    every = list(product(range(len(DESIGNS)), parts))
    sums: dict[Case, Tally] = {}
    for tallies in spread(do, every, cost=lambda task: -task[0]):
        for case, tally in tallies.items():
            sums.setdefault(case, Tally()).update(tally)
    return sums


def rows_of(found: Mapping[Case, Tally], design: int) -> Iterator[list[str]]:
    """Each world by every rule."""
    for world in range(len(WORLDS)):
        cells = [WORLDS[world].name]
        for rule in DESIGNS[design].rules:
            tally = found.get((design, world, rule), Tally())
            cells.append(rate(tally["different"], tally["runs"], Aim(0.0, 6.4)))
            if rule == SEQUENTIAL:
                cells.append(f"{tally['blocks'] / tally['runs']:.1f}" if tally else "–")
                cells.append(rate(tally["same"], tally["with_effect"], Aim(0.0, 5.0)))
        yield cells


def head_of(design: int) -> list[str]:
    """The columns of `rows_of`."""
    found = ["disturbance"]
    for least, most in DESIGNS[design].rules:
        found.append(f"{least} blocks" if least == most else f"{least} to {most} blocks")
        if least != most:
            found += ["mean blocks", "2 % called equivalent"]
    return found


def main(runs: int = 2000) -> None:
    """Write the page."""
    found = simulate(runs)
    about = (
        f"{runs} experiments a cell, {datetime.now(UTC):%Y-%m-%d}, each with other orders."
        " Shares of identical arms that are called different, with several verdicts any of them."
        f" Trials of {TRIAL_S:g} s, of which the last {TRIAL_S - BEFORE_S:g} s are measured,"
        f" follow each other without a pause and scatter by {100 * SCATTER:g} %. A job makes the"
        f" host {100 * JOB_SLOWER:g} % slower for {JOB_S:g} s; a sine has an amplitude of"
        f" {100 * SINE:g} %. In brackets the 95 % interval of the share. Wanted: 6.4 % or less; an"
        " effect of 2 %, which is the margin, called equivalent in 5 % or less (a quarter as many"
        " experiments). **Missed** stands where the interval of the share lies outside of that."
        " Made by `make validate` (`bench/validate/whole_trials/periodic_worlds.py`)."
    )
    sections = {
        design.name: table(head_of(at), rows_of(found, at)) for at, design in enumerate(DESIGNS)
    }
    OUTPUT.write_text(page("Validation with disturbances that return", about, sections), "utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
