"""How often sets of queries have a false claim, hold the truth, and find true changes.

Enters: nothing. Leaves: docs/measured/validation-queries.md. Never: touches a server.

Every trial has a time of each query; the sets go through the product's own analysis, with its
orders of arms. What disturbs a trial in part disturbs all of its queries.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from bench import MEASURED
from bench.tables import Aim, page, rate, table
from bench.validate.parallel import counted
from bench.validate.whole_trials.false_positives import Rule, plan_of
from pgassay.analysis.compare.model import SAME, Verdict
from pgassay.analysis.queries.effects import query_set
from pgassay.analysis.queries.model import QuerySet, TrialQueries
from pgassay.plan.model import Plan

OUTPUT = MEASURED / "validation-queries.md"
Array = NDArray[np.float64]
SCATTER = 0.03
"""Standard deviation of a query's time from trial to trial, as a share."""
MARGIN = 0.1
PART = 50
"""Sets that share a generator."""
CHANGED = 5
"""Queries with a true change, where there is one."""
FIXED = tuple(Rule(f"{n} blocks", n, n) for n in (6, 8, 12))
SEQUENTIAL = Rule("6 to 12, after every block", 6, 12)
_AIM = Aim(0.0, 5.0)


def _normal(source: np.random.Generator, trials: int, queries: int) -> Array:
    return SCATTER * source.standard_normal((trials, queries))


def _unequal(source: np.random.Generator, trials: int, queries: int) -> Array:
    spread = SCATTER * np.exp(0.7 * source.standard_normal(queries))
    return spread * source.standard_normal((trials, queries))


def _two_kinds(source: np.random.Generator, trials: int, queries: int) -> Array:
    spread = np.where(np.arange(queries) < 2, 10.0 * SCATTER, SCATTER / 2)
    return spread * source.standard_normal((trials, queries))


def _heavy(source: np.random.Generator, trials: int, queries: int) -> Array:
    return SCATTER / math.sqrt(3) * source.standard_t(3, (trials, queries))


def _skewed(source: np.random.Generator, trials: int, queries: int) -> Array:
    return SCATTER * np.exp(source.standard_normal((trials, queries)))


def _drift(source: np.random.Generator, trials: int, queries: int) -> Array:
    """All queries slow down, unequally; what disturbs a trial lasts for some of them."""
    slope = 0.01 * np.exp(0.5 * source.standard_normal(queries))
    slow = np.zeros(trials)
    for at in range(1, trials):
        slow[at] = 0.7 * slow[at - 1] + 0.02 * source.standard_normal()
    return np.arange(trials)[:, None] * slope + slow[:, None] + _normal(source, trials, queries)


def _neighbour(source: np.random.Generator, trials: int, queries: int) -> Array:
    """Another program slows one trial of ten, and each query of it by another amount."""
    hit = source.random(trials) < 0.1
    extra = 0.2 * np.abs(source.standard_normal((trials, queries)))
    return hit[:, None] * extra + _normal(source, trials, queries)


WORLDS: Mapping[str, Callable[[np.random.Generator, int, int], Array]] = {
    "all scatter alike": _normal,
    "scatters from 1 to 10 %": _unequal,
    "two scatter 20 times as much": _two_kinds,
    "heavy tails (t3)": _heavy,
    "skewed (lognormal)": _skewed,
    "drift, slow trials in a row": _drift,
    "a noisy neighbour": _neighbour,
}


@dataclass(frozen=True)
class Cell:
    """Sets of one kind."""

    world: str
    queries: int
    rule: Rule
    change: float = 0.0
    """Of five queries, as a share."""


def trials_of(cell: Cell, plan: Plan, source: np.random.Generator) -> Iterator[TrialQueries]:
    """One simulated run."""
    noise = WORLDS[cell.world](source, len(plan.trials), cell.queries)
    size = source.uniform(0.0, 7.0, cell.queries)
    truth = np.where(np.arange(cell.queries) < CHANGED, math.log1p(cell.change), 0.0)
    for trial, row in zip(plan.trials, noise, strict=True):
        times = np.exp(size + row + (truth if trial.arm != "a1" else 0.0))
        named = {f"q{at}": float(ms) for at, ms in enumerate(times)}
        yield TrialQueries(trial.number, trial.block, trial.arm, named)


