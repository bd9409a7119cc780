"""Switchback designs by simulation: false positives, coverage, carry-over; `make validate`.

Enters: nothing. Leaves: docs/validation-switchback.md. Never: touches a server.

Each experiment is a series of slices on a host whose speed drifts and remembers (an AR(1) of
neighbouring slices), with noise of their own; the verdict is that of the product's own analysis.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

from bench.tables import page, rate, table
from pgassay.analysis.analyse import analyse
from pgassay.analysis.model import Analysis, StepMeasures, TrialMeasures, Turn, Verdict
from pgassay.plan.design import make_plan
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.plan.turns import rounds_of
from pgassay.spec.parse import parse_spec

OUTPUT = Path(__file__).parent.parent / "docs" / "validation-switchback.md"
HOST, OWN = 0.03, 0.02
"""Standard deviation of the host's memory, and of a second's own noise."""
_SETTLE = 200


@dataclass(frozen=True)
class World:
    """What an experiment is run in; shares of throughput."""

    name: str
    effect: float = 0.0
    memory: float = 0.95
    """Lag-one autocorrelation of the host from slice to slice."""
    drift: float = 0.0
    """From slice to slice."""
    heavy: bool = False
    comes_and_goes: float = 0.0
    """Standard deviation of the effect from round to round, with a memory of 0.5."""
    between: float = 0.0
    """The same from trial to trial."""
    carried: float = 0.0
    """Share of the effect of the slice before that is left a second later."""


A_A = (
    World("no memory", memory=0.0),
    World("memory 0.95", memory=0.95),
    World("memory 0.99, drift", memory=0.99, drift=0.0005),
    World("memory 0.9, heavy tails", memory=0.9, heavy=True),
)
WITH_AN_EFFECT = (
    World("2 %", effect=0.02),
    World("5 %", effect=0.05, drift=0.0005),
    World("5 %, comes and goes by 3 %", effect=0.05, comes_and_goes=0.03),
    World("5 %, differs between trials by 0.3 %", effect=0.05, between=0.003),
    World("5 %, differs between trials by 1 %", effect=0.05, between=0.01),
    World("5 %, differs between trials by 3 %", effect=0.05, between=0.03),
)
CARRIED = (
    World("none", effect=0.10),
    World("half after 1 s", effect=0.10, carried=0.5),
    World("a fifth after 1 s", effect=0.10, carried=0.2),
    World("none; 5 %, differs between trials by 3 %", effect=0.05, between=0.03),
)


def make_design(least: int, most: int, step_s: int, seed: int) -> Plan:
    """Two arms in slices of 1 s and of half a second."""
    text = "[factors.postgres]\nsynchronous_commit = ['on', 'off']\n"
    text += f"[load]\nstep = '{step_s}s'\n[design]\nmode = 'switchback'\n"
    text += f"min_blocks = {least}\nmax_blocks = {most}\nseed = {seed}\n"
    return make_plan(parse_spec(text, source="simulated", beside=Path()))


def make_trials(plan: Plan, world: World, source: np.random.Generator) -> list[TrialMeasures]:
    """One simulated experiment, all trials."""
    found = []
    for trial in plan.trials:
        arms = [arm for arms in rounds_of(plan, trial) for arm in arms]
        length, rounds = trial.slice_s or 1.0, len(arms) // 2
        host = HOST * _remembering(world.memory**length, len(arms), source)
        host = host + world.drift * length * (len(arms) * trial.block + np.arange(len(arms)))
        effects = np.repeat(
            world.effect
            + world.comes_and_goes * _remembering(0.5, rounds, source)
            + world.between * source.standard_normal(),
            2,
        )
        turns, felt = [], 0.0
        for at, arm in enumerate(arms):
            now = float(effects[at]) if arm == "a2" else 0.0
            parts = {}
            # Quarters of the slice that are kept: what is felt goes over from `felt` to `now`.
            for quarter in (1, 2, 3):
                left = world.carried ** (length * (quarter + 0.5) / 4) if world.carried else 0.0
                noise = source.standard_t(3) / math.sqrt(3) if world.heavy else source.normal()
                own = OWN / math.sqrt(length / 4) * noise
                parts[quarter] = 9.0 + host[at] + now + (felt - now) * left + own
            felt = now + (felt - now) * (world.carried**length if world.carried else 0.0)
            mean = float(np.mean([math.exp(value) for value in parts.values()]))
            turns.append(
                Turn(
                    at // 2,
                    arm,
                    at,
                    {"tps": mean},
                    {"tps": math.exp(parts[1])},
                    {"tps": math.exp(parts[3])},
                )
            )
        whole = StepMeasures(None, 0, 1, 1, {"tps": 1.0})
        found.append(
            TrialMeasures(trial.number, trial.block, 1, ALL_ARMS, whole, (), (), turns=tuple(turns))
        )
    return found


def _remembering(memory: float, count: int, source: np.random.Generator) -> np.ndarray:
    """An AR(1) series of variance 1."""
    noise = source.standard_normal(count + _SETTLE)
    series: np.ndarray = lfilter([math.sqrt(1 - memory**2)], [1.0, -memory], noise)[_SETTLE:]
    return series


def conclude(plan: Plan, trials: list[TrialMeasures]) -> tuple[Analysis, int]:
    """The analysis at the product's own stopping rule, and the block it was reached at."""
    for block in range(plan.min_blocks, plan.max_blocks + 1):
        analysis = analyse("?", plan, [trial for trial in trials if trial.block <= block])
        if analysis.may_end() or block == plan.max_blocks:
            return analysis, block
    raise AssertionError("a plan has at least one block")


