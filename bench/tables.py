"""Tables of what was simulated or measured, as Markdown.

Enters: a heading, columns, rows. Leaves: lines of a page. Never: waits for the last row: each is
printed when it is known, so that a run which is broken off has told what it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scipy import stats

CONFIDENCE = 0.95


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; `rows` may be a generator that takes its time."""
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
    """Per cent from and up to which a share is as it should be."""

    least: float
    most: float


def rate(hits: int, runs: int, aim: Aim | None = None) -> str:
    """A share with its interval (Wilson); missed is an aim that lies outside of it."""
    if not runs:
        return "–"
    found = stats.binomtest(hits, runs).proportion_ci(CONFIDENCE, method="wilson")
    low, high = 100 * found.low, 100 * found.high
    missed = aim is not None and (high < aim.least or low > aim.most)
    told = f"{100 * hits / runs:.1f} % ({low:.1f} to {high:.1f})"
    return f"{told}, **missed**" if missed else told
