"""The metrics and wait classes, read from metrics.toml and wait_classes.toml.

Enters: the two data files beside this module. Leaves: `METRICS`, `WAIT_CLASSES`, `TIME_PARTS`.
Never: computes an estimate.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Literal

from pgassay.notes import Term, terms_of
from pgassay.spec.endpoints import OF_A_SCENARIO


@dataclass(frozen=True)
class Metric:
    """One estimated quantity of a trial."""

    name: str
    title: str
    unit: str
    good: Literal["higher", "lower", "neither"]
    scale: Literal["ratio", "difference"]
    group: Literal["speed", "cost", "waits", "total", "host"]
    digits: int
    floor: float = 0.0
    """The smallest difference that is worth a row or a sentence."""
    resolution: float = 0.0
    """Of a ratio: the share of it that its measurement cannot tell apart."""


@dataclass(frozen=True)
class WaitClass:
    """A group of wait events with one meaning to a DBA."""

    name: str
    title: str
    patterns: tuple[str, ...]

    @property
    def metric(self) -> str:
        """The metric of this class: wait milliseconds per transaction."""
        return f"wait_{self.name}_ms_per_tx"


class _NoWait(WaitClass):
    """A part of a transaction's time in which its session is not sampled."""

    @property
    def metric(self) -> str:
        return f"{self.name}_ms_per_tx"


def _read_wait_classes() -> tuple[WaitClass, ...]:
    found = terms_of(
        tomllib.loads((files(__package__) / "wait_classes.toml").read_text("utf-8")),
        ("title", "unit"),
    )
    return tuple(
        WaitClass(entry["name"], entry["title"], tuple(entry["patterns"]))
        for entry in found["class"]
    )


WAIT_CLASSES = _read_wait_classes()
TO_BEGIN = _NoWait("to_begin", Term("Waiting to begin"), ())
"""From when a transaction was due until it began; only with a rate."""
PARALLEL = _NoWait("parallel", Term("Parallel workers, at the same time"), ())
"""The time of parallel workers, below zero: sessions spend it beside the transaction's own time."""
UNACCOUNTED = _NoWait("unaccounted", Term("Unaccounted"), ())
"""What is left of a transaction's time. Negative where the samples count more than it."""
TIME_PARTS = (TO_BEGIN, *WAIT_CLASSES, PARALLEL, UNACCOUNTED)
"""The parts of a transaction's time; they sum to its mean response time or latency."""


MEAN, P95, BLOCKS, PLAN = "mean", "p95", "blocks", "plan"
_OF_PARTS: Mapping[str, str] = {
    **dict.fromkeys(OF_A_SCENARIO, Term("ms")),
    BLOCKS: "",
    PLAN: "",
}
"""What is measured of a part of the load, a scenario or a query, and its unit."""


def part_of(metric: str) -> tuple[str, str] | None:
    """Returns the part and the measure of a name such as `payment.p99`; None of other metrics."""
    part, _, measure = metric.rpartition(".")
    return (part, measure) if part and measure in _OF_PARTS else None


class _Metrics(dict[str, Metric]):
    """The metrics of the file, and those of parts, which only an experiment knows."""

    def __missing__(self, name: str) -> Metric:
        named = part_of(name)
        if named is None:
            raise KeyError(name)
        return Metric(name, name, _OF_PARTS[named[1]], "lower", "ratio", "speed", 3)


def _read_metrics() -> Mapping[str, Metric]:
    found = terms_of(
        tomllib.loads((files(__package__) / "metrics.toml").read_text("utf-8")), ("title", "unit")
    )
    metrics = _Metrics({name: Metric(name, **fields) for name, fields in found.items()})
    for part in TIME_PARTS:
        title = Term(f"Time per transaction: {str.__str__(part.title)}")
        metrics[part.metric] = Metric(
            part.metric, title, Term("ms"), "lower", "difference", "waits", 3, _FLOOR_MS
        )
    return metrics


_FLOOR_MS = 0.005
"""Of a part of a transaction's time: what sampling ten times a second can tell apart."""
METRICS = _read_metrics()


@cache
def class_of(wait_event_type: str | None, wait_event: str | None) -> str:
    """The wait class of an event; no event is `cpu`.

    Case is ignored, because PostgreSQL 17 respelt some events (`WALWrite` became `WalWrite`).
    """
    event = f"{wait_event_type or 'CPU'}:{wait_event or ''}".lower()
    return next(
        wait_class.name
        for wait_class in WAIT_CLASSES
        if any(fnmatchcase(event, pattern.lower()) for pattern in wait_class.patterns)
    )
