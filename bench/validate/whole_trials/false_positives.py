"""Error rates of verdicts and intervals of whole trials, by simulation: `make validate`.

Enters: nothing. Leaves: docs/measured/validation.md. Never: touches a server.

Every experiment is judged by pgassay's own analysis and stopping rule. All rules get the same
simulated trials, with and without an effect.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from bench.validate.whole_trials.trial_worlds import (
    BASE,
    SECONDS,
    SPREAD,
    WORLDS,
    Array,
    World,
    drift_of,
    log_throughput,
)
from pgassay.analysis.model import StepMeasures, TrialMeasures, Verdict
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.spec.parse import parse_spec

OUTPUT = MEASURED / "validation.md"
PART = 50
"""Experiments that share a generator, and orders of arms that there are."""
MARGIN = 0.02
LARGE = 0.05
_SAME = (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)
_OTHER = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)


@dataclass(frozen=True)
class Rule:
    """When a run may end."""

    name: str
    least: int
    most: int
    stopping: str = ""

    @property
    def is_fixed(self) -> bool:
        return self.least == self.most


FIXED = tuple(Rule(f"{n} blocks", n, n) for n in (6, 8, 12))
SEQUENTIAL = Rule("6 to 24, after every block", 6, 24)
GROUP = Rule("looks at 6, 12, 18, 24", 6, 24, "group-sequential")
RULES = (*FIXED, SEQUENTIAL, GROUP)
STARTING = ((BASE,), RULES, (0.0, MARGIN, LARGE))
GRID = (WORLDS, (FIXED[1], SEQUENTIAL), (0.0, MARGIN))


def make_design(least: int, most: int, seed: int, stopping: str = "", levels: int = 2) -> Plan:
    """A plan with one factor."""
    values = [f"{4 * 2**level}MB" for level in range(levels)]
    text = f"[factors.postgres]\nwork_mem = {json.dumps(values)}\n[design]\nmode = 'blocks'\n"
    text += f"min_blocks = {least}\nmax_blocks = {most}\nseed = {seed}\n"
    text += f"smallest_effect = {MARGIN}\n"
    text += f"stopping = '{stopping}'\n" if stopping else ""
    return make_plan(parse_spec(text, source=json.dumps(seed), beside=Path()))


@cache
def plan_of(rule: Rule, seed: int, levels: int) -> Plan:
    return make_design(rule.least, rule.most, seed, rule.stopping, levels)


def make_trials(
    plan: Plan, world: World, effect: float, throughput: Array
) -> Iterator[TrialMeasures]:
    """One simulated experiment; every level but the baseline is `effect` faster."""
    for trial, value in zip(plan.trials, throughput.tolist(), strict=False):
        if math.isnan(value):
            continue
        log_tps = 9.0 + value + drift_of(world, trial.number)
        if trial.arm != "a1":
            log_tps += math.log1p(effect)
        step = StepMeasures(None, 0, 1, 1, {"tps": math.exp(log_tps)})
        yield TrialMeasures(trial.number, trial.block, trial.position, trial.arm, step, (), ())


def conclude(plan: Plan, trials: Iterable[TrialMeasures]) -> tuple[Verdict, int]:
    """The verdict at which the run stops, and its block."""
    analysis, block = looks.conclude(plan, trials)
    (found,) = analysis.verdicts()
    return found.verdict, block


Case = tuple[str, str, float]
"""A world, a rule, an effect."""
Tally = Counter[str]
Tallies = dict[Case, Tally]
Task = tuple[bool, int, int]
"""Whether it is of the grid, which world of it, a part."""


def judge(world: World, rules: Sequence[Rule], effects: Sequence[float], part: int) -> Tallies:
    """Experiments of one part, all rules on the same trials."""
    source = np.random.default_rng([part, *world.name.encode()])
    found: Tallies = {(world.name, r.name, e): Tally() for r, e in product(rules, effects)}
    blocks = max(rule.most for rule in rules)
    for seed in range(PART):
        throughput = log_throughput(world, blocks * world.levels, source)
        for rule, effect in product(rules, effects):
            plan = plan_of(rule, seed, world.levels)
            analysis, block = looks.conclude(plan, make_trials(plan, world, effect, throughput))
            verdicts = analysis.verdicts()
            truth = 100.0 * effect
            intervals = [v.ci95_pct or (math.nan, math.nan) for v in verdicts]
            found[world.name, rule.name, effect].update(
                runs=1,
                blocks=block,
                different=any(v.verdict in _OTHER for v in verdicts),
                meaningful=any(v.verdict in _OTHER[:2] for v in verdicts),
                same=any(v.verdict in _SAME for v in verdicts),
                holds=all(low <= truth <= high for low, high in intervals),
            )
    return found


def do(task: Task) -> Tallies:
    """One part."""
    grid, world, part = task
    worlds, rules, effects = GRID if grid else STARTING
    return judge(worlds[world], rules, effects, part)


def tasks(runs: int) -> list[Task]:
    """Every part of every world."""
    return [
        (grid, world, part)
        for grid, (worlds, _, _) in ((False, STARTING), (True, GRID))
        for world in range(len(worlds))
        for part in range(max(1, runs // PART))
    ]


def aims(rule: Rule, effect: float, *, normal: bool) -> Mapping[str, Aim]:
    """What the shares of one row should be."""
    found = {"holds": Aim(93.0, 97.0) if rule.is_fixed and normal else Aim(93.0, 100.0)}
    if effect == 0.0:
        # Student's t is known to be careful where tails are heavy.
        found["different"] = Aim(3.6 if normal else 0.0, 6.4) if rule.is_fixed else Aim(0.0, 5.0)
    if effect == MARGIN:
        found["same"] = Aim(0.0, 5.0)
        if rule.most >= 12:
            found["different"] = Aim(90.0, 100.0)
    if effect == LARGE and rule.most >= 8:
        found["different"] = Aim(95.0, 100.0)
    return found


def share(tally: Tally, what: str, wanted: Mapping[str, Aim]) -> str:
    """A share with its interval, marked if it misses its aim."""
    return rate(tally[what], tally["runs"], wanted.get(what))


def rules_rows(found: Tallies) -> Iterator[list[str]]:
    """Each rule with every effect."""
    worlds, rules, effects = STARTING
    for world, rule, effect in product(worlds, rules, effects):
        tally = found[world.name, rule.name, effect]
        wanted = aims(rule, effect, normal=True)
        yield [
            rule.name, f"{100 * effect:g} %",
            *(share(tally, what, wanted) for what in ("different", "same", "holds")),
            f"{tally['blocks'] / tally['runs']:.1f}",
        ]  # fmt: skip


def grid_rows(found: Tallies) -> Iterator[list[str]]:
    """Each world with every rule."""
    worlds, rules, _ = GRID
    for world, rule in product(worlds, rules):
        normal = not (world.stalls or world.levels > 2)
        none, margin = (found[world.name, rule.name, effect] for effect in (0.0, MARGIN))
        yield [
            world.name,
            rule.name,
            share(none, "different", aims(rule, 0.0, normal=normal)),
            share(margin, "same", aims(rule, MARGIN, normal=normal)),
            share(none, "holds", aims(rule, 0.0, normal=normal)),
            f"{none['blocks'] / none['runs']:.1f}",
        ]


def simulate(runs: int) -> tuple[Tallies, Tallies]:
    """Sums over all parts, of the rules and of the grid."""
    sums: tuple[Tallies, Tallies] = ({}, {})
    every = tasks(runs)
    for (grid, _, _), tallies in zip(every, spread(do, every), strict=True):
        for case, tally in tallies.items():
            sums[grid].setdefault(case, Tally()).update(tally)
    return sums


def main(runs: int = 2000) -> None:
    """Write the page."""
    rules, grid = simulate(runs)
    about = (
        f"{runs} experiments a row, {datetime.now(UTC):%Y-%m-%d}. Two arms (levels where said), a"
        f" smallest effect of {100 * MARGIN:g} %, trials of {SECONDS} s whose seconds scatter by"
        f" {100 * SPREAD:g} %. In brackets the 95 % interval of the share. Made by `make validate`"
        " (`bench/validate/whole_trials/`).\n\n"
        "Different: better, worse, or different but negligible. Equivalent: the 90 % interval lies"
        " inside ± the smallest effect, which is wrong where the effect is as large as that."
        " Wanted: 3.6 to 6.4 % of identical arms called different where the number of blocks is"
        " fixed, 5 % or less where a run may end early; an effect of 2 % found by 12 blocks in 90 %"
        " and one of 5 % by 8 blocks in 95 %; wrongly equivalent 5 % or less; intervals that hold"
        " in 93 to 97 %, in 93 % or more where a run may end early. **Missed** stands where the"
        " interval of the share lies outside of that; with stalls, and with several levels, fewer"
        " than 3.6 % may be called different and more than 97 % of intervals hold, which is no"
        " miss."
    )
    of_rules = (
        "The reference: seconds with a memory of 0.95, starts that differ by 1 %, a drift of 1 % an"
        " hour, two whole checkpoint cycles a trial."
    )
    head = ("runs end", "true effect", "called different", "called equivalent",
            "interval holds", "mean blocks")  # fmt: skip
    grid_head = ("world", "runs end", "identical called different",
                 "2 % called equivalent", "interval holds", "mean blocks")  # fmt: skip
    sections = {
        "When runs end": [of_rules, "", *table(head, rules_rows(rules))],
        "In other worlds": [
            "As the reference, but for what is named.", "",
            *table(grid_head, grid_rows(grid)),
        ],
    }  # fmt: skip
    OUTPUT.write_text(page("Validation by simulation", about, sections), "utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
