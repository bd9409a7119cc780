"""Identical trials on a real server, relabelled: `make validate-real`, half an hour of it.

Enters: nothing, or with --stored the figures of the last run. Leaves: bench/data/real-aa.csv,
bench/data/real-aa-job.csv and docs/measured/validation-real.md. Never: gives the rules different
trials.

Trials of one arm are run with the product's own resets, once on the machine as it is and once
beside a job that comes as often, by its trials, as a job of every five minutes comes beside trials
of a minute. Neighbours make a block; within each they are called A and B in the orders of the
product's own plans, of 2 000 seeds, so every reported difference is false.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bench import DATA, MEASURED
from bench.machine import this_machine
from bench.real.job import periodic_job
from bench.real.runs import trials_of
from bench.tables import rate
from bench.validate.whole_trials.false_positives import conclude, make_design
from pgassay.analysis.measures.courses.trial_course import read_course
from pgassay.analysis.model import StepMeasures, TrialMeasures, Verdict
from pgassay.plan.model import Plan

Array = NDArray[np.float64]
FIGURES = DATA / "real-aa.csv"
FIGURES_BESIDE_JOB = DATA / "real-aa-job.csv"
JOB_EVERY_TRIALS, JOB_LASTS_TRIALS = 4.1, 0.27
"""Five minutes and 20 s, where a trial of 60 s with warm-up and reset takes 73 s."""
OUTPUT = MEASURED / "validation-real.md"
RELABELLINGS = 2000
DIFFERENT = (Verdict.BETTER, Verdict.WORSE, Verdict.NEGLIGIBLE)
SPEC = """
[target]
version = 18
[workload]
use = "simple-update"
scale = 20
[settings.postgres]
shared_buffers = "512MB"
max_wal_size = "4GB"
[load]
clients = 8
step = "{seconds:g}s"
warmup = "2s"
[design]
min_blocks = {trials}
max_blocks = {trials}
seed = 1
"""


@dataclass(frozen=True)
class Trial:
    """One trial."""

    tps: float
    seconds: Array
    """Throughput of each."""


def run_trials(count: int, seconds: float) -> list[Trial]:
    """On a fresh embedded PostgreSQL 18, every trial from the same frozen data."""
    with trials_of(SPEC.format(trials=count, seconds=seconds)) as found:
        courses = [course for t in found if (course := read_course(t)) is not None]
        return [Trial(float(c.transactions.sum() / c.edges_s[-1]), c.tps) for c in courses]


def store(trials: Sequence[Trial], path: Path) -> None:
    """A row a trial; its seconds in one column."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["trial", "tps", "tps_by_second"])
        for number, trial in enumerate(trials, start=1):
            by_second = " ".join(f"{value:.0f}" for value in trial.seconds)
            writer.writerow([number, f"{trial.tps:.2f}", by_second])


