"""A small real difference, found in two minutes: `make validate-real`, a quarter of an hour of it.

Enters: nothing, or with --stored the figures of the last run. Leaves: bench/data/real-effect.json
and docs/measured/validation-real-effect.md. Never: knows the difference beforehand; all trials
together estimate it, and every four of them are an experiment.

A lookup by key against the same lookup with a few more computed columns, at 8 clients, in slices of
one server: a switchback, as `mode = "auto"` makes it.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench import DATA, MEASURED
from bench.machine import this_machine
from bench.real.aa_rounds import Series, as_row, measured, turn_of
from bench.real.runs import trials_of, with_short_slices
from bench.tables import page, table
from bench.validate.looks import conclude
from pgassay.analysis.measures.trial import measure_trial
from pgassay.analysis.model import SliceMeasures
from pgassay.plan.design import make_plan
from pgassay.spec.parse import parse_spec

FIGURES = DATA / "real-effect.json"
OUTPUT = MEASURED / "validation-real-effect.md"
TRIALS, SECONDS = 16, 32.0
AT_A_TIME = 4
PER_RUN = 8
"""Trials of one run; with twelve or more, later ones would have longer slices."""
LOOKUP = r"""\set aid random(1, 100000 * :scale)
SELECT abalance{more} FROM pgbench_accounts WHERE aid = :aid;
"""
MORE = ", aid + bid, abs(abalance), length(filler)"
SPEC = """
[target]
version = 18
[workload]
use = "{use}"
scale = 20
{factor}
[load]
clients = 8
step = "{seconds:g}s"
warmup = "2s"
[design]
mode = "switchback"
slice = "1s"
min_blocks = {blocks}
max_blocks = {blocks}
seed = 1
"""
AS_RUN = {
    "use": "select-only",
    "factor": '[factors.scenarios]\nselect-only = ["", "select-only/more.sql"]',
}
AS_ANALYSED = {"use": "pgbench", "factor": "[factors.postgres]\nwork_mem = ['4MB', '8MB']"}
"""What the scripts say makes no difference to the analysis."""


@dataclass(frozen=True)
class Found:
    """The result of one experiment, in per cent."""

    effect: float
    low: float
    high: float
    verdict: str

    @property
    def cells(self) -> list[str]:
        shown = f"{self.effect:+.2f} %", f"{self.low:+.2f} to {self.high:+.2f} %"
        return [*(text.replace("-", "\u2212") for text in shown), self.verdict]


def run(trials: int, seconds: float) -> list[list[SliceMeasures]]:
    """The slices of every trial."""
    scripts = {"select-only.sql": LOOKUP.format(more=""), "more.sql": LOOKUP.format(more=MORE)}
    series: list[list[SliceMeasures]] = []
    while len(series) < trials:
        blocks = min(PER_RUN, trials - len(series))
        text = SPEC.format(seconds=seconds, blocks=blocks, **AS_RUN)
        with trials_of(text, "select-only", scripts) as found:
            series += [list(measure_trial(trial).turns) for trial in found]
    return series


def judged(series: Series, seconds: float) -> Found:
    """One experiment of these trials."""
    text = SPEC.format(seconds=seconds, blocks=len(series), **AS_ANALYSED)
    plan = with_short_slices(make_plan(parse_spec(text, source="real-effect", beside=DATA)))
    (verdict,) = conclude(plan, measured(plan, series))[0].verdicts()
    low, high = verdict.ci95_pct or (-100.0, math.inf)
    return Found(verdict.effect_pct or 0.0, low, high, verdict.verdict.value)


def write_page(series: Series, seconds: float, path: Path) -> None:
    """docs/measured/validation-real-effect.md."""
    parts = [series[at : at + AT_A_TIME] for at in range(0, len(series) - AT_A_TIME + 1, AT_A_TIME)]
    rows = [
        [f"{at * AT_A_TIME + 1} to {(at + 1) * AT_A_TIME}", *judged(part, seconds).cells]
        for at, part in enumerate(parts)
    ]
    rows.append(["all", *judged(series, seconds).cells])
    rates = np.array([np.mean([t.values["tps"] for t in turns]) for turns in series])
    about = (
        "A lookup by key (pgbench's select-only) against one that works out three more columns, 8"
        " clients, scale 20, on embedded PostgreSQL 18, in slices of 1 s and of 0.5 s by turns of"
        f" trials of {seconds:g} s; {rates.mean():.0f} tps, trials scatter by"
        f" {100 * rates.std(ddof=1) / rates.mean():.1f} %. Every {AT_A_TIME} trials are an"
        f" experiment of {AT_A_TIME * seconds:g} s, analysed by itself; smallest effect 2 %."
        f" {datetime.now(UTC):%Y-%m-%d}, {this_machine()}. Made by `make validate-real`; the"
        " figures are in bench/data/real-effect.json."
    )
    body = table(("trials", "difference", "95 % interval", "verdict"), rows)
    path.write_text(page("A small real difference in two minutes", about, {"": body}), "utf-8")


def main() -> None:
    """Run, or read the stored figures; write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--stored", action="store_true", help="no run: the stored figures again")
    parser.add_argument("--figures", type=Path, default=FIGURES)
    parser.add_argument("--page", type=Path, default=OUTPUT)
    options = parser.parse_args()
    if not options.stored:
        series = run(options.trials, options.seconds)
        rows = [[as_row(turn) for turn in turns] for turns in series]
        text = json.dumps({"seconds": options.seconds, "trials": rows}, separators=(",", ":"))
        options.figures.write_text(text + "\n", "utf-8")
    found = json.loads(options.figures.read_text("utf-8"))
    series = [[turn_of(*turn) for turn in turns] for turns in found["trials"]]
    write_page(series, found["seconds"], options.page)


if __name__ == "__main__":
    main()