def do(task: tuple[Cell, int]) -> Counter[str]:
    """Counts what the sets of one part of one cell say."""
    cell, part = task
    source = np.random.default_rng([part, cell.queries, *cell.world.encode(), cell.rule.most])
    found = Counter[str]()
    for seed in range(PART):
        plan = replace(plan_of(cell.rule, seed, 2), smallest_effect=MARGIN)
        trials = list(trials_of(cell, plan, source))
        looks = range(cell.rule.least, cell.rule.most + 1)
        sets = [query_set(plan, [one for one in trials if one.block <= look]) for look in looks]
        found.update(_judged([one for one in sets if one is not None], cell))
    return found


def _judged(sets: list[QuerySet], cell: Cell) -> Counter[str]:
    """One run, whose looks these are: a claim at any of them counts."""
    false = missed = 0
    for found in sets:
        for one in found.effects:
            truth = 100.0 * cell.change if int(one.query[1:]) < CHANGED else 0.0
            right = Verdict.BETTER if truth < 0.0 else Verdict.WORSE
            is_false = one.verdict in (Verdict.BETTER, Verdict.WORSE) and (
                truth == 0.0 or one.verdict is not right
            )
            false += is_false or (one.verdict in SAME and abs(truth) >= 100.0 * found.margin)
            ends = one.ci95_pct
            missed += ends is not None and not ends[0] <= truth <= ends[1]
    last = sets[-1].effects
    changed = [one for one in last if int(one.query[1:]) < CHANGED]
    return Counter(
        {
            "sets": 1,
            "false": bool(false),
            "missed": bool(missed),
            "queries": len(last),
            "same": sum(one.verdict in SAME for one in last),
            "changed": len(changed),
            "found": sum(one.verdict is Verdict.BETTER for one in changed),
        }
    )


def main(sets: int = 1000) -> None:
    """Writes the page; `sets` is how many each cell has."""
    nothing = [
        *(Cell(world, n, FIXED[0]) for world in WORLDS for n in (22, 60)),
        *(Cell(world, 60, FIXED[2]) for world in WORLDS),
        *(Cell(world, 22, SEQUENTIAL) for world in ("all scatter alike", "heavy tails (t3)")),
    ]
    changes = [
        Cell(world, 60, rule, change)
        for world in ("all scatter alike", "scatters from 1 to 10 %")
        for rule in FIXED
        for change in (-0.1, -0.2)
    ]
    parts = max(1, sets // PART)
    alike = counted(do, nothing, parts)
    errors = table(
        ("queries", "world", "blocks", "sets with a false claim", "an interval misses", "same"),
        (
            (
                str(cell.queries),
                cell.world,
                cell.rule.name,
                rate(counts["false"], counts["sets"], _AIM),
                rate(counts["missed"], counts["sets"], _AIM),
                f"{100 * counts['same'] / counts['queries']:.0f} %",
            )
            for cell, counts in alike.items()
        ),
    )
    power = table(
        ("world", "blocks", "true change", "found", "sets with a false claim"),
        (
            (
                cell.world,
                cell.rule.name,
                f"{100 * cell.change:g} %",
                f"{100 * counts['found'] / counts['changed']:.0f} %",
                rate(counts["false"], counts["sets"], _AIM),
            )
            for cell, counts in counted(do, changes, max(1, parts // 5)).items()
        ),
    )
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}, `make validate`. {parts * PART} simulated sets of queries a"
        f" row. Their margin is 10 %, times scatter by {100 * SCATTER:g} % from trial to"
        " trial, and every verdict of a set counts. In a sequential run a claim or a missing"
        " interval at any look does. [How a set is judged](../methods/queries.md)."
    )
    sections = {
        "Nothing differs: at most 5 % of sets may be wrong anywhere": errors,
        f"{CHANGED} of 60 queries differ": power,
    }
    OUTPUT.write_text(page("Validation: sets of queries", about, sections), encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
