"""Parse a service-level objective such as `p99 <= 20ms and failed <= 0.1%`.

Enters: text. Leaves: an `Objective`, or ValueError with a message for the user.
Never: measures; it judges figures that it is given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.reading.units import duration_s

LATENCIES = ("mean", "p50", "p95", "p99", "p999", "max")
_CLAUSE = re.compile(r"\s*([\w.]+)\s*(<=|<)\s*(\S+(?:\s+[a-z]+)?)\s*$")


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
        """Returns whether a probe's figures (latencies in ms, `failed` in per cent) meet it."""
        return all(clause.holds(figures) for clause in self.clauses)


def parse_objective(text: str) -> Objective:
    """Returns the objective that a text such as `p99 <= 20ms and failed <= 0.1%` states; raises
    ValueError."""
    clauses = tuple(_clause(part) for part in re.split(r"\s+and\s+|,", text))
    if not any(clause.quantity != "failed" for clause in clauses):
        raise UnfitValue("objective-without-latency")
    return Objective(clauses)


def _clause(text: str) -> Clause:
    match = _CLAUSE.match(text)
    if not match:
        raise UnfitValue("not-a-condition", given=text.strip())
    quantity, _, limit = match.groups()
    if quantity == "failed":
        if not re.fullmatch(r"[0-9.]+\s*%", limit):
            raise UnfitValue("not-a-share-of-failures", given=limit)
        return Clause(quantity, float(limit.rstrip("% ")))
    if quantity not in LATENCIES:
        raise UnfitValue("quantity-unknown", quantity=quantity, known=", ".join(LATENCIES))
    if re.fullmatch(r"[0-9.]+", limit):
        raise UnfitValue("limit-without-unit", given=limit)
    seconds = duration_s(limit)
    if seconds <= 0:
        raise UnfitValue("limit-not-above-zero", given=limit)
    return Clause(quantity, seconds * 1e3)
