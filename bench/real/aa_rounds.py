"""Identical arms of switchbacks and duets on real servers, relabelled: `make validate-real`.

Enters: nothing, or with --stored the figures of the last run. Leaves: bench/data/real-turns.json
and docs/measured/validation-real-turns.md. Never: compares arms that differ in anything that
matters.

In a switchback labels are drawn per slice, as another seed of the plan would. In a duet all slices
of a server belong to one start, so the labels of a whole trial are exchanged or kept. Takes half an
hour.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from bench import DATA, MEASURED
from bench.machine import this_machine
from bench.real.runs import trials_of, with_short_slices
from bench.tables import page, rate, table
from bench.validate.looks import conclude
from pgassay.analysis.measures.trial import measure_trial
from pgassay.analysis.model import SliceMeasures, StepMeasures, TrialMeasures, Verdict
from pgassay.plan.design import make_plan
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.plan.switchback import rounds_of
from pgassay.spec.parse import parse_spec

FIGURES = DATA / "real-turns.json"
OUTPUT = MEASURED / "validation-real-turns.md"
RELABELLINGS = 1000
PLACEBO = {
    "switchback": "geqo_threshold = [12, 13]",
    "duet": "max_locks_per_transaction = [64, 65]",
}
"""A factor that no transaction of this load feels."""
DESIGNS = {
    "switchback": ((4, 4), (8, 8), (4, 10)),
    "duet": ((6, 6), (6, 24)),
}
SPEC = """
[target]
version = 18
[workload]
use = "simple-update"
scale = 20
[factors.postgres]
{placebo}
[load]
clients = 8
step = "{seconds:g}s"
warmup = "2s"
[design]
mode = "{mode}"
slice = "1s"
min_blocks = {least}
max_blocks = {most}
seed = {seed}
"""
Series = Sequence[Sequence[SliceMeasures]]


@dataclass(frozen=True)
class Task:
    """One row, or a part of it."""

    mode: str
    seconds: float
    series: Series
    least: int
    most: int
    seeds: range


def design(mode: str, seconds: float, least: int, most: int, seed: int) -> Plan:
    """The plan that is run and that every relabelling is analysed by."""
    text = SPEC.format(
        mode=mode, seconds=seconds, least=least, most=most, seed=seed, placebo=PLACEBO[mode]
    )
    # Which of pgbench's scripts makes no difference to the labels.
    text = text.replace('"simple-update"', '"pgbench"')
    return with_short_slices(make_plan(parse_spec(text, source="relabelled", beside=DATA)))


def run(mode: str, trials: int, seconds: float) -> list[list[SliceMeasures]]:
    """The slices of every trial."""
    text = SPEC.format(
        mode=mode, seconds=seconds, least=trials, most=trials, seed=1, placebo=PLACEBO[mode]
    )
    with trials_of(text) as found:
        return [list(measure_trial(trial).turns) for trial in found]


def relabelled(task: Task, seed: int) -> tuple[Plan, list[TrialMeasures]]:
    """A stretch of trials with new random labels."""
    source = np.random.default_rng(seed)
    plan = design(task.mode, task.seconds, task.least, task.most, seed)
    # Lengths of slices come by turns.
    begin = 2 * int(source.integers(0, (len(task.series) - task.most) // 2 + 1))
    series: list[Sequence[SliceMeasures]] = []
    for trial in plan.trials:
        turns = task.series[begin + trial.block - 1]
        if task.mode == "duet":
            other = {"a1": "a2", "a2": "a1"} if source.integers(0, 2) else {}
            turns = [replace(turn, arm=other.get(turn.arm, turn.arm)) for turn in turns]
        else:
            labels = [arm for arms in rounds_of(plan, trial) for arm in arms]
            turns = [replace(turn, arm=arm) for turn, arm in zip(turns, labels, strict=False)]
        series.append(turns)
    return plan, measured(plan, series)


def measured(plan: Plan, series: Series) -> list[TrialMeasures]:
    """The plan's trials, with these slices."""
    whole = StepMeasures(None, 0, 1, 1, {"tps": 1.0})
    return [
        TrialMeasures(trial.number, trial.block, 1, ALL_ARMS, whole, (), (), turns=tuple(turns))
        for trial, turns in zip(plan.trials, series, strict=True)
    ]


def count(task: Task) -> list[tuple[bool, bool, bool, int, float]]:
    """For each seed: called different, interval without 0, withdrawn, blocks, half an interval."""
    found = []
    for seed in task.seeds:
        analysis, blocks = conclude(*relabelled(task, seed))
        (verdict,) = analysis.verdicts()
        low, high = verdict.ci95_pct or (-100.0, 100.0)
        found.append(
            (
                verdict.verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE),
                not low <= 0.0 <= high,
                any(test.outweighs for test in analysis.carry_over),
                blocks,
                (high - low) / 2,
            )
        )
    return found


