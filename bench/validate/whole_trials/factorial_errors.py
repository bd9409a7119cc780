"""False positives of factors without effect in split plots, by simulation.

Enters: nothing. Leaves: rows of docs/measured/validation.md. Never: touches a server.

Each server start has a random effect, shared by the trials of a whole plot; trials have noise,
blocks drift. The verdicts are those of pgassay's own analysis, shown beside an analysis that treats
all trials as independent, the classic mistake with split plots.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
from scipy import stats

from bench import MEASURED
from bench.tables import page, rate, table
from bench.validate.looks import conclude
from bench.validate.parallel import spread
from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.model import Dependence
from pgassay.analysis.model import (
    Analysis,
    StepMeasures,
    TrialMeasures,
    Verdict,
)
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.spec.parse import parse_spec

OUTPUT = MEASURED / "validation-factors.md"
START = 0.015
"""Standard deviation of what a start of the server does to all trials until the next."""
TRIAL = 0.01
DRIFT_PER_TRIAL = 0.002
ALPHA = 0.05
PART = 50
"""Experiments that share a generator."""
NOISES = ("normal", "t3", "stalls")
KINDS = ("main", "interaction", "trend")
NAIVE = "trials as independent"

_HARD, _EASY = "shared_buffers", "work_mem"
_LEVELS = {2: {_HARD: ["64MB", "256MB"], _EASY: ["4MB", "8MB"]}}
_LEVELS[3] = {_HARD: ["64MB", "128MB", "256MB"], _EASY: ["4MB", "8MB", "16MB"]}


@dataclass(frozen=True)
class Design:
    """One design that is simulated many times."""

    name: str
    factors: dict[str, list[str]]
    least: int = 8
    most: int = 8
    more: str = ""
    carried_over: bool = False
    effect: float = 0.0
    """True logarithmic effect of the last level of the whole plots' factor."""

    def plan(self, seed: int) -> Plan:
        """The plan of one experiment."""
        text = "[factors.postgres]\n"
        text += "".join(f"{name} = {json.dumps(v)}\n" for name, v in self.factors.items())
        text += f"[design]\nplots = 'split'\nmin_blocks = {self.least}\n"
        text += f"max_blocks = {self.most}\nseed = {seed}\n{self.more}"
        return make_plan(parse_spec(text, source=self.name, beside=Path()))


DESIGNS = (
    Design("2 × 2", _LEVELS[2]),
    Design("3 × 3", _LEVELS[3]),
    Design("3 × 3", _LEVELS[3], least=12, most=12),
    Design("2 × 2", _LEVELS[2], least=6, most=16),
    Design("2 × 2, carried over", _LEVELS[2], carried_over=True),
    Design("3 × 3, one true effect", _LEVELS[3], effect=0.04),
    Design(
        "2^(5−2)",
        {**_LEVELS[2], **{name: ["on", "off"] for name in ("jit", "fsync", "enable_sort")}},
        more="combinations = 'fraction'\nresolution = 3\n",
    ),
    Design(
        "2^(4−1)",
        {**_LEVELS[2], "jit": ["on", "off"], "fsync": ["on", "off"]},
        more="combinations = 'fraction'\n",
    ),
)


@cache
def _plan_of(design: int, seed: int) -> Plan:
    """The plan, cached: parsing and planning take as long as analysing."""
    return DESIGNS[design].plan(seed)


def make_trials(
    design: Design, plan: Plan, noise: str, source: np.random.Generator
) -> list[TrialMeasures]:
    """One simulated experiment, all blocks."""
    found: list[TrialMeasures] = []
    luck, running = 0.0, ""
    for block in range(1, plan.max_blocks + 1):
        for plot in plan.whole_plots(block):
            level = plan.arm(plot[0].arm).levels[_HARD]
            if level != running or not design.carried_over:
                luck, running = START * _draw(noise, source), level
            effect = design.effect if level == design.factors[_HARD][-1] else 0.0
            for trial in plot:
                log_tps = 9.0 + effect + luck + TRIAL * _draw(noise, source)
                log_tps += DRIFT_PER_TRIAL * trial.number
                step = StepMeasures(None, 0, 1, 1, {"tps": math.exp(log_tps)})
                found.append(
                    TrialMeasures(trial.number, block, trial.position, trial.arm, step, (), ())
                )
    return found


def _draw(noise: str, source: np.random.Generator) -> float:
    """One number of standard deviation 1."""
    match noise:
        case "t3":
            return float(source.standard_t(3)) / math.sqrt(3)
        case "stalls":  # only ever slower, sometimes by much
            return 1.0 - float(source.standard_exponential())
        case _:
            return float(source.standard_normal())


def wrong(analysis: Analysis, plan: Plan, design: Design) -> dict[str, bool | None]:
    """For each kind of estimate: whether it reported a false effect; None if it has none."""
    true = design.factors[_HARD][-1] if design.effect else None
    differ = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)
    depend = (Dependence.DEPENDS, Dependence.NEGLIGIBLE)
    verdicts = [v for v in analysis.answer.verdicts() if v.level != true]
    trends = [t for t in analysis.answer.trends if t.factor != _HARD or true is None]
    pairs = analysis.answer.interactions
    return {
        "main": any(v.verdict in differ for v in verdicts),
        "interaction": any(i.verdict in depend for i in pairs) if pairs else None,
        "trend": any(t.verdict in differ for t in trends) if trends else None,
        NAIVE: None if true else naive_p(analysis, plan) <= ALPHA,
    }


