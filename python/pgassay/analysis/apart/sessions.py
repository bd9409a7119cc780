"""Which runs share the luck of one session: the same day, the same start of the server?

Enters: sides of runs, values by side and run. Leaves: values by side and session.
Never: takes runs of one session for repetitions of what differs between sessions.

Runs that were made one after the other differ by little. Where all runs of one side were made in
one session and those of the other in another, what the sessions differ by is in no spread of runs.
So the session is the unit then, and its runs count as one. A session is a day where the sides were
made on different days, whichever servers were started there; else it is a start of the server.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from pgassay.analysis.apart.model import RunDifference, Session, Side, SpreadSource
from pgassay.analysis.apart.spread import Values

Units = Sequence[Sequence[Hashable]]
"""By side and run: the session that it belongs to."""


def session_of(started_ns: Sequence[int], server_starts: Sequence[float | None]) -> Session:
    """Of a run's trials: the day of the first, and the start of the server if they share one."""
    day = datetime.fromtimestamp(min(started_ns) / 1e9, UTC).date().isoformat()
    shared = len(set(server_starts)) == 1 < len(server_starts)
    return Session(day, server_starts[0] if shared else None)


def session_units(sides: Sequence[Side]) -> Units | None:
    """The sessions, if the sides differ by them and one has several runs in one; else None."""
    days = [[run.session.day for run in side.runs] for side in sides]
    starts = [[run.session for run in side.runs] for side in sides]
    for units in (days, starts):
        if any(set(own) != set(units[0]) for own in units):
            return units if any(len(set(own)) < len(own) for own in units) else None
    return None


def by_session(units: Units, values: Sequence[Sequence[Values]]) -> list[list[Values]]:
    """The values of trials by side and session."""
    return [_joined(own, of_runs) for own, of_runs in zip(units, values, strict=True)]


def in_sessions(found: RunDifference, sides: Sequence[Side], at: int) -> RunDifference:
    """The difference of sessions, with the runs that they are of."""
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
