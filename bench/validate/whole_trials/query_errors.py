"""How often sets of queries have a false claim, hold the truth, and find true changes.

Enters: nothing. Leaves: docs/measured/validation-queries.md. Never: touches a server.

Every trial has a time of each query, in the product's own orders of arms. One set of fifty goes
through the whole analysis, which must say the same.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from bench import MEASURED
from bench.tables import Aim, page, rate, table
from bench.validate.parallel import counted
from bench.validate.whole_trials.false_positives import Rule, plan_of
from bench.validate.whole_trials.query_worlds import SCATTER, WORLDS, Array
from pgassay.analysis.compare.model import SAME, Verdict
from pgassay.analysis.compare.rule import Rule as ProductRule
from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.queries.effects import query_set, with_shared_scatter
from pgassay.analysis.queries.model import TrialQueries
from pgassay.plan.model import Plan
from pgassay.plan.whole_loads import OpenQueries, QuerySet

OUTPUT = MEASURED / "validation-queries.md"
MARGIN = 0.1
PART = 50
"""Sets that share a generator."""
CHANGED = 5
"""Queries with a true change, where there is one."""
FIXED = tuple(Rule(f"{n} blocks", n, n) for n in (6, 8, 12))
SEQUENTIAL = Rule("6 to 12, after every block", 6, 12)
RESTING = "6 to 12, decided queries rest"
TIMES = 3.0
"""As often is each query executed whose verdict is open, where the others rest."""
_AIM = Aim(0.0, 5.0)


@dataclass(frozen=True)
class Cell:
    """Sets of one kind."""

    world: str
    queries: int
    rule: Rule
    change: float = 0.0
    """Of five queries, as a share."""
    rests: bool = False
    """Whether queries that are decided at a look have no further blocks, from the first look on,
    and the scatter of the others is that of more executions."""

    @property
    def blocks(self) -> str:
        return RESTING if self.rests else self.rule.name


def differences(cell: Cell, plan: Plan, source: np.random.Generator) -> Array:
    """One simulated run: queries by blocks, in the plan's order of trials."""
    noise = WORLDS[cell.world](source, len(plan.trials), cell.queries)
    of_arm = [
        [at for at, trial in enumerate(plan.trials) if trial.arm == arm.id] for arm in plan.arms
    ]
    found = (noise[of_arm[1]] - noise[of_arm[0]]).T
    if cell.rests:
        found[:, cell.rule.least :] /= math.sqrt(TIMES)
    return found + truth_of(cell)[:, None]


def truth_of(cell: Cell) -> Array:
    """The true change of each query, in logarithms."""
    return np.where(np.arange(cell.queries) < CHANGED, math.log1p(cell.change), 0.0)


@dataclass(frozen=True)
class Look:
    """What is said of each query after so many blocks."""

    differs: NDArray[np.bool_]
    same: NDArray[np.bool_]
    low: Array
    high: Array

    @property
    def claimed(self) -> NDArray[np.bool_]:
        return self.differs & ~self.same


def look(rows: Array, rule: ProductRule) -> Look:
    """The same as `query_set`, for all queries at once."""
    scattered, units = with_shared_scatter(rows)
    blocks = rows.shape[1]
    mean = rows.mean(axis=1)
    error = scattered.std(axis=1, ddof=1) / math.sqrt(blocks)
    reach, ninety = (
        each * error
        for each in (rule.critical(blocks, units, 0.05), rule.critical_inside(blocks, units))
    )
    margins = rule.margins(1.0, ratio=True)
    return Look(
        np.abs(mean) > reach,
        (mean - ninety > margins[0]) & (mean + ninety < margins[1]),
        mean - reach,
        mean + reach,
    )


def looks_of(cell: Cell, rows: Array, rule: ProductRule) -> tuple[list[Look], NDArray[np.int64]]:
    """What is said at each look, and the blocks that each query ran in at last."""
    looks, ran = list[Look](), np.full(cell.queries, cell.rule.least)
    open_ = np.ones(cell.queries, dtype=bool)
    for blocks in range(cell.rule.least, cell.rule.most + 1):
        if looks and cell.rests:
            open_ = open_ & ~looks[-1].differs & ~looks[-1].same
        if not open_.any():
            break
        ran[open_] = blocks
        now = look(rows[open_, :blocks], rule)
        if not open_.all():
            whole = [getattr(looks[-1], one.name).copy() for one in fields(Look)]
            for one, own in zip(fields(Look), whole, strict=True):
                own[open_] = getattr(now, one.name)
            now = Look(*whole)
        looks.append(now)
    return looks, ran


