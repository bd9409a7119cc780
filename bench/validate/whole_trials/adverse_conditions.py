"""Error rates, coverage and power where trials break the usual assumptions; `make validate`.

Enters: nothing. Leaves: docs/measured/validation-adverse.md. Never: touches a server.

Whole trials are drawn directly, one number each: what they do wrong (rare slow trials, heavy tails,
a noisier level, memory from trial to trial, drift, a slow first trial) matters, not their seconds.
The verdicts are those of pgassay's own analysis and stopping rules.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product

import numpy as np
from scipy.signal import lfilter

from bench import MEASURED
from bench.tables import Aim, page, rate, table
from bench.validate import looks
from bench.validate.parallel import spread
from bench.validate.whole_trials.adverse import endpoint_errors, long_runs, several_levels
from bench.validate.whole_trials.false_positives import LARGE, MARGIN, Rule, plan_of
from bench.validate.whole_trials.trial_worlds import Array
from pgassay.analysis.compare.early_end import adjusted_for_early_end
from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.model import StepMeasures, TrialMeasures, Verdict
from pgassay.plan.model import Plan

OUTPUT = MEASURED / "validation-adverse.md"
PART = 100
"""Experiments that share a generator, and orders of arms that there are."""
SCATTER = 0.015
"""Standard deviation of a trial, unless a world says otherwise."""
RULES = (*(Rule(f"{n} blocks", n, n) for n in (4, 6)), Rule("6 to 24, any block", 6, 24))
_EFFECTS = ("effects_in_10000ths", "adjusted_in_10000ths")
_OTHER = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)
_SAME = (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)


@dataclass(frozen=True)
class World:
    """What is wrong with the trials of a run; shares of throughput."""

    name: str
    scatter: float = SCATTER
    rarely_slow: float = 0.0
    """Of one trial in ten, how much slower it is."""
    heavy: bool = False
    """Student's t of three degrees of freedom in place of a normal law."""
    level_scatter: float = 1.0
    """How much more the other levels' trials scatter than the baseline's."""
    memory: float = 0.0
    """Lag-one autocorrelation from trial to trial."""
    wave: float = 0.0
    """Amplitude of a wave whose period is 48 trials."""
    drift: float = 0.0
    """From trial to trial."""
    slow_first: float = 0.0
    """How much slower the first trial of a block is."""


WORLDS = (
    World("normal"),
    World("one trial of ten is 8 % slower", rarely_slow=0.08),
    World("t3", heavy=True),
    World("the other level scatters three times as much", level_scatter=3.0),
    World("memory of 0.5 from trial to trial", memory=0.5),
    World("a wave of 10 % over 48 trials", wave=0.10),
    World("drift of 2 % a trial, scatter 0.5 %", scatter=0.005, drift=0.02),
    World("a block's first trial is 3 % slower, scatter 0.5 %", scatter=0.005, slow_first=0.03),
)
LEVELS = (2, 3)


def noise(world: World, plan: Plan, source: np.random.Generator) -> Array:
    """The logarithm of throughput of every planned trial, but for the effect of its arm."""
    count = len(plan.trials)
    own = source.standard_t(3, count) / math.sqrt(3.0) if world.heavy else source.normal(size=count)
    if world.memory:
        fresh = math.sqrt(1.0 - world.memory**2)
        own[0] /= fresh
        own = lfilter([fresh], [1.0, -world.memory], own)
    others = np.array([trial.arm != plan.arms[0].id for trial in plan.trials])
    first = np.array([trial.position == 1 for trial in plan.trials])
    numbers = np.arange(count)
    found: Array = world.scatter * own * np.where(others, world.level_scatter, 1.0)
    found -= world.rarely_slow * (source.random(count) < 0.1)
    found += world.wave * np.sin(2 * math.pi * (numbers / 48 + source.random()))
    found += world.drift * numbers - world.slow_first * first
    return found


def trials_of(plan: Plan, values: Array, effect: float) -> Iterator[TrialMeasures]:
    """One simulated experiment; only the first level after the baseline has the effect."""
    for trial, value in zip(plan.trials, values.tolist(), strict=True):
        gain = math.log1p(effect) if trial.arm == plan.arms[1].id else 0.0
        step = StepMeasures(None, 0, 1, 1, {"tps": math.exp(9.0 + value + gain)})
        yield TrialMeasures(trial.number, trial.block, trial.position, trial.arm, step, (), ())


Tally = Counter[str]
Case = tuple[int, int, int, float]
"""Places of the world, the number of levels and the rule; the effect."""
Task = tuple[Case, int]
"""A case, and its part."""


