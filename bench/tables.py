"""Tables of what was simulated or measured, as Markdown.

Enters: a heading, columns, rows. Leaves: lines of a page. Never: waits for the last row: each is
printed when it is known, so that a run which is broken off has told what it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scipy import stats


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


def rate(hits: int, runs: int) -> str:
    """A share with its 95 % interval (Wilson)."""
    found = stats.binomtest(hits, runs).proportion_ci(method="wilson")
    return f"{100 * hits / runs:.1f} % ({100 * found.low:.1f} to {100 * found.high:.1f})"