def as_the_product_says(rows: Array, plan: Plan, seen: Look, ran: NDArray[np.int64]) -> None:
    """Holds one run against the whole analysis, which takes fifty times as long."""
    if ran.min() < ran.max():
        alone = OpenQueries(int(ran.min()) + 1, {"": 1})
        plan = replace(plan, queries=QuerySet(len(ran), None, open_alone=(alone,)))
    numbers = {(one.block, one.arm): one.number for one in plan.trials}
    trials = [
        TrialQueries(
            numbers[block, arm.id],
            block,
            arm.id,
            {
                f"q{at}": math.exp(value * place)
                for at, value in enumerate(rows[:, block - 1])
                if block <= ran[at]
            },
        )
        for block in range(1, int(ran.max()) + 1)
        for place, arm in enumerate(plan.arms)
    ]
    found = query_set(plan, trials)
    for one in found.effects if found else ():
        at = int(one.query[1:])
        claimed = one.verdict in (Verdict.BETTER, Verdict.WORSE)
        if (claimed, one.verdict in SAME) != (seen.claimed[at], seen.same[at]):
            raise RuntimeError(f"the analysis says {one.verdict} of query {at}")


def do(task: tuple[Cell, int]) -> Counter[str]:
    """Counts what the sets of one part of one cell say; a claim at any look counts."""
    cell, part = task
    source = np.random.default_rng([part, cell.queries, *cell.world.encode(), cell.rule.most])
    found = Counter[str]()
    truth = truth_of(cell)
    for seed in range(PART):
        plan = replace(plan_of(cell.rule, seed, 2), smallest_effect=MARGIN)
        rule = replace(rule_of(plan), simultaneous=cell.queries)
        rows = differences(cell, plan, source)
        looks, ran = looks_of(cell, rows, rule)
        last = looks[-1]
        if seed == 0:
            as_the_product_says(rows, plan, last, ran)
        wrong = (
            (one.claimed & ((truth == 0.0) | ((one.low > 0.0) == (truth < 0.0))))
            | (one.same & (truth <= math.log1p(-MARGIN)))
            for one in looks
        )
        missed = ((truth < one.low) | (truth > one.high) for one in looks)
        changed = truth != 0.0
        found.update(
            {
                "sets": 1,
                "false": bool(np.any(list(wrong))),
                "missed": bool(np.any(list(missed))),
                "alike": int(np.count_nonzero(~changed)),
                "same": int(np.count_nonzero(last.same & ~changed)),
                "changed": int(np.count_nonzero(changed)),
                "found": int(np.count_nonzero(last.claimed & changed)),
            }
        )
    return found


def main(sets: int = 1000) -> None:
    """Writes the page; `sets` is how many each cell has."""
    nothing = [
        *(Cell(world, n, FIXED[0]) for world in WORLDS for n in (22, 60)),
        *(Cell(world, 60, FIXED[2]) for world in WORLDS),
        *(Cell(world, 22, SEQUENTIAL) for world in WORLDS),
        *(Cell(world, n, SEQUENTIAL, rests=True) for world in WORLDS for n in (22, 60)),
    ]
    changes = [
        Cell(world, 60, rule, change)
        for world in ("all scatter alike", "scatters from 1 to 10 %")
        for rule in FIXED
        for change in (-0.1, -0.2)
    ]
    changes += [
        Cell(world, 60, SEQUENTIAL, change, rests)
        for world in ("all scatter alike", "scatters from 1 to 10 %")
        for rests in (False, True)
        for change in (-0.1, -0.2)
    ]
    parts = max(1, sets // PART)
    alike = counted(do, nothing, parts)
    errors = table(
        (
            "queries",
            "world",
            "blocks",
            "sets with a false claim",
            "an interval misses",
            "equivalent",
        ),
        (
            (
                str(cell.queries),
                cell.world,
                cell.blocks,
                rate(counts["false"], counts["sets"], _AIM),
                rate(counts["missed"], counts["sets"], _AIM),
                f"{100 * counts['same'] / counts['alike']:.0f} %",
            )
            for cell, counts in alike.items()
        ),
    )
    power = table(
        ("world", "blocks", "true change", "found", "sets with a false claim"),
        (
            (
                cell.world,
                cell.blocks,
                f"{100 * cell.change:g} %",
                f"{100 * counts['found'] / counts['changed']:.0f} %",
                rate(counts["false"], counts["sets"], _AIM),
            )
            for cell, counts in counted(do, changes, parts).items()
        ),
    )
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}, `make validate`. {parts * PART} simulated sets of queries a"
        f" row. Their margin is 10 %, times scatter by {100 * SCATTER:g} % from trial to"
        " trial, and every verdict of a set counts. In a sequential run a claim or a missing"
        " interval at any look does; `same` is the share of queries that are called equivalent."
        " Where decided queries rest, they do from the first look on, and the others scatter as"
        " with three times as many executions."
        " In every setting some sets go through the whole analysis."
        " [How a set is judged](../methods/queries.md)."
    )
    sections = {
        "Nothing differs: at most 5 % of sets may be wrong anywhere": errors,
        f"{CHANGED} of 60 queries differ": power,
    }
    OUTPUT.write_text(page("Validation: sets of queries", about, sections), encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
