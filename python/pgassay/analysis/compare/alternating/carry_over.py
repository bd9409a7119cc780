"""Tests for carry-over: an effect that outlasts its slice and leaks into the next arm's.

Enters: the trials of a switchback or duet, their verdicts. Leaves: three tests per verdict, their
caveats, the levels whose verdict carry-over may have caused. Never: corrects an effect.

By the slice before (`slice_before.py`): the effect after a slice of the same arm against after
another. Within slices: the effect early against late. By length: carry-over weighs twice as much in
slices of half the length. docs/methods/verdicts.md, "Switchback".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.alternating.rounds import Spread, by_block, spread_of_rounds
from pgassay.analysis.compare.alternating.slice_before import dilution, of_rounds, products
from pgassay.analysis.compare.blocks.contrasts import BlockTable, Vector, all_rounds, main_effect
from pgassay.analysis.compare.model import CarryOver, CarryOverTest, Comparison
from pgassay.analysis.measures.model import Caveat, TrialMeasures
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.sequential import level_at
from pgassay.analysis.statistics.values import ratio_pct
from pgassay.notes import Note, Term, Value
from pgassay.plan.model import Plan

Blocks = NDArray[np.int64]

_LEVEL = 0.05
_OUTWEIGHS = 0.5
"""Share of the effect, or of the margin, from which carry-over may have caused the verdict."""
_TRANSIENT = (CarryOverTest.BEFORE, CarryOverTest.WITHIN)
"""Tests inside trials, for which a few trials suffice."""
_SUSPECTED = 0.67
"""A one-sided normal score that chance exceeds in one look of four."""


def carry_over(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    comparisons: Sequence[Comparison],
    earlier: Sequence[CarryOver] | None = None,
) -> tuple[CarryOver, ...]:
    """Runs all tests for every verdict of a switchback or duet.

    They are computed after every block at which the run could have ended, and what one look finds
    stays found; otherwise a run would go on until chance hides it. So the looks share their error.
    `earlier` are the tests of the look before, with all that it and the looks before it found.
    """
    if not plan.alternates or not trials:
        return ()
    verdicts = [Judged.of(c, plan, trials) for c in comparisons if c.metric == plan.metric]
    rounds = Rounds.of(plan, trials)
    ran = sorted({trial.block for trial in trials})

    def at(block: int) -> Iterator[CarryOver]:
        last = max(one for one in ran if one <= block)
        return at_a_look(plan, rounds.up_to(block), verdicts, last)

    now = list(at(ran[-1]))
    if earlier is not None:
        before = {_subject(test): test for test in earlier}
        return tuple(kept_found(test, before.get(_subject(test))) for test in now)
    for block in filter(plan.may_stop_after, range(ran[-1] - 1, ran[0] - 1, -1)):
        then = {_subject(test): test for test in at(block)}
        now = [kept_found(test, then.get(_subject(test))) for test in now]
    return tuple(now)


def outweighed(tests: Sequence[CarryOver]) -> set[tuple[str, str]]:
    """Returns (factor, level) of the verdicts that carry-over may have caused or hidden."""
    return {(test.factor, test.level) for test in tests if test.outweighs}


def suspected(tests: Sequence[CarryOver]) -> set[tuple[str, str]]:
    """Returns (factor, level) for which the run should go on although its verdict is reached.

    The tests need not be significant: more trials are worth while where the effect is smaller
    wherever carry-over would make it smaller, by more than chance gives in one look of four.
    """
    scores: dict[tuple[str, str], list[float]] = {}
    for test in tests:
        if test.test in _TRANSIENT and test.p is not None:
            scores.setdefault((test.factor, test.level), []).append(_dilution_score(test))
    return {level for level, own in scores.items() if sum(own) / math.sqrt(len(own)) > _SUSPECTED}


def _dilution_score(test: CarryOver) -> float:
    """Standard normal without carry-over; positive where another arm's slice makes the effect
    smaller."""
    shrinks = test.difference_pct * (1.0 if test.test is CarryOverTest.BEFORE else -1.0)
    size = abs(float(special.ndtri(max(test.p or 0.0, 1e-300) / 2.0)))
    return math.copysign(size, shrinks * (test.first_pct + test.second_pct))


def carry_over_caveats(tests: Sequence[CarryOver]) -> Iterator[Caveat]:
    """Makes one caveat per test that found carry-over."""
    for test in tests:
        if not test.found:
            continue
        values: dict[str, Value] = {
            "factor": test.factor,
            "level": test.level,
            "test": Term(test.test.value),
            "first": test.first_pct,
            "second": test.second_pct,
            "blocks": Note("analysis/compare/blocks", {"n": test.found_after or 0}),
        }
        yield Caveat.of("carry-over", Note(_CARRY_OVER[test.outweighs], values))


_CARRY_OVER = {True: "analysis/compare/outweighing", False: "analysis/compare/carried-over"}
"""Whether it is enough to cause or hide a verdict."""


def _subject(test: CarryOver) -> tuple[str, str, CarryOverTest]:
    return test.factor, test.level, test.test


def kept_found(now: CarryOver, before: CarryOver | None) -> CarryOver:
    """Returns this look's figures, with a carry-over that an earlier look found."""
    if before is None or not before.found:
        return now
    return replace(
        now, found=True, outweighs=now.outweighs or before.outweighs, found_after=before.found_after
    )


