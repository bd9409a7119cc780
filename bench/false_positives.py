"""How often identical arms are called different, by simulation: `make validate`.

Enters: nothing. Leaves: docs/validation.md. Never: touches a server.

Each experiment has two identical arms whose trials carry a restart effect, drift and noise with
heavy tails; the verdict is that of the product's own analysis.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench.tables import page, rate, table
from pgassay.analysis.analyse import analyse
from pgassay.analysis.model import StepMeasures, TrialMeasures, Verdict
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.spec.parse import parse_spec

OUTPUT = Path(__file__).parent.parent / "docs" / "validation.md"
SPREAD = 0.015
DRIFT_PER_TRIAL = 0.002
HEAVY = 3
DESIGNS = ((6, 6, ""), (8, 8, ""), (6, 24, ""), (6, 24, "group-sequential"))


def make_trials(
    plan: Plan, effect: float, source: np.random.Generator, heavy: bool
) -> list[TrialMeasures]:
    """One simulated experiment, all blocks."""
    found = []
    for trial in plan.trials:
        noise = source.standard_t(HEAVY) / math.sqrt(3) if heavy else source.standard_normal()
        log_tps = 9.0 + SPREAD * noise + DRIFT_PER_TRIAL * trial.number
        log_tps += effect if trial.arm == "a2" else 0.0
        step = StepMeasures(None, 0, 1, 1, {"tps": math.exp(log_tps)})
        found.append(
            TrialMeasures(trial.number, trial.block, trial.position, trial.arm, step, (), ())
        )
    return found


def make_design(least: int, most: int, seed: int, stopping: str = "") -> Plan:
    """A two-arm plan."""
    text = "[factors.postgres]\nfsync = ['on', 'off']\n[design]\n"
    text += f"min_blocks = {least}\nmax_blocks = {most}\nseed = {seed}\n"
    text += f"stopping = '{stopping}'\n" if stopping else ""
    return make_plan(parse_spec(text, source=json.dumps(seed), beside=Path()))


def conclude(plan: Plan, trials: list[TrialMeasures]) -> tuple[Verdict, int]:
    """The verdict at the product's own stopping rule and the block it was reached at."""
    for block in range(plan.min_blocks, plan.max_blocks + 1):
        if not plan.may_stop_after(block):
            continue
        analysis = analyse("?", plan, [trial for trial in trials if trial.block <= block])
        if analysis.may_end() or block == plan.max_blocks:
            (found,) = analysis.verdicts()
            return found.verdict, block
    raise AssertionError("a plan has at least one block")


def rows_of(runs: int) -> Iterator[list[str]]:
    """One row per design, noise and effect."""
    for least, most, stopping in DESIGNS:
        for heavy in (False, True):
            for effect in (0.0, 0.02, 0.05):
                source = np.random.default_rng(round(1000 * effect) + most + heavy)
                outcomes = []
                for run in range(runs):
                    plan = make_design(least, most, run, stopping)
                    outcomes.append(conclude(plan, make_trials(plan, effect, source, heavy)))
                differ = sum(v in (Verdict.BETTER, Verdict.WORSE) for v, _ in outcomes)
                same = sum(v is Verdict.EQUIVALENT for v, _ in outcomes)
                yield [
                    f"{least} to {most}{f', {stopping}' if stopping else ''}",
                    "t3" if heavy else "normal",
                    f"{100 * effect:g} %",
                    rate(differ, runs),
                    rate(same, runs),
                    f"{np.mean([block for _, block in outcomes]):.1f}",
                ]


def main(runs: int) -> None:
    """Write the page."""
    about = (
        f"{runs} experiments a row, {datetime.now(UTC):%Y-%m-%d}; trial noise with a standard"
        f" deviation of {100 * SPREAD:g} %, a drift of {100 * DRIFT_PER_TRIAL:g} % a trial;"
        " smallest effect 2 %. Made by `make validate`."
    )
    head = (
        "blocks", "noise", "true effect", "called different", "called equivalent", "mean blocks",
    )  # fmt: skip
    text = page("Validation by simulation", about, {"": table(head, rows_of(runs))})
    OUTPUT.write_text(text, "utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