def stored(path: Path) -> list[Trial]:
    """What `store` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Trial(float(row["tps"]), np.array(row["tps_by_second"].split(), dtype=np.float64))
            for row in csv.DictReader(file)
        ]


def rows_of(trials: Sequence[Trial], relabellings: int) -> list[str]:
    """One row per rule: how often identical trials are called different."""
    logs = np.log([trial.tps for trial in trials])
    rows = []
    for least, most, stopping, name in (
        (4, 4, "", "4 blocks"),
        (6, 6, "", "6 blocks"),
        (8, 8, "", "8 blocks"),
        (6, 24, "", "6 to 24 blocks, sequential"),
        (6, 24, "group-sequential", "6 to 24 blocks, looks at 6, 12, 18, 24"),
    ):
        if 2 * most > len(trials):
            continue
        source = np.random.default_rng(most)
        plans = (make_design(least, most, seed, stopping) for seed in range(relabellings))
        called = [_called(plan, _stretch(logs, most, source)) for plan in plans]
        rows.append(f"| pgassay: {name} | {rate(sum(called), relabellings)} |")
    pairs = list(zip(trials[::2], trials[1::2], strict=False))
    for name, rule in SINGLE.items():
        hits = sum(rule(one, other) for one, other in pairs)
        rows.append(f"| {name} | {rate(hits, len(pairs))} |")
    if len(trials) >= 16:
        starts = range(len(trials) - 15)
        hits = sum(_welch(logs[at : at + 8], logs[at + 8 : at + 16]) for at in starts)
        rows.append(f"| 8 trials, then 8 others, Welch's t on trials | {rate(hits, len(starts))} |")
    return rows


def _stretch(logs: Array, blocks: int, source: np.random.Generator) -> Array:
    """Neighbouring trials, two a block."""
    begin = 2 * int(source.integers(0, len(logs) // 2 - blocks + 1))
    return logs[begin : begin + 2 * blocks]


def _called(plan: Plan, logs: Array) -> bool:
    """Whether identical trials, run in the order of the plan, are called different."""
    found = [
        TrialMeasures(
            trial.number,
            trial.block,
            trial.position,
            trial.arm,
            StepMeasures(None, 0, 1, 1, {"tps": math.exp(value)}),
            (),
            (),
        )
        for trial, value in zip(plan.trials, logs.tolist(), strict=True)
    ]
    return conclude(plan, found)[0] in DIFFERENT


def _medians_apart(share: float) -> Callable[[Trial, Trial], bool]:
    def rule(one: Trial, other: Trial) -> bool:
        ratio = float(np.median(other.seconds) / np.median(one.seconds))
        return abs(ratio - 1.0) > share

    return rule


def _seconds_differ(one: Trial, other: Trial) -> bool:
    return _welch(one.seconds, other.seconds)


def _welch(one: Array, other: Array) -> bool:
    return bool(stats.ttest_ind(one, other, equal_var=False).pvalue < 0.05)


SINGLE: dict[str, Callable[[Trial, Trial], bool]] = {
    "two single trials, medians more than 1 % apart": _medians_apart(0.01),
    "two single trials, medians more than 2 % apart": _medians_apart(0.02),
    "two single trials, medians more than 5 % apart": _medians_apart(0.05),
    "two single trials, Welch's t on seconds": _seconds_differ,
}
"""What is done without blocks, on neighbouring trials."""


def write_page(worlds: Mapping[str, Sequence[Trial]], relabellings: int, path: Path) -> None:
    """docs/measured/validation-real.md: a table for each world."""
    first = next(iter(worlds.values()))
    lines = [
        "# Validation on a real server",
        "",
        f"Identical trials of {len(first[0].seconds)} s on an embedded PostgreSQL"
        " 18: pgbench's simple-update, scale 20, 8 clients, the data directory put back and the"
        f" server started before each; {datetime.now(UTC):%Y-%m-%d}, {this_machine()}. Made by"
        " `make validate-real`; the figures are in bench/data/real-aa.csv and"
        " bench/data/real-aa-job.csv.",
        "",
        "Neighbouring trials are blocks. They are called A and B in the orders that pgassay plans,"
        f" with {relabellings} seeds, over stretches drawn at random, so nothing differs, and every"
        " difference called is a false one. In brackets the 95 % interval of the share, by the"
        " number of seeds or of pairs; all of them share one set of trials, so another day's may"
        " lie outside.",
    ]
    for name, trials in worlds.items():
        logs = np.log([trial.tps for trial in trials])
        apart = np.diff(logs.reshape(-1, 2), axis=1)
        lines += [
            "",
            f"## {name}",
            "",
            f"{len(trials)} trials. Throughput: {np.exp(logs.mean()):.0f} tps; trials scatter by"
            f" {100 * logs.std(ddof=1):.1f} %, neighbours by"
            f" {100 * float(np.std(apart, ddof=1)) / math.sqrt(2):.1f} %.",
            "",
            "| rule | identical trials called different |",
            "|---|---|",
            *rows_of(trials, relabellings),
        ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    print("\n".join(lines))


def main() -> None:
    """Run, or read the stored figures; write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=64, help="of each world, an even number [64]")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--stored", action="store_true", help="no run: the stored figures again")
    options = parser.parse_args()
    if not options.stored:
        began = time.monotonic()
        store(run_trials(options.trials, options.seconds), FIGURES)
        trial_s = (time.monotonic() - began) / options.trials
        with periodic_job(JOB_EVERY_TRIALS * trial_s, JOB_LASTS_TRIALS * trial_s):
            store(run_trials(options.trials, options.seconds), FIGURES_BESIDE_JOB)
    worlds = {
        "The machine as it is": stored(FIGURES),
        f"Beside a job at every {JOB_EVERY_TRIALS:g} trials": stored(FIGURES_BESIDE_JOB),
    }
    write_page(worlds, RELABELLINGS, OUTPUT)


if __name__ == "__main__":
    main()