def row(mode: str, seconds: float, series: Series, design: tuple[int, int], runs: int) -> list[str]:
    """One design, on both processors."""
    halves = (range(runs // 2), range(runs // 2, runs))
    with ProcessPoolExecutor(2) as pool:
        parts = pool.map(count, (Task(mode, seconds, series, *design, seeds) for seeds in halves))
        found = [one for part in parts for one in part]
    hits = [rate(sum(bool(one[at]) for one in found), runs) for at in range(3)]
    blocks, half = (float(np.mean([one[at] for one in found])) for at in (3, 4))
    return [f"{design[0]} to {design[1]}", *hits, f"{blocks:.1f}", f"±{half:.2f} %"]


def as_run(mode: str, seconds: float, series: Series) -> str:
    """The difference under the original labels over all trials, which should be zero.

    New labels would hide a bias in favour of one arm.
    """
    plan = design(mode, seconds, len(series), len(series), 1)
    (verdict,) = conclude(plan, measured(plan, series))[0].verdicts()
    value, (low, high) = verdict.effect_pct, verdict.ci95_pct or (-100.0, math.inf)
    return (
        f"With the labels it was run with, all trials: {value:+.2f} % ({low:+.2f} to {high:+.2f})."
    ).replace("-", "\u2212")


def stored(path: Path) -> dict[str, Any]:
    """What `store` wrote, its turns as the analysis has them."""
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    for series in found.values():
        series["trials"] = [[turn_of(*turn) for turn in turns] for turns in series["trials"]]
    return found


def turn_of(number: int, arm: str, start_ns: int, *rates: float | None) -> SliceMeasures:
    """One slice out of a row of the file."""
    values, early, late = ({} if tps is None else {"tps": tps} for tps in rates)
    return SliceMeasures(number, arm, start_ns, values, early, late)


def as_row(turn: SliceMeasures) -> list[Any]:
    """The row of one slice: rates of what is kept of it, of its early and of its late part."""
    rates = (part.get("tps") for part in (turn.values, turn.early, turn.late))
    shown = (None if tps is None else round(tps, 1) for tps in rates)
    return [turn.round, turn.arm, turn.start_ns, *shown]


def write_page(series: dict[str, Any], runs: int, path: Path) -> None:
    """docs/measured/validation-real-turns.md."""
    sections = {}
    for mode, found in series.items():
        rates = np.array([np.mean([t.values["tps"] for t in turns]) for turns in found["trials"]])
        sections[mode.capitalize()] = [
            f"{len(rates)} trials of {found['seconds']:g} s, factor `{PLACEBO[mode]}`;"
            f" {rates.mean():.0f} tps, trials scatter by"
            f" {100 * rates.std(ddof=1) / rates.mean():.1f} %.",
            as_run(mode, found["seconds"], found["trials"]),
            "",
            *table(
                ("trials", "called different", "interval without 0", "withdrawn", "mean trials",
                 "mean interval"),
                (row(mode, found["seconds"], found["trials"], d, runs) for d in DESIGNS[mode]),
            ),
        ]  # fmt: skip
    about = (
        "pgbench's simple-update, scale 20, 8 clients, on embedded PostgreSQL 18, slices of 1 s and"
        " of 0.5 s in alternate trials; the arms differ in a setting that affects no transaction."
        f" {datetime.now(UTC):%Y-%m-%d}, {this_machine()}. Made by `make validate-real`; the"
        " figures are in bench/data/real-turns.json.\n\n"
        f"Labels are drawn {runs} times, each time over a random stretch of trials: in a switchback"
        " those of the slices, as another seed of the plan would, in a duet those of the two"
        " servers of each trial. The arms are identical, so every reported difference is false. In"
        " brackets the 95 % interval of the share, by the number of drawings; all share one set"
        " of trials, so those of another day may lie outside."
    )
    title = "Validation on real servers, arms in turn"
    path.write_text(page(title, about, sections), "utf-8")


def main() -> None:
    """Run, or read the stored figures; write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, nargs=2, default=(10, 24), help="switchback, duet")
    parser.add_argument("--seconds", type=float, nargs=2, default=(24.0, 16.0))
    parser.add_argument("--relabellings", type=int, default=RELABELLINGS)
    parser.add_argument("--stored", action="store_true", help="no run: the stored figures again")
    parser.add_argument("--figures", type=Path, default=FIGURES)
    parser.add_argument("--page", type=Path, default=OUTPUT)
    options = parser.parse_args()
    if not options.stored:
        series = {}
        for mode, trials, seconds in zip(PLACEBO, options.trials, options.seconds, strict=True):
            turns = [[as_row(turn) for turn in turns] for turns in run(mode, trials, seconds)]
            series[mode] = {"seconds": seconds, "trials": turns}
        options.figures.parent.mkdir(parents=True, exist_ok=True)
        options.figures.write_text(json.dumps(series, separators=(",", ":")) + "\n", "utf-8")
    write_page(stored(options.figures), options.relabellings, options.page)


if __name__ == "__main__":
    main()
