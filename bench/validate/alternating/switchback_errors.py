"""Error rates of switchbacks: false positives, coverage, carry-over; `make validate`.

Enters: nothing. Leaves: docs/measured/validation-switchback.md. Never: touches a server.

Each experiment is a series of slices on a host whose speed is autocorrelated (AR(1) over slices),
with independent noise; the verdict is that of pgassay's own analysis.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

from bench import MEASURED
from bench.tables import Aim, page, rate, table
from bench.validate.looks import conclude
from bench.validate.parallel import spread
from pgassay.analysis.model import Answer, SliceMeasures, StepMeasures, TrialMeasures, Verdict
from pgassay.plan.design import make_plan
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.plan.switchback import rounds_of
from pgassay.spec.parse import parse_spec

OUTPUT = MEASURED / "validation-switchback.md"
ORDERS = 100
"""Orders of slices that are simulated, each with other noise every time."""
MARGIN = 0.02
"""The smallest effect that matters, if the spec does not say."""
HOST, OWN = 0.03, 0.02
"""Standard deviation of the host's memory, and of a second's own noise."""


@dataclass(frozen=True)
class World:
    """The simulated host and effect, as shares of throughput."""

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
    lasts_s: float = 0.0
    """The time constant with which an effect builds up and fades."""
    arms: int = 2
    """Every one but the first has the effect."""


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
    World("half left after 1 s", effect=0.10, lasts_s=1.44),
    World("a fifth left after 1 s", effect=0.10, lasts_s=0.62),
    World("none; 5 %, differs between trials by 3 %", effect=0.05, between=0.03),
)
SLOW = (
    World("no effect"),
    *(
        World(f"{100 * effect:g} %, time constant {lasts_s:g} s", effect=effect, lasts_s=lasts_s)
        for effect in (0.02, 0.03, 0.05)
        for lasts_s in (0.25, 1.0, 4.0)
    ),
)
THREE_ARMS = (
    World("memory 0.95", arms=3),
    World("memory 0.9, heavy tails", memory=0.9, heavy=True, arms=3),
    World("5 %", effect=0.05, drift=0.0005, arms=3),
    World("5 %, differs between trials by 1 %", effect=0.05, between=0.01, arms=3),
)


@cache
def make_design(least: int, most: int, step_s: int, seed: int, arms: int = 2) -> Plan:
    """Arms in slices of 1 s and of half a second."""
    levels = ["on", "off", "local"][:arms]
    text = f"[factors.postgres]\nsynchronous_commit = {levels}\n"
    text += f"[load]\nstep = '{step_s}s'\n[design]\nmode = 'switchback'\n"
    text += f"min_blocks = {least}\nmax_blocks = {most}\nseed = {seed}\n"
    return make_plan(parse_spec(text, source="simulated", beside=Path()))


def make_trials(plan: Plan, world: World, source: np.random.Generator) -> list[TrialMeasures]:
    """One simulated experiment, all trials."""
    return list(each_trial(plan, world, source))


def each_trial(plan: Plan, world: World, source: np.random.Generator) -> Iterator[TrialMeasures]:
    """The same, simulated one by one as the run needs them."""
    whole = StepMeasures(None, 0, 1, 1, {"tps": 1.0})
    size = len(plan.arms)
    for trial in plan.trials:
        arms = [arm for arms in rounds_of(plan, trial) for arm in arms]
        length = trial.slice_s or 1.0
        quarter = length / 4
        places = 4 * len(arms)
        host = HOST * _remembering(world.memory**quarter, places, source)
        host += world.drift * quarter * (places * trial.block + np.arange(places))
        effects = np.repeat(
            world.effect + world.comes_and_goes * _remembering(0.5, len(arms) // size, source), size
        )
        now = np.zeros(len(arms))
        for arm, luck in zip(plan.arms[1:], source.standard_normal(size - 1), strict=True):
            own_slices = np.array(arms) == arm.id
            now[own_slices] = effects[own_slices] + world.between * luck
        noise = (
            source.standard_t(3, places) / math.sqrt(3)
            if world.heavy
            else source.normal(size=places)
        )
        seen = (host + OWN / math.sqrt(quarter) * noise).reshape(len(arms), 4).T
        # The first quarter of a slice is cut off.
        tps = np.exp(9.0 + (seen + _felt(now, length, world.lasts_s))[1:])
        parts = np.vstack([tps.mean(axis=0), tps[0], tps[2]]).T.tolist()
        turns = tuple(
            SliceMeasures(at // size, arm, at, {"tps": mean}, {"tps": early}, {"tps": late})
            for at, (arm, (mean, early, late)) in enumerate(zip(arms, parts, strict=True))
        )
        yield TrialMeasures(trial.number, trial.block, 1, ALL_ARMS, whole, (), (), turns=turns)


def _felt(now: np.ndarray, length: float, lasts_s: float) -> np.ndarray:
    """The mean effect in each quarter of every slice, which moves from the one before to `now`."""
    if not lasts_s:
        return np.tile(now, (4, 1))
    left = math.exp(-length / lasts_s)
    at_end = lfilter([1.0 - left], [1.0, -left], now)
    before = np.concatenate([[0.0], at_end[:-1]])
    edges = np.exp(-length / lasts_s * np.arange(5) / 4)
    means = (edges[:-1] - edges[1:]) * 4 * lasts_s / length
    felt: np.ndarray = now + means[:, None] * (before - now)
    return felt


def _remembering(memory: float, count: int, source: np.random.Generator) -> np.ndarray:
    """An AR(1) series of variance 1."""
    noise = source.standard_normal(count)
    own = math.sqrt(1.0 - memory**2)
    noise[0] /= own  # stationary from the first value on
    series: np.ndarray = lfilter([own], [1.0, -memory], noise)
    return series


_DIFFERENT = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)
_INSIDE = (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)


@dataclass
class Counts:
    """Counts over many experiments of one world."""

    runs: int = 0
    different: int = 0
    equivalent: int = 0
    """Or negligible: within the margin."""
    missed: int = 0
    """The 95 % interval does not hold the true effect."""
    carry_over: int = 0
    withdrawn: int = 0
    blocks: int = 0

    @classmethod
    def of(cls, world: World, analysis: Answer, block: int) -> Counts:
        """Of one; of several verdicts it takes one that is so."""
        verdicts = analysis.verdicts()
        intervals = [verdict.ci95_pct or (-100.0, math.inf) for verdict in verdicts]
        truth = 100.0 * math.expm1(world.effect)
        return cls(
            runs=1,
            blocks=block,
            different=any(verdict.verdict in _DIFFERENT for verdict in verdicts),
            equivalent=any(verdict.verdict in _INSIDE for verdict in verdicts),
            missed=not all(low <= truth <= high for low, high in intervals),
            carry_over=any(test.found for test in analysis.carry_over),
            withdrawn=any(test.outweighs for test in analysis.carry_over),
        )

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            *(one + more for one, more in zip(astuple(self), astuple(other), strict=True))
        )


def count(
    world: World, runs: int, least: int, most: int, step_s: int, first_seed: int = 0
) -> Counts:
    """Run so many experiments."""
    source = np.random.default_rng(first_seed + 7)
    found = Counts()
    for run in range(runs):
        plan = make_design(least, most, step_s, (first_seed + run) % ORDERS, world.arms)
        found += Counts.of(world, *conclude(plan, each_trial(plan, world, source)))
    return found


@dataclass(frozen=True)
class Part:
    """One table: every design with every world."""

    title: str
    designs: tuple[tuple[int, int, int], ...]
    """Least and most blocks, seconds of a step."""
    worlds: tuple[World, ...]
    times: int = 1
    """How many times as many experiments as in other parts."""


@dataclass(frozen=True)
class Wanted:
    """The range that a row should show, where it is known beforehand."""

    different: Aim | None
    equivalent: Aim | None
    missed: Aim | None


def wanted(world: World, *, fixed: bool) -> Wanted:
    """5 % of false differences and of intervals at most; at a fixed number no fewer than 3 %.

    Of effects that reach the margin 5 % at most are called equivalent, in every world; without an
    effect nobody knows how many can be.
    """
    equivalent = Aim(0.0, 5.0) if world.effect >= MARGIN else None
    if world.lasts_s:
        return Wanted(None, equivalent, None)
    # Intervals that hold together by Bonferroni's rule miss less often than they may.
    missed = Aim(3.0 if world.arms == 2 else 0.0, 7.0) if fixed else Aim(0.0, 5.0)
    return Wanted(None if world.effect else Aim(0.0, 5.0), equivalent, missed)


COLUMNS: dict[str, Callable[[Counts, Wanted], str]] = {
    "called different": lambda n, w: rate(n.different, n.runs, w.different),
    "called equivalent or negligible": lambda n, w: rate(n.equivalent, n.runs, w.equivalent),
    "interval misses the truth": lambda n, w: rate(n.missed, n.runs, w.missed),
    "carry-over found": lambda n, w: rate(n.carry_over, n.runs),
    "verdict withdrawn": lambda n, w: rate(n.withdrawn, n.runs),
    "mean blocks": lambda n, w: f"{n.blocks / n.runs:.1f}",
}
WANTED = (
    "Target: identical arms called different in 5 % or less (meaningful or negligible); effects of"
    " 2 % or more called equivalent or negligible in 5 % or less, however slowly they build up;"
    " intervals miss the truth in 3 to 7 % with a fixed number of blocks, in 5 % or less where a"
    " run may stop."
)
OF_MORE = (
    "With three arms two are compared with the first, and a false difference of either counts;"
    " intervals hold together, and miss in 7 % or less with a fixed number of blocks."
)
USUAL = (4, 24, 60)
"""What a spec gets that says nothing of it."""
PARTS = (
    Part("Identical arms", ((4, 4, 16), (6, 6, 32), USUAL), A_A),
    Part("With an effect", ((4, 4, 32), USUAL), WITH_AN_EFFECT),
    Part("Effects that build up slowly", (USUAL,), SLOW, times=2),
    Part("A large effect that outlasts its slice", ((6, 6, 32), (12, 12, 32), USUAL), CARRIED),
    Part("Three arms, everything of either comparison", ((6, 6, 32), USUAL), THREE_ARMS),
)


Task = tuple[int, int, int, int]
"""A part, a design of it, a world of it; experiments. Its worlds would not reach another process
by themselves."""


def row_of(task: Task) -> list[str]:
    """One row."""
    part = PARTS[task[0]]
    least, most, step_s = part.designs[task[1]]
    world = part.worlds[task[2]]
    found = count(world, task[3], least, most, step_s)
    blocks = str(least) if least == most else f"{least} to {most}"
    aims = wanted(world, fixed=least == most)
    shares = (tell(found, aims) for tell in COLUMNS.values())
    return [blocks, f"{step_s} s", world.name, *shares]


def cost(task: Task) -> float:
    """The largest number of trials."""
    _, most, _ = PARTS[task[0]].designs[task[1]]
    return float(most * task[3])


def tasks(runs: int) -> list[Task]:
    """Of all parts, every design with every world."""
    return [
        (at, design, world, runs * part.times)
        for at, part in enumerate(PARTS)
        for design in range(len(part.designs))
        for world in range(len(part.worlds))
    ]


def main(runs: int = 1000) -> None:
    """Write the page."""
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}; {runs} experiments a row, {2 * runs} where effects build up"
        " slowly; slices of 1 s and of 0.5 s in alternate trials, and from the fifth trial on of a"
        " tenth of the step where there may be 12 trials or more; the host's speed is"
        f" autocorrelated with a standard deviation of {100 * HOST:g} %, with {100 * OWN:g} % of"
        f" independent noise a second; smallest effect {100 * MARGIN:g} %; a large effect that"
        f" outlasts its slice is one of 10 %. {WANTED} {OF_MORE} Made by `make validate`."
    )
    every = tasks(runs)
    rows = list(spread(row_of, every, cost))
    sections = {
        part.title: table(
            ("blocks", "step", "world", *COLUMNS),
            (row for row, task in zip(rows, every, strict=True) if task[0] == at),
        )
        for at, part in enumerate(PARTS)
    }
    OUTPUT.write_text(page("Validation of switchback designs", about, sections), "utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
