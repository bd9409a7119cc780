"""Parse a service-level objective such as `p99 <= 20ms and failed <= 0.1%`.

Enters: text. Leaves: an `Objective`, or ValueError with a message for the user.
Never: measures; it judges figures that it is given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pgassay.spec.reading.units import duration_s

LATENCIES = ("mean", "p50", "p95", "p99", "p999", "max")
_CLAUSE = re.compile(r"\s*([\w.]+)\s*(<=|<)\s*(\S+(?:\s+[a-z]+)?)\s*$")
_HOW = "write for example 'p99 <= 20ms' or 'p95 <= 5ms and failed <= 0.1%'"


@dataclass(frozen=True)
class Clause:
    """One condition of an objective; its limit is in milliseconds for a latency, in per cent for
    failed transactions."""

    quantity: str
    limit: float

    @property
    def text(self) -> str:
        return f"{self.quantity} <= {self.limit:g}{'%' if self.quantity == 'failed' else 'ms'}"

    def holds(self, figures: Mapping[str, float | None]) -> bool:
        value = figures[self.quantity]
        return value is not None and value <= self.limit


@dataclass(frozen=True)
class Objective:
    """The objective of a search for the highest load: conditions that must all hold."""

    clauses: tuple[Clause, ...]

    @property
    def text(self) -> str:
        return " and ".join(clause.text for clause in self.clauses)

    def holds(self, figures: Mapping[str, float | None]) -> bool:
        """Whether one probe's figures meet it: latencies in ms, `failed` in per cent."""
        return all(clause.holds(figures) for clause in self.clauses)


def parse_objective(text: str) -> Objective:
    """Returns the objective that a text such as `p99 <= 20ms and failed <= 0.1%` states; raises
    ValueError."""
    clauses = tuple(_clause(part) for part in re.split(r"\s+and\s+|,", text))
    if not any(clause.quantity != "failed" for clause in clauses):
        raise ValueError(f"an objective needs a latency; {_HOW}")
    return Objective(clauses)


def _clause(text: str) -> Clause:
    match = _CLAUSE.match(text)
    if not match:
        raise ValueError(f"{text.strip()!r} is not a condition; {_HOW}")
    quantity, _, limit = match.groups()
    if quantity == "failed":
        if not re.fullmatch(r"[0-9.]+\s*%", limit):
            raise ValueError(
                f"{limit!r}: write the share of failed transactions in per cent, such as 0.1%"
            )
        return Clause(quantity, float(limit.rstrip("% ")))
    if quantity not in LATENCIES:
        raise ValueError(
            f"{quantity!r} is not a quantity; known are {', '.join(LATENCIES)}, failed"
        )
    if re.fullmatch(r"[0-9.]+", limit):
        raise ValueError(f"{limit!r} needs a unit, such as {limit}ms")
    seconds = duration_s(limit)
    if seconds <= 0:
        raise ValueError(f"{limit!r}: a latency is above 0")
    return Clause(quantity, seconds * 1e3)
