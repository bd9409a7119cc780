"""Profiles of a run as figures.

Enters: nothing. Leaves: frozen values. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgassay.notes import Note


@dataclass(frozen=True)
class FunctionTime:
    """The time of one function, in microseconds per transaction."""

    name: str
    self_us_per_tx: float
    """In the function itself."""
    total_us_per_tx: float
    """With everything that it called."""


@dataclass(frozen=True)
class PartTime:
    """The time of one kind of process, and scenario or application."""

    process: str
    name: str
    us_per_tx: float


@dataclass(frozen=True)
class ArmProfile:
    """One profile of an arm; nothing of it is a measurement of the run."""

    arm: str
    kind: str
    """`cpu` or `off-cpu`."""
    seconds: float
    samples: int
    transactions: float
    tps: float
    """While it was profiled."""
    measured_tps: float | None
    """The mean of the arm's measured trials."""
    us_per_tx: float
    perf_cpu_share: float
    """perf's own CPU time while it recorded, in CPUs."""
    parts: tuple[PartTime, ...]
    functions: tuple[FunctionTime, ...]
    """Those with the most time of their own."""
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class FunctionDifference:
    """One function in two arms, in microseconds per transaction."""

    name: str
    baseline_us_per_tx: float
    arm_us_per_tx: float
    difference_us_per_tx: float
    sampling_error_us_per_tx: float
    """Standard error of the difference by the number of samples alone."""


@dataclass(frozen=True)
class ProfileDifference:
    """What an arm spends per transaction beside the baseline."""

    baseline: str
    arm: str
    kind: str
    difference_us_per_tx: float
    own: tuple[FunctionDifference, ...]
    """Time in functions themselves, the largest differences first."""
    total: tuple[FunctionDifference, ...]
    """The same with everything that they called, of functions outside the kernel."""


@dataclass(frozen=True)
class Profiles:
    """All profiles of a run."""

    arms: tuple[ArmProfile, ...] = ()
    differences: tuple[ProfileDifference, ...] = ()
    notes: tuple[Note, ...] = ()
    """What could not be profiled, and why."""
