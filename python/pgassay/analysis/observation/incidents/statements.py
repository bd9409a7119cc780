"""Statements that suddenly take longer and read more blocks a call, while others do not.

Enters: slices with the counts of statements, what is usual. Leaves: stretches. Never: has a
statement's text, or takes a statement that waits for one that reads more.

Counts of statements are read about once a minute, so that a change seems to begin up to a minute
early; the sessions that were busy with the statement say when it did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pgassay.analysis.observation.incidents.stretches import SHORTEST, Stretch, bridged, is_far
from pgassay.analysis.observation.incidents.usual import Clock, runs_of
from pgassay.analysis.observation.slices import Slices
from pgassay.analysis.reading.binned import Floats
from pgassay.trials.sampling.queries import STATEMENTS

STATEMENT = "statement-change"
"""The kind of the sign."""
_OTHERS = 30
"""Statements that others are judged by: those with the most blocks."""
_SMALL_BLOCKS = 1.0
_BUSY = 0.5
"""Share of its mean that the sessions busy with a statement have at least while it lasts."""


def changed_statements(
    slices: Slices, clock: Clock, limits: Mapping[str, Any]
) -> Iterator[Stretch]:
    """Yields the stretches of each statement in order of time."""
    took = {
        key[1]: row
        for key, row in slices.values.items()
        if key[0] == STATEMENTS.source and key[2] == STATEMENTS.ranked_by
    }
    least_ms = 1e3 * limits["floor"]
    suspects = [one for one, row in took.items() if np.nanmax(row, initial=0.0) >= least_ms]
    if not suspects:
        return
    blocks = {queryid: _blocks(slices, queryid) for queryid in took}
    sums = {queryid: float(np.nansum(row)) for queryid, row in blocks.items()}
    largest = sorted(sums, key=lambda queryid: -sums[queryid])[:_OTHERS]
    wanted = dict.fromkeys((*suspects, *largest))
    risen = {one: _risen(_a_call(slices, one, blocks[one]), clock) for one in wanted}
    found: list[Stretch] = []
    for queryid in suspects:
        others = [risen[one] for one in largest if one != queryid]
        own = _a_call(slices, queryid, took[queryid])
        usual = clock.usual(own).high
        ratio = np.log(own / np.maximum(usual, 1e-9))
        hits = (took[queryid] >= least_ms) & is_far(risen[queryid])
        hits &= np.minimum(ratio, risen[queryid]) >= np.log(limits["times"])
        hits &= _middle(others, len(slices)) <= np.log(limits["others"])
        for span in runs_of(bridged(hits)).tolist():
            first, last = _busy_part(slices, queryid, *span)
            if last - first >= SHORTEST:
                part = slice(first, last)
                value, common = (float(np.nanmean(row[part])) for row in (own, usual))
                found.append(Stretch(STATEMENT, first, last, value, common, (queryid,)))
    yield from sorted(found, key=lambda one: one.first)


def _blocks(slices: Slices, queryid: str) -> Floats:
    nothing = np.zeros(len(slices))
    names = ("shared_blks_hit", "shared_blks_read")
    hit, read = (slices.values.get((STATEMENTS.source, queryid, name), nothing) for name in names)
    blocks: Floats = hit + read
    return blocks


def _a_call(slices: Slices, queryid: str, row: Floats) -> Floats:
    calls = slices.values.get((STATEMENTS.source, queryid, STATEMENTS.calls), np.zeros(len(row)))
    found: Floats = np.divide(row, calls, out=np.full(len(row), np.nan), where=calls > 0.0)
    return found


def _risen(blocks: Floats, clock: Clock) -> Floats:
    """The logarithm of the blocks a call over their usual number; NaN where it was not called."""
    usual = clock.usual(blocks).high
    ratio: Floats = np.log((blocks + _SMALL_BLOCKS) / (usual + _SMALL_BLOCKS))
    return ratio


def _middle(others: list[Floats], count: int) -> Floats:
    """What half of the others rose by at most; 0 where no other was called."""
    rows = np.sort(np.array([*others, np.full(count, np.nan)]), axis=0)  # NaN come last
    known = np.count_nonzero(~np.isnan(rows), axis=0)
    middle: Floats = np.take_along_axis(rows, np.maximum(known - 1, 0)[None] // 2, axis=0)[0]
    return np.where(known > 0, middle, 0.0)


def _busy_part(slices: Slices, queryid: str, first: int, last: int) -> tuple[int, int]:
    """The part of a stretch in which sessions were busy with the statement; all of it where
    nobody looked."""
    rows = [row[first:last] for key, row in slices.values.items() if key[:2] == ("query", queryid)]
    busy = np.sum(np.nan_to_num(rows), axis=0) if rows else np.zeros(last - first)
    if not busy.any():
        return first, last
    at = np.flatnonzero(busy >= _BUSY * busy.mean())
    return first + int(at[0]), first + int(at[-1]) + 1
