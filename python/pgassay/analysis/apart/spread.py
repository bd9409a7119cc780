"""How much do runs of the same thing differ, and which of them share one session?

Enters: the values of trials, by side and run; what the user states. Leaves: a `RunSpread`.
Never: takes the spread inside a run for that between runs, or runs of one session for repetitions
of what differs between sessions.

Runs that were made one after the other differ by little. Where all runs of one side were made in
one session and those of the other in another, what the sessions differ by is in no spread of runs.
So the session is the unit then, and its runs count as one. A session is a day where the sides were
made on different days, whichever servers were started there; else it is a start of the server.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.apart.model import RunDifference, RunSpread, Session, Side, SpreadSource

Values = NDArray[np.float64]
Sides = Sequence[Sequence[Values]]
"""The trials' values of each run of each side, on the scale of comparison."""
_KNOWN: Mapping[str, Any] = tomllib.loads((files(__package__) / "spread.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Within:
    """The part of a side's variance that its trials show."""

    mean: float
    """Of the means of its runs."""
    variance: float
    """Of that mean; infinite where a run has a single trial."""
    degrees: float


def within(runs: Sequence[Values]) -> Within:
    """Returns a side's mean with the variance inside its runs (Welch and Satterthwaite)."""
    parts = [float(np.var(r, ddof=1)) / len(r) if len(r) > 1 else math.inf for r in runs]
    variance = sum(parts) / len(runs) ** 2
    mean = float(np.mean([run.mean() for run in runs]))
    if not math.isfinite(variance) or variance == 0.0:
        return Within(mean, variance, 1.0)
    below = sum(
        (part / len(runs) ** 2) ** 2 / (len(r) - 1) for part, r in zip(parts, runs, strict=True)
    )
    return Within(mean, variance, variance**2 / below)


def unrest(metric: str, sides: Sides) -> float:
    """Measures slow changes of the primary metric inside runs, in units of what is assumed; 1 or
    more."""
    slow = max((_slow_sd(run) for side in sides for run in side), default=0.0)
    return max(1.0, slow / _share(metric))


def run_spread(
    metric: str, sides: Sides, *, scale: float, stated: float | None, unrest: float = 1.0
) -> RunSpread:
    """Returns the spread between runs; `scale` is what a share of one is on the scale of
    comparison.

    Slow changes of the primary metric inside runs (`unrest`) widen what is assumed of all metrics.
    """
    share = _share(metric)
    if stated is not None:
        ratio = share / _KNOWN["assumed"]["usual"]
        return RunSpread(stated * ratio * scale, SpreadSource.STATED, math.inf)
    repeated = _of_repeated(sides)
    if repeated is not None and repeated.degrees >= _KNOWN["repeated"]["from_degrees"]:
        return repeated
    slow = max(_slow_sd(run) for side in sides for run in side)
    slow = max(slow, unrest * share * scale)
    if slow > share * scale:
        return RunSpread(slow, SpreadSource.SLOW_CHANGES, math.inf)
    return RunSpread(share * scale, SpreadSource.ASSUMED, math.inf)


def _share(metric: str) -> float:
    found: float = _KNOWN["assumed"].get(metric, _KNOWN["assumed"]["usual"])
    return found


def _of_repeated(sides: Sides) -> RunSpread | None:
    """The pooled standard deviation of the runs' means inside their sides."""
    means = [np.array([run.mean() for run in side]) for side in sides]
    degrees = sum(len(side) - 1 for side in means)
    if not degrees:
        return None
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in means)
    return RunSpread(math.sqrt(squares / degrees), SpreadSource.RUNS, degrees)


def _slow_sd(trials: Values) -> float:
    """What the spread of trials is beyond that of neighbours (von Neumann 1941): slow changes."""
    if len(trials) < _KNOWN["slow"]["fewest_trials"]:
        return 0.0
    neighbours = float(np.mean(np.diff(trials) ** 2)) / 2.0
    return math.sqrt(max(0.0, float(np.var(trials, ddof=1)) - neighbours))


Units = Sequence[Sequence[Hashable]]
"""By side and run: the session that it belongs to."""


def session_of(started_ns: Sequence[int], server_starts: Sequence[float | None]) -> Session:
    """Returns the session of a run's trials: the day of the first, and a start of the server that
    all share."""
    day = datetime.fromtimestamp(min(started_ns) / 1e9, UTC).date().isoformat()
    shared = len(set(server_starts)) == 1 < len(server_starts)
    return Session(day, server_starts[0] if shared else None)


def session_units(sides: Sequence[Side]) -> Units | None:
    """Returns the sessions, if the sides differ by them and one has several runs in one; else
    None."""
    days = [[run.session.day for run in side.runs] for side in sides]
    starts = [[run.session for run in side.runs] for side in sides]
    for units in (days, starts):
        if any(set(own) != set(units[0]) for own in units):
            return units if any(len(set(own)) < len(own) for own in units) else None
    return None


def by_session(units: Units, values: Sequence[Sequence[Values]]) -> list[list[Values]]:
    """Joins the values of trials by side and session."""
    return [_joined(own, of_runs) for own, of_runs in zip(units, values, strict=True)]


def in_sessions(found: RunDifference, sides: Sequence[Side], at: int) -> RunDifference:
    """Marks a difference as one of sessions, with the runs that they are of."""
    spread = found.spread
    if spread is not None and spread.source is SpreadSource.RUNS:
        spread = replace(spread, source=SpreadSource.SESSIONS)
    runs = len(sides[0].runs), len(sides[at].runs)
    return replace(found, spread=spread, runs=runs, sessions=found.runs)


def _joined(units: Sequence[Hashable], values: Sequence[Values]) -> list[Values]:
    found: Mapping[Hashable, list[Values]] = {unit: [] for unit in units}
    for unit, own in zip(units, values, strict=True):
        found[unit].append(own)
    return [np.concatenate(own) for own in found.values()]
