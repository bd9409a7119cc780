"""The same question in slices and in restarted blocks: do they agree? `make validate-real`.

Enters: nothing. Leaves: docs/measured/validation-real-modes.md, with what it measured.
Never: knows the answer beforehand.

`synchronous_commit` on against off on a write load, as a switchback and in blocks whose server is
put back and started before every trial, by turns, so that both meet the same conditions.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench import MEASURED
from bench.machine import this_machine
from bench.real.runs import trials_of
from bench.tables import page, table
from pgassay.analysis.analyse import answer_of
from pgassay.analysis.measures.trial import measure_trial
from pgassay.analysis.model import Analysis
from pgassay.plan.design import make_plan
from pgassay.spec.parse import parse_spec

OUTPUT = MEASURED / "validation-real-modes.md"
SPEC = """
[target]
version = 18
[workload]
use = "{use}"
scale = 5
[factors.postgres]
synchronous_commit = ["on", "off"]
[load]
clients = 8
step = "{seconds:g}s"
warmup = "3s"
[design]
mode = "{mode}"
min_blocks = {blocks}
max_blocks = {blocks}
seed = {seed}
"""
MODES = {"switchback": (4, 20.0), "blocks": (6, 5.0)}
"""Blocks, and the seconds that a trial measures."""


@dataclass(frozen=True)
class Found:
    """One experiment, in per cent."""

    mode: str
    effect: float
    low: float
    high: float
    verdict: str

    @property
    def cells(self) -> list[str]:
        shown = f"{self.effect:+.1f} %", f"{self.low:+.1f} to {self.high:+.1f} %"
        return [self.mode, *(text.replace("-", "\u2212") for text in shown), self.verdict]

    def agrees(self, other: Found) -> bool:
        """Whether the signs are the same and the intervals overlap."""
        same = (self.effect > 0.0) == (other.effect > 0.0)
        return same and self.low <= other.high and other.low <= self.high


def experiment(mode: str, seed: int) -> Found:
    """Run one and analyse it."""
    blocks, seconds = MODES[mode]
    text = SPEC.format(use="simple-update", mode=mode, blocks=blocks, seconds=seconds, seed=seed)
    with trials_of(text) as trials:
        measures = [measure_trial(trial) for trial in trials]
    # Which of pgbench's scripts makes no difference to the analysis.
    known = text.replace('"simple-update"', '"pgbench"')
    plan = make_plan(parse_spec(known, source=mode, beside=MEASURED))
    (verdict,) = Analysis(answer_of("", plan, measures)).answer.verdicts()
    low, high = verdict.ci95_pct or (-100.0, math.inf)
    return Found(mode, verdict.effect_pct or 0.0, low, high, verdict.verdict.value)


def write_page(found: Sequence[Found], path: Path) -> None:
    """docs/measured/validation-real-modes.md."""
    slices, blocks = ([one for one in found if one.mode == mode] for mode in MODES)
    pairs = [(one, other) for one in slices for other in blocks]
    agree = sum(one.agrees(other) for one, other in pairs)
    about = (
        "`synchronous_commit` on against off, pgbench's simple-update, scale 5, 8 clients, on"
        f" embedded PostgreSQL 18. Switchbacks of {MODES['switchback'][0]} trials of"
        f" {MODES['switchback'][1]:g} s; {MODES['blocks'][0]} blocks of trials of"
        f" {MODES['blocks'][1]:g} s, the data directory put back and the server started before each"
        f" trial; by turns. {datetime.now(UTC):%Y-%m-%d}, {this_machine()}. Made by `make"
        " validate-real` (`bench/real/agree.py`).\n\n"
        f"Of {len(pairs)} pairs of a switchback and an experiment in blocks, {agree} agree in sign"
        " and have intervals that overlap."
    )
    body = table(("mode", "difference", "95 % interval", "verdict"), (f.cells for f in found))
    path.write_text(
        page("Switchback and blocks agree on a real server", about, {"": body}), "utf-8"
    )


def main() -> None:
    """Run all and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--page", type=Path, default=OUTPUT)
    options = parser.parse_args()
    found = [experiment(mode, seed) for seed in range(1, options.times + 1) for mode in MODES]
    write_page(found, options.page)


if __name__ == "__main__":
    main()
