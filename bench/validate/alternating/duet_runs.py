"""Simulated duets, quickly: many runs of one plan at once, judged by pgassay's own estimates.

Enters: a plan, a world. Leaves: for each run the verdicts, intervals and carry-over tests at the
block at which it ends. Never: decides anything itself: a test compares it with the whole analysis.

The whole analysis works on slices, one by one, and repeats the looks before; here slices are arrays
and every look is taken once.

The host is that of `switchback_errors.py`: its speed is autocorrelated, with independent noise. The
starts of a trial shift the effect of all its rounds by the same amount; a directory makes whichever
arm is in it faster, in every trial of the run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from bench.validate.alternating.switchback_errors import HOST, OWN, Counts
from pgassay.analysis.compare.alternating.carry_over import (
    Judged,
    Rounds,
    at_a_look,
    kept_found,
    outweighed,
    suspected,
)
from pgassay.analysis.compare.alternating.slice_before import products
from pgassay.analysis.compare.blocks.contrasts import BlockTable, main_effect
from pgassay.analysis.compare.levels import judge_levels
from pgassay.analysis.compare.model import CarryOver, Comparison, Subject, Verdict
from pgassay.analysis.compare.rule import Rule, rule_of
from pgassay.analysis.compare.step_down import Reached
from pgassay.analysis.model import SliceMeasures, StepMeasures, TrialMeasures
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.plan.switchback import rounds_of

Array = NDArray[np.float64]
MEMORY = 0.9
"""Of the host, from second to second."""


@dataclass(frozen=True)
class World:
    """What is true in the simulated runs, as shares of throughput."""

    effect: float = 0.0
    """Of every arm but the first."""
    starts: float = 0.0
    """Standard deviation of the effect from trial to trial."""
    directories: float = 0.0
    """By how much the last directory is faster than the first, those between in equal parts."""
    exchanged: bool = True
    """Whether the arms exchange directories as planned; else each keeps its own."""


@dataclass(frozen=True)
class Runs:
    """Simulated runs of one plan: logarithms of throughput by run, round and arm."""

    whole: Array
    early: Array
    late: Array


@dataclass(frozen=True)
class Design:
    """A plan, with everything that is the same in all runs of it."""

    plan: Plan

    @cached_property
    def orders(self) -> list[NDArray[np.int64]]:
        """Of each trial: the places of the arms, slice by slice."""
        at = {arm.id: place for place, arm in enumerate(self.plan.arms)}
        return [
            np.array([[at[arm] for arm in one] for one in rounds_of(self.plan, trial)])
            for trial in self.plan.trials
        ]

    @cached_property
    def blocks(self) -> NDArray[np.int64]:
        """Of each round, over all trials: its block."""
        sizes = [len(order) for order in self.orders]
        return np.repeat([trial.block for trial in self.plan.trials], sizes)

    @cached_property
    def rule(self) -> Rule:
        """How verdicts are reached."""
        return rule_of(self.plan)

    @cached_property
    def judged(self) -> list[Judged]:
        """Every level, for the tests of carry-over."""
        found, trials = [], self.measures(np.zeros((len(self.blocks), len(self.plan.arms), 3)))
        for factor in self.plan.factors:
            for level in factor.levels[1:]:
                weights = main_effect(self.plan, factor, level)
                before = products(self.plan, trials, weights)
                found.append(Judged(factor.name, level, weights, before))
        return found

    def simulate(self, world: World, runs: int, source: np.random.Generator) -> Runs:
        """So many runs, up to the last block."""
        parts: list[list[Array]] = [[], [], []]
        arms = self.plan.arms
        for trial, order in zip(self.plan.trials, self.orders, strict=True):
            length, slices = trial.slice_s or 1.0, order.size
            effects = np.zeros((runs, len(arms)))
            effects[:, 1:] = world.effect
            effects[:, 1:] += world.starts * source.standard_normal((runs, len(arms) - 1))
            for place, arm in enumerate(arms):
                number = trial.directories[arm.id] if world.exchanged else place + 1
                effects[:, place] += world.directories * (number - 1) / (len(arms) - 1)
            host = HOST * _remembering(MEMORY**length, (runs, slices), source)
            own = OWN / math.sqrt(length / 4) * source.standard_normal((3, runs, slices))
            quarters = host + effects[:, order.ravel()] + own
            # From the order of slices to that of arms, round by round.
            places = (
                np.argsort(order, axis=1) + len(arms) * np.arange(len(order))[:, None]
            ).ravel()
            found = (np.log(np.exp(quarters).mean(axis=0)), quarters[0], quarters[2])
            for part, values in zip(parts, found, strict=True):
                part.append(values[:, places].reshape(runs, len(order), len(arms)))
        return Runs(*(np.concatenate(part, axis=1) for part in parts))

    def measures(self, values: Array) -> list[TrialMeasures]:
        """One run as the whole analysis takes it, from its rounds: whole, early and late."""
        whole, first, found = StepMeasures(None, 0, 1, 1, {"tps": 1.0}), 0, []
        for trial, order in zip(self.plan.trials, self.orders, strict=True):
            turns: list[SliceMeasures] = []
            for at, arms in enumerate(order):
                for place in arms:
                    parts = [{"tps": math.exp(one)} for one in values[first + at, place]]
                    arm = self.plan.arms[place].id
                    turns.append(SliceMeasures(at, arm, len(turns), parts[0], parts[1], parts[2]))
            first += len(order)
            found.append(
                TrialMeasures(
                    trial.number, trial.block, 1, ALL_ARMS, whole, (), (), turns=tuple(turns)
                )
            )
        return found

    def conclude(self, runs: Runs, run: int) -> Conclusion:
        """Look at a run as `pgassay run` does, until it ends."""
        plan, carried = self.plan, dict[tuple[str, str, str], CarryOver]()
        trials = self._up_to(plan.last_block, runs, run).whole.by_trial()
        verdicts, reached = list[Comparison](), Reached[Subject]()
        for block in filter(plan.may_stop_after, range(1, plan.last_block + 1)):
            rounds = self._up_to(block, runs, run)
            verdicts, reached = judge_levels(plan, self.rule, {None: trials}, [block], reached)
            for test in at_a_look(plan, rounds, self.judged, block):
                subject = (test.factor, test.level, test.test.value)
                carried[subject] = kept_found(test, carried.get(subject))
            tests = [*carried.values()]
            taken = outweighed(tests)
            open_ = (
                one.verdict is Verdict.UNDECIDED and (one.factor, one.level) not in taken
                for one in verdicts
            )
            if not any(open_) and not suspected(tests) - taken:
                break
        return Conclusion(verdicts, [*carried.values()], taken, block)

    def _up_to(self, block: int, runs: Runs, run: int) -> Rounds:
        last = int(np.searchsorted(self.blocks, block, side="right"))
        numbers, blocks = tuple(range(1, last + 1)), self.blocks[:last]
        parts = (runs.whole, runs.early, runs.late)
        return Rounds(*(BlockTable(numbers, part[run, :last], blocks) for part in parts))


_DIFFERENT = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)


@dataclass(frozen=True)
class Conclusion:
    """What one run has found where it ends."""

    compared: Sequence[Comparison]
    carried: Sequence[CarryOver]
    withdrawn: set[tuple[str, str]]
    block: int

    def verdicts(self) -> Iterator[Verdict]:
        """Without those that carry-over withdraws."""
        for one in self.compared:
            is_withdrawn = (one.factor, one.level) in self.withdrawn
            yield Verdict.UNDECIDED if is_withdrawn else one.verdict

    def counts(self, effect: float) -> Counts:
        """Of several verdicts it takes one that is so."""
        verdicts, truth = [*self.verdicts()], 100.0 * math.expm1(effect)
        intervals = [one.ci95_pct or (-100.0, math.inf) for one in self.compared]
        return Counts(
            runs=1,
            blocks=self.block,
            different=any(one in _DIFFERENT for one in verdicts),
            equivalent=Verdict.EQUIVALENT in verdicts,
            missed=not all(low <= truth <= high for low, high in intervals),
            carry_over=any(one.found for one in self.carried),
            withdrawn=bool(self.withdrawn),
        )


def _remembering(memory: float, shape: tuple[int, int], source: np.random.Generator) -> Array:
    """AR(1) series of variance 1, one in each row."""
    own = math.sqrt(1.0 - memory**2)
    noise = source.standard_normal(shape)
    noise[:, 0] /= own  # stationary from the first value on
    series: Array = lfilter([own], [1.0, -memory], noise, axis=1)
    return series