@dataclass(frozen=True)
class Rounds:
    """The rounds of the trials, with the whole, the early and the late part of their slices."""

    whole: BlockTable
    early: BlockTable
    late: BlockTable

    @classmethod
    def of(cls, plan: Plan, trials: Sequence[TrialMeasures]) -> Rounds:
        """Makes the rounds of all trials; each look uses those up to its block."""
        metric = METRICS[plan.metric]
        parts = _steady(metric)
        return cls(
            all_rounds(metric, trials, plan),
            all_rounds(parts, trials, plan, "early"),
            all_rounds(parts, trials, plan, "late"),
        )

    def up_to(self, block: int) -> Rounds:
        """Keeps the first blocks, of trials with enough rounds to estimate their spread."""
        tables = (self.whole, self.early, self.late)
        return Rounds(*(table.up_to(block).with_enough_rounds() for table in tables))


@dataclass(frozen=True)
class Judged:
    """A verdict's level, with its contrast."""

    factor: str
    level: str
    weights: Vector
    before: Vector
    """`products` of the weights."""

    @classmethod
    def of(cls, verdict: Comparison, plan: Plan, trials: Sequence[TrialMeasures]) -> Judged:
        factor = next(f for f in plan.factors if f.name == verdict.factor)
        weights = main_effect(plan, factor, verdict.level)
        return cls(verdict.factor, verdict.level, weights, products(plan, trials, weights))


@dataclass(frozen=True)
class _Look:
    """What all tests of a level at one look share."""

    judged: Judged
    blocks: int
    significance: float
    weighed: float
    """The effect, or the margin where that is larger, in logarithms."""


def at_a_look(
    plan: Plan, rounds: Rounds, verdicts: Sequence[Judged], last: int
) -> Iterator[CarryOver]:
    """Runs all tests for every verdict, on the trials up to this block."""
    looks = [look for look in range(1, plan.last_block + 1) if plan.may_stop_after(look)]
    shared = _LEVEL / max(1, len(CarryOverTest) * len(verdicts))
    table = rounds.whole
    if table.trials is None or not table.blocks:
        return
    for judged in verdicts:
        values = table.of(judged.weights)
        effect = abs(spread_of_rounds(values, table.trials).mean)
        weighed = max(plan.smallest_effect, effect)
        look = _Look(judged, last, level_at(last, shared, looks), weighed)
        after = of_rounds(table, judged.before, judged.weights)
        if after is not None:
            estimates = (after.same, after.other, after.spread)
            yield _result(CarryOverTest.BEFORE, look, *estimates, counts=dilution(plan))
        for test, pair in (
            (CarryOverTest.WITHIN, _within(rounds.early, rounds.late, judged.weights)),
            (CarryOverTest.LENGTH, _by_length(plan, values, table.trials)),
        ):
            if pair is not None:
                yield _result(test, look, *pair)


def _steady(metric: Metric) -> Metric:
    """Throughput, or else the mean latency: a quarter of a slice is too short for quantiles."""
    kind = metric.name.partition("_")[0]
    return metric if metric.name == "tps" else METRICS[f"{kind}_mean"]


def _within(
    early: BlockTable, late: BlockTable, weights: Vector
) -> tuple[float, float, Spread] | None:
    both = sorted(set(early.blocks) & set(late.blocks))
    tables = [table.only(both).with_enough_rounds() for table in (early, late)]
    if not both or tables[0].trials is None:
        return None
    first, second = (table.of(weights) for table in tables)
    spread = spread_of_rounds(first - second, tables[0].trials)
    return float(first.mean()), float(second.mean()), spread


def _by_length(plan: Plan, values: Vector, trials: Blocks) -> tuple[float, float, Spread] | None:
    """Student's t of trials with the longest slices so far against the others, pooled spread.

    An effect may differ between trials by far more than the rounds of one trial show.
    """
    length = {t.block: t.slice_s or 0.0 for t in plan.trials}
    lengths = np.array([length[int(block)] for block in np.unique(trials)])
    is_long = lengths == lengths.max()
    if is_long.all() or not is_long.any():
        return None
    means = by_block(values, trials)
    groups = means[is_long], means[~is_long]
    first, second = (float(group.mean()) for group in groups)
    freedom = len(means) - 2
    squares = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    error = None
    if freedom > 0 and squares > 0.0:
        error = math.sqrt(squares / freedom * sum(1.0 / len(group) for group in groups))
    return first, second, Spread(first - second, error, freedom + 1.0)


def _result(
    test: CarryOverTest,
    look: _Look,
    first: float,
    second: float,
    spread: Spread,
    *,
    counts: float = 1.0,
) -> CarryOver:
    """The result of one test; `counts` is by what share of the difference the effect is diluted."""
    p, interval = None, None
    if spread.error is not None:
        freedom = spread.units - 1.0
        p = float(2 * special.stdtr(freedom, -abs(spread.mean) / spread.error))
        reach = float(special.stdtrit(freedom, 0.975)) * spread.error
        interval = ratio_pct(spread.mean - reach), ratio_pct(spread.mean + reach)
    found = p is not None and p < look.significance
    return CarryOver(
        factor=look.judged.factor,
        level=look.judged.level,
        test=test,
        first_pct=ratio_pct(first),
        second_pct=ratio_pct(second),
        difference_pct=ratio_pct(spread.mean),
        ci95_pct=interval,
        p=p,
        found=found,
        outweighs=found and counts * abs(spread.mean) >= _OUTWEIGHS * look.weighed,
        found_after=look.blocks if found else None,
    )
