"""Error rates of the steadiness of trials, by simulation: `make validate`.

Enters: nothing. Leaves: docs/measured/validation-steadiness.md. Never: touches a server.

Steady trials called unsteady, changes that are missed, and the error of the advised warm-up: in
seconds, and as the remaining bias of the mean.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from bench import MEASURED
from bench.tables import Aim, page, rate, table
from bench.validate.parallel import spread
from bench.validate.within_trials.courses import BASE_TPS, course_of, inert_noise
from pgassay.analysis.curves.model import Steadiness, StepSteadiness
from pgassay.analysis.curves.steadiness import mser5, step_courses
from pgassay.analysis.statistics.trend import drift

Array = NDArray[np.float64]
OUTPUT = MEASURED / "validation-steadiness.md"
SPREAD = 0.03
LENGTHS_S = (150, 600)
MARGIN = 0.02
SETTLED = 0.005
"""As far from its last level as this a trial has settled: a quarter of the margin."""


@dataclass(frozen=True)
class Noise:
    """Noise of seconds: an autoregression plus white noise."""

    memory: float
    fast: float = 0.0
    """Share of the variance that is white noise."""

    @property
    def name(self) -> str:
        return f"ρ = {self.memory:g}{f', {100 * self.fast:g} % fast' if self.fast else ''}"

    def draw(self, source: np.random.Generator, rows: int, n: int) -> Array:
        slow = inert_noise(source, rows, n, self.memory)
        found: Array = np.sqrt(1.0 - self.fast) * slow
        found += np.sqrt(self.fast) * source.standard_normal(slow.shape)
        return SPREAD * found


NOISES = (Noise(0.0), Noise(0.5), Noise(0.8), Noise(0.9), Noise(0.95), Noise(0.95, 0.5))
_FEW = (Noise(0.5), Noise(0.8), Noise(0.95, 0.5))


@dataclass(frozen=True)
class Shape:
    """A course without noise, over the share of the trial that has passed; it ends at 1."""

    name: str
    at: Callable[[Array], Array]
    settles: bool = True

    def course(self, n: int) -> Array:
        return self.at((np.arange(n) + 0.5) / n)

    def end(self, n: int) -> int:
        """The first second from which on it has settled."""
        away = np.flatnonzero(np.abs(self.course(n) - 1.0) > SETTLED)
        return int(away[-1]) + 1 if len(away) else 0


SHAPES = (
    Shape("flat", np.ones_like),
    Shape("up by 30 %, exponentially, settled after a fifth", lambda x: 1 - 0.3 * np.exp(-20 * x)),
    Shape("up by 30 % at once, after a tenth", lambda x: np.where(x < 0.1, 0.7, 1.0)),
    Shape("up by 30 % in a line, for a fifth", lambda x: 1 - 0.3 * np.maximum(1 - 5 * x, 0.0)),
    Shape("down by 10 % at once, after two thirds", lambda x: np.where(x < 0.63, 1.0, 0.9), False),
    Shape("up and down by 5 %, twice", lambda x: 1 + 0.05 * np.sin(4 * np.pi * x), False),
    Shape("down by 15 %, in a line", lambda x: 1 - 0.15 * x, False),
)


def judged(tps: Array) -> StepSteadiness:
    """pgassay's judgement of one trial."""
    (found,) = step_courses([course_of(tps)], MARGIN)
    return found


Task = tuple[int, int, int]
"""A place in a list, a length, experiments."""


def steady_row(task: Task) -> list[str]:
    """Trials without any change; and a slope whose interval should hold it."""
    at, seconds, runs = task
    noise = NOISES[at]
    source = np.random.default_rng([at, seconds])
    rows = noise.draw(source, runs, seconds)
    found = [judged(BASE_TPS * np.exp(row)).course for row in rows]
    slope = 0.1 * np.arange(seconds) / seconds
    drifts = [drift(1.0 + slope + row) for row in rows]
    holds = sum(d is not None and d.low <= 0.1 <= d.high for d in drifts)
    called = sum(course is not Steadiness.STEADY for course in found)
    return [
        f"{seconds} s", noise.name,
        rate(called, runs, Aim(0.0, 5.0)),
        rate(sum(course is Steadiness.UNSTEADY for course in found), runs),
        rate(holds, runs, Aim(93.0, 100.0)),
    ]  # fmt: skip