@dataclass
class Counts:
    """Of many experiments of one world."""

    runs: int = 0
    different: int = 0
    equivalent: int = 0
    missed: int = 0
    """The 95 % interval does not hold the true effect."""
    carry_over: int = 0
    withdrawn: int = 0
    blocks: int = 0


def count(
    world: World, runs: int, least: int, most: int, step_s: int, first_seed: int = 0
) -> Counts:
    """Run so many experiments."""
    source = np.random.default_rng(first_seed + 7)
    found = Counts()
    truth = 100.0 * math.expm1(world.effect)
    for run in range(runs):
        plan = make_design(least, most, step_s, first_seed + run)
        analysis, block = conclude(plan, make_trials(plan, world, source))
        (verdict,) = analysis.verdicts()
        found.runs += 1
        found.blocks += block
        found.different += verdict.verdict in (Verdict.BETTER, Verdict.WORSE)
        found.equivalent += verdict.verdict is Verdict.EQUIVALENT
        low, high = verdict.ci95_pct or (-100.0, math.inf)
        found.missed += not low <= truth <= high
        found.carry_over += any(test.found for test in analysis.carry_over)
        found.withdrawn += any(test.outweighs for test in analysis.carry_over)
    return found


@dataclass(frozen=True)
class Part:
    """One table: every design with every world."""

    title: str
    designs: tuple[tuple[int, int, int], ...]
    """Least and most blocks, seconds of a step."""
    worlds: tuple[World, ...]
    columns: tuple[str, ...]


COLUMNS: dict[str, Callable[[Counts], str]] = {
    "called different": lambda n: rate(n.different, n.runs),
    "called equivalent": lambda n: rate(n.equivalent, n.runs),
    "interval misses the truth": lambda n: rate(n.missed, n.runs),
    "carry-over found": lambda n: rate(n.carry_over, n.runs),
    "verdict withdrawn": lambda n: rate(n.withdrawn, n.runs),
    "mean blocks": lambda n: f"{n.blocks / n.runs:.1f}",
}
_ERRORS = tuple(COLUMNS)
PARTS = (
    Part("Identical arms", ((4, 4, 16), (6, 6, 32), (4, 12, 16)), A_A, _ERRORS),
    Part("With an effect", ((4, 4, 32), (4, 12, 32)), WITH_AN_EFFECT, _ERRORS),
    Part(
        "An effect that outlasts its slice",
        ((4, 12, 32), (6, 6, 32), (12, 12, 32)),
        CARRIED,
        _ERRORS,
    ),
)


Task = tuple[int, int, int, int]
"""A part, a design of it, a world of it; experiments."""


def row_of(task: Task) -> list[str]:
    """One row; its worlds would not reach another process by themselves."""
    part = PARTS[task[0]]
    least, most, step_s = part.designs[task[1]]
    world = part.worlds[task[2]]
    found = count(world, task[3], least, most, step_s)
    blocks = str(least) if least == most else f"{least} to {most}"
    return [blocks, f"{step_s} s", world.name, *(COLUMNS[name](found) for name in part.columns)]


def tasks_of(at: int, runs: int) -> list[Task]:
    """Every design with every world."""
    part = PARTS[at]
    return [
        (at, design, world, runs)
        for design in range(len(part.designs))
        for world in range(len(part.worlds))
    ]


def main(runs: int) -> None:
    """Write the page."""
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}; {runs} experiments a row; slices of 1 s and of 0.5 s by"
        " turns of trials; a host that remembers, with a standard deviation of"
        f" {100 * HOST:g} %, and {100 * OWN:g} % of each second's own; smallest effect 2 %; an"
        " effect that outlasts its slice is one of 10 %. Made by `make validate`."
    )
    with ProcessPoolExecutor(2) as pool:
        sections = {
            part.title: table(
                ("blocks", "step", "world", *part.columns), pool.map(row_of, tasks_of(at, runs))
            )
            for at, part in enumerate(PARTS)
        }
    OUTPUT.write_text(page("Validation of switchback designs", about, sections), "utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
