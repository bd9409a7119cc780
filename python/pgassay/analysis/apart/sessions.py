"""Which runs share the luck of one session: the same day, the same start of the server?

Enters: sides of runs, values by side and run. Leaves: values by side and session.
Never: takes runs of one session for repetitions of what differs between sessions.

Runs that were made one after the other differ by little. Where all runs of one side were made in
one session and those of the other in another, what the sessions differ by is in no spread of runs.
So the session is the unit then, and its runs count as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from pgassay.analysis.apart.model import RunDifference, Side, SpreadSource
from pgassay.analysis.apart.spread import Values


def session_of(started_ns: Sequence[int], server_starts: Sequence[float | None]) -> str:
    """Of a run's trials: the day of the first, and the start of the server if they share one."""
    day = datetime.fromtimestamp(min(started_ns) / 1e9, UTC).date().isoformat()
    starts = set(server_starts)
    shared = len(starts) == 1 < len(server_starts) and None not in starts
    return f"{day} {server_starts[0]}" if shared else day


def units_are_sessions(sides: Sequence[Side]) -> bool:
    """Whether sides were made in different sessions, and one of them has several runs in one."""
    sessions = [[run.session for run in side.runs] for side in sides]
    apart = any(set(own) != set(sessions[0]) for own in sessions)
    return apart and any(len(set(own)) < len(own) for own in sessions)


def by_session(sides: Sequence[Side], values: Sequence[Sequence[Values]]) -> list[list[Values]]:
    """The values of trials by side and session."""
    return [_joined(side, own) for side, own in zip(sides, values, strict=True)]


def in_sessions(found: RunDifference, sides: Sequence[Side], at: int) -> RunDifference:
    """The difference of sessions, with the runs that they are of."""
    spread = found.spread
    if spread is not None and spread.source is SpreadSource.RUNS:
        spread = replace(spread, source=SpreadSource.SESSIONS)
    runs = len(sides[0].runs), len(sides[at].runs)
    return replace(found, spread=spread, runs=runs, sessions=found.runs)


def _joined(side: Side, values: Sequence[Values]) -> list[Values]:
    found: Mapping[str, list[Values]] = {run.session: [] for run in side.runs}
    for run, own in zip(side.runs, values, strict=True):
        found[run.session].append(own)
    return [np.concatenate(own) for own in found.values()]
