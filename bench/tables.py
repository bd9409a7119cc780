"""Markdown tables of simulated or measured figures, and the intervals that stand in them.

Enters: a heading, columns, rows; ratios. Leaves: lines of a page; a mean and its interval.
Never: waits for the last row: each is printed at once, so that a run that is stopped early has
shown its results.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; `rows` may be a slow generator."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    return lines


def page(title: str, about: str, sections: Mapping[str, Sequence[str]]) -> str:
    """A page of sections, each with its heading; one without a heading stands first."""
    lines = [f"# {title}", "", about]
    for heading, body in sections.items():
        lines += ["", *([f"## {heading}", ""] if heading else []), *body]
    return "\n".join(lines).rstrip() + "\n"


@dataclass(frozen=True)
class Aim:
    """The range in per cent in which a share should lie."""

    least: float
    most: float


def rate(hits: int, runs: int, aim: Aim | None = None) -> str:
    """A share with its Wilson interval; marked as missed if that lies outside the aim."""
    if not runs:
        return "–"
    found = stats.binomtest(hits, runs).proportion_ci(CONFIDENCE, method="wilson")
    low, high = 100 * found.low, 100 * found.high
    missed = aim is not None and (high < aim.least or low > aim.most)
    figure = f"{100 * hits / runs:.1f} % ({low:.1f} to {high:.1f})"
    return f"{figure}, **missed**" if missed else figure


def mean_ratio(logs: Sequence[float]) -> tuple[float, float, float]:
    """The geometric mean of ratios, whose logarithms enter, and its 95 % interval by t."""
    mean, error = float(np.mean(logs)), float(stats.sem(logs))
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(logs) - 1)) * error
    return math.exp(mean), math.exp(mean - reach), math.exp(mean + reach)
