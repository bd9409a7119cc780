"""Alternating runs of several programs, as ratios to the first.

Enters: named runners. Leaves: samples by name, and medians of ratios with their extremes.
Never: drops a run.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.engine.processes import Sample

Runner = Callable[[], Sample]


@dataclass(frozen=True)
class Ratio:
    """A median with the least and the greatest."""

    median: float
    least: float
    greatest: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f} to {self.greatest:.2f})"


def alternate(runners: Mapping[str, Runner], rounds: int) -> dict[str, list[Sample]]:
    """Rounds of all programs, every other one in reverse order, so that drift cancels."""
    samples: dict[str, list[Sample]] = {name: [] for name in runners}
    for number in range(rounds):
        names = list(runners) if number % 2 == 0 else list(runners)[::-1]
        for name in names:
            samples[name].append(runners[name]())
    return samples


def ratio(
    ours: Sequence[Sample], theirs: Sequence[Sample], measure: Callable[[Sample], float]
) -> Ratio:
    """The median of ratios within rounds."""
    found = [measure(a) / measure(b) for a, b in zip(ours, theirs, strict=True)]
    return Ratio(statistics.median(found), min(found), max(found))


def cpu_us(start_s: float = 0.0) -> Callable[[Sample], float]:
    """Microseconds of processor time per transaction, without what starting takes."""
    return lambda sample: 1e6 * (sample.cpu_s - start_s) / sample.transactions


def tps(sample: Sample) -> float:
    return sample.tps


def latency_ms(sample: Sample) -> float:
    return sample.mean_latency_ms


def median(samples: Sequence[Sample], measure: Callable[[Sample], float]) -> float:
    return statistics.median([measure(sample) for sample in samples])