def shape_row(task: Task) -> list[str]:
    """One shape with one noise: the judgement, the cut and the remaining bias."""
    place, seconds, runs = task
    shape, noise = SHAPES[place // len(_FEW)], _FEW[place % len(_FEW)]
    source = np.random.default_rng([place, seconds])
    course, end = shape.course(seconds), shape.end(seconds)
    rows = BASE_TPS * course * np.exp(noise.draw(source, runs, seconds))
    found = [judged(row) for row in rows]
    said = [
        rate(sum(one.course is kind for one in found), runs)
        for kind in (Steadiness.STEADY, Steadiness.WARMING, Steadiness.UNSTEADY)
    ]
    if not shape.settles:
        return [shape.name, f"{seconds} s, {noise.name}", *said, "–", "–", "–"]
    cuts = [round(one.warmup_s) for one in found]
    advised = [cut - end for cut, one in zip(cuts, found, strict=True) if one.warmup_s > 0.0]
    alone = [mser5(row) for row in rows]
    return [
        shape.name,
        f"{seconds} s, {noise.name}",
        *said,
        f"{end} s" if end else "none",
        off_by(advised),
        "; ".join(f"{bias(rows, course, k):+.2f} %" for k in ([0] * runs, cuts, alone)),
    ]


def off_by(seconds: Sequence[int]) -> str:
    """The median and the central 90 %."""
    if not seconds:
        return "–"
    low, middle, high = np.quantile(seconds, [0.05, 0.5, 0.95])
    return f"{middle:+.0f} s ({low:+.0f} to {high:+.0f})"


def bias(rows: Array, course: Array, cuts: Sequence[int]) -> float:
    """How far the mean after the cut is from the final level, in per cent."""
    left = [row[cut:].mean() for row, cut in zip(rows, cuts, strict=True)]
    steady = [
        (row / course)[cut:].mean() for row, cut in zip(rows, cuts, strict=True)
    ]  # the same noise without the shape
    return 100.0 * float(np.mean(np.array(left) / np.array(steady)) - 1.0)


def seconds_of(task: Task) -> float:
    """The cost of a row."""
    return float(task[1])


def main(runs: int = 400) -> None:
    """Write the page."""
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}; {runs} trials a row whose seconds scatter by"
        f" {100 * SPREAD:g} %, autocorrelated with ρ, or with half of the variance white noise;"
        " smallest effect 2 %; in brackets the 95 % interval of the share. Made by"
        " `make validate` (`bench/validate/within_trials/steadiness_errors.py`); what is done:"
        " [diagnosis](../methods/diagnosis.md#was-a-trial-steady). No public series of"
        " benchmarks with a known steady state is available as a package, so these are simulated."
    )
    steady = [(at, n, runs) for n in LENGTHS_S for at in range(len(NOISES))]
    shapes = [(at, n, runs) for n in LENGTHS_S for at in range(len(SHAPES) * len(_FEW))]
    sections = {
        "Steady trials": [
            "Target: called anything else in 5 % or less; the interval of a trend (here 10 % from"
            " beginning to end) holds in 93 % or more.",
            "",
            *table(
                ("trial", "noise", "not called steady", "unsteady", "trend's interval holds"),
                spread(steady_row, steady, seconds_of),
            ),
        ],
        "Warm-ups, and trials that never settle": [
            "Settled: within 0.5 % of the last level. Advised cut: seconds after (+) or before the"
            " end of the true warm-up, where a trial is called warming up; median, and nine of ten."
            " Bias: of the mean without a cut; with the advised one, where one is advised, over all"
            " trials; with MSER-5 alone, which cuts every trial.",
            "",
            *table(
                ("course", "trial", "steady", "warming up", "unsteady", "true warm-up",
                 "advised cut is off by", "bias: none; advised; MSER-5"),
                spread(shape_row, shapes, seconds_of),
            ),
        ],
    }  # fmt: skip
    OUTPUT.write_text(page("Validation of steadiness and warm-up", about, sections), "utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