def do(task: Task) -> Tally:
    """Experiments of one part of one case."""
    (world, levels, rule_at, effect), part = task
    rule = RULES[rule_at]
    source = np.random.default_rng([part, world, levels])
    found = Tally()
    for seed in range(PART):
        plan = plan_of(rule, seed, LEVELS[levels])
        values = noise(WORLDS[world], plan, source)
        analysis, block = looks.conclude(plan, trials_of(plan, values, effect))
        verdicts = analysis.verdicts()
        if effect:
            verdicts = adjusted_for_early_end(verdicts, plan, rule_of(plan))
        truths = [100.0 * effect] + [0.0] * (len(verdicts) - 1)
        intervals = [v.ci95_pct or (-100.0, math.inf) for v in verdicts]
        first = verdicts[0]
        better = first.verdict is Verdict.BETTER
        found.update(
            runs=1,
            blocks=block,
            different=any(v.verdict in _OTHER for v in verdicts),
            wrongly=any(v.verdict in _OTHER for v in verdicts[bool(effect) :]),
            same=first.verdict in _SAME,
            better=better,
            holds=all(lo <= t <= hi for t, (lo, hi) in zip(truths, intervals, strict=True)),
        )
        if better and first.effect_pct is not None:
            adjusted = first.effect_adjusted_pct or first.effect_pct
            found["effects_in_10000ths"] += round(100 * first.effect_pct)
            found["adjusted_in_10000ths"] += round(100 * adjusted)
    return found


def cases() -> Iterator[Case]:
    """Every world, number of levels, rule and effect."""
    effects = (0.0, MARGIN, LARGE)
    yield from product(range(len(WORLDS)), range(len(LEVELS)), range(len(RULES)), effects)


def parts(case: Case, runs: int) -> int:
    """How often 5 % is found is no rate of errors, and needs fewer experiments."""
    return max(1, runs // (4 * PART if case[3] == LARGE else PART))


def cost(task: Task) -> float:
    """The most blocks of a run."""
    return float(RULES[task[0][2]].most)


def simulate(runs: int) -> dict[Case, Tally]:
    """Sums over all parts."""
    every = [(case, part) for case in cases() for part in range(parts(case, runs))]
    sums: dict[Case, Tally] = {case: Tally() for case in cases()}
    for (case, _), tally in zip(every, spread(do, every, cost), strict=True):
        sums[case].update(tally)
    return sums


def rows_of(found: Mapping[Case, Tally], levels: int) -> Iterator[list[str]]:
    """Each world with every rule."""
    for world, rule in product(range(len(WORLDS)), range(len(RULES))):
        none, margin, large = (found[world, levels, rule, e] for e in (0.0, MARGIN, LARGE))
        inflated = "–"
        if margin["better"]:
            means = (margin[sums] / margin["better"] / 100 for sums in _EFFECTS)
            inflated = " / ".join(f"{mean:.2f} %" for mean in means)
        yield [
            WORLDS[world].name,
            RULES[rule].name,
            rate(none["different"], none["runs"], Aim(0.0, 6.4)),
            rate(none["holds"], none["runs"], Aim(93.6, 100.0)),
            rate(margin["same"], margin["runs"], Aim(0.0, 5.0)),
            f"{100 * margin['better'] / margin['runs']:.0f} %",
            f"{100 * large['better'] / large['runs']:.0f} %",
            f"{none['blocks'] / none['runs']:.1f} / {margin['blocks'] / margin['runs']:.1f}",
            inflated,
        ]


def main(runs: int = 2000) -> None:
    """Write the page."""
    found = simulate(runs)
    about = (
        f"{runs} experiments a row, a quarter as many with an effect of 5 %,"
        f" {datetime.now(UTC):%Y-%m-%d}. Trials scatter by {100 * SCATTER:g} % unless a world says"
        f" otherwise; the smallest effect is {100 * MARGIN:g} %. In brackets the 95 % interval of"
        " the share. Wanted: 6.4 % or less of identical arms called different, with three levels of"
        " either comparison; intervals that hold in 93.6 % or more; an effect of the size of the"
        " margin called equivalent in 5 % or less. **Missed** stands where the interval of the"
        " share lies outside of that. The last column is the mean effect of the runs that called"
        " an effect of 2 % better, as measured and adjusted for an early end: a run that may end"
        " early ends sooner where chance enlarged the effect. Made by `make validate`"
        " (`bench/validate/whole_trials/adverse_conditions.py`)."
    )
    head = ("world", "runs end", "identical called different", "interval holds",
            "2 % called equivalent", "2 % found", "5 % found", "mean blocks, none / 2 %",
            "effect where 2 % is found, measured / adjusted")  # fmt: skip
    sections = {
        f"{count} levels": table(head, rows_of(found, at)) for at, count in enumerate(LEVELS)
    }
    sections |= several_levels.sections(runs) | endpoint_errors.sections(runs)
    sections |= long_runs.sections(runs)
    OUTPUT.write_text(page("Validation under adverse conditions", about, sections), "utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