def naive_p(analysis: Analysis, plan: Plan) -> float:
    """The p of the whole plots' factor if all trials are treated as independent (F test)."""
    blocks = sorted({trial.block for trial in analysis.answer.trials})
    places = {arm.id: at for at, arm in enumerate(plan.arms)}
    y = np.zeros((len(blocks), len(places)))
    for trial in analysis.answer.trials:
        value = math.log(trial.whole.values["tps"])
        y[blocks.index(trial.block), places[trial.arm]] = value
    y -= y.mean(axis=1, keepdims=True)
    means = y.mean(axis=0)
    free = (len(blocks) - 1) * (len(places) - 1)
    error = ((y - means) ** 2).sum() / free
    levels = [arm.levels[_HARD] for arm in plan.arms]
    of_levels = [means[[one == level for one in levels]] for level in dict.fromkeys(levels)]
    between = sum(len(m) * m.mean() ** 2 for m in of_levels) * len(blocks) / (len(of_levels) - 1)
    return float(stats.f.sf(between / error, len(of_levels) - 1, free))


Counts = dict[str, tuple[int, int]]
"""Kind → (wrong, experiments)."""


def simulate(design: Design, noise: str, runs: int, part: int = 0) -> Counts:
    """Some experiments; each part has numbers of its own."""
    source = np.random.default_rng([part, DESIGNS.index(design), NOISES.index(noise)])
    found: Counts = {}
    for run in range(runs):
        plan = _plan_of(DESIGNS.index(design), run)
        trials = make_trials(design, plan, noise, source)
        _, block = conclude(plan, trials)
        analysis = Analysis(
            answer_of("?", plan, [trial for trial in trials if trial.block <= block])
        )
        for kind, is_wrong in wrong(analysis, plan, design).items():
            if is_wrong is not None:
                hits, of = found.get(kind, (0, 0))
                found[kind] = (hits + is_wrong, of + 1)
    return found


Task = tuple[int, str, int]
"""A design, a noise, a part."""


def tasks(runs: int) -> list[Task]:
    """Every part of every row."""
    return [
        (at, noise, part)
        for at in range(len(DESIGNS))
        for noise in NOISES
        for part in range(max(1, runs // PART))
    ]


def do(task: Task) -> Counts:
    """One part."""
    at, noise, part = task
    return simulate(DESIGNS[at], noise, PART, part)


def rows_of(found: dict[Task, Counts]) -> Iterator[list[str]]:
    """A row per design and noise."""
    for row in dict.fromkeys((at, noise) for at, noise, _ in found):
        parts = [counts for (at, noise, _), counts in found.items() if (at, noise) == row]
        design = DESIGNS[row[0]]
        blocks = str(design.least)
        if design.least != design.most:
            blocks += f" to {design.most}"
        yield [design.name, blocks, row[1], *(_rate(kind, parts) for kind in (*KINDS, NAIVE))]


def _rate(kind: str, parts: list[Counts]) -> str:
    counts = [part[kind] for part in parts if kind in part]
    if not counts:
        return "–"
    return rate(sum(hits for hits, _ in counts), sum(of for _, of in counts))


def write_page(found: dict[Task, Counts], runs: int) -> None:
    """docs/measured/validation-factors.md."""
    about = (
        f"{runs} experiments a row, {datetime.now(UTC):%Y-%m-%d}. No factor has an effect,"
        " except in the row that says so."
        f" Split plots by `{_HARD}` (3 × 3 and 2 × 2: with `{_EASY}`): server starts"
        f" vary with a standard deviation of {100 * START:g} %, trials with"
        f" {100 * TRIAL:g} %, and the host drifts by"
        f" {100 * DRIFT_PER_TRIAL:g} % a trial. Shares of experiments with a false effect of a"
        " kind, with their 95 % intervals; nominal is 5 % for each kind. Made by"
        f" `make validate`.\n\n“{NAIVE.capitalize()}” is the F test of `{_HARD}` that treats all"
        " trials of a block as independent, which is wrong for split plots."
        " “Stalls” are exponential: a trial or a start can only be slower, sometimes by much."
        " “Carried over”: a whole plot that follows one of the same levels in the block before"
        " keeps its start. “One true effect”: the last level of"
        f" `{_HARD}` is 4 % faster; only false effects of the others count."
    )
    head = ("design", "blocks", "noise", *KINDS, NAIVE)
    text = page(
        "Validation of several factors by simulation", about, {"": table(head, rows_of(found))}
    )
    OUTPUT.write_text(text, "utf-8")


def main(runs: int = 1000) -> None:
    """Simulate everything on two processors and write the page."""
    every = tasks(runs)
    write_page(dict(zip(every, spread(do, every), strict=True)), runs)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
