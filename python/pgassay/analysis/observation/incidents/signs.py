"""The signs of signs.toml in slices.

Enters: slices, what is usual. Leaves: stretches in which a sign is far from usual.
Never: says which stretches are incidents.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any

import numpy as np

from pgassay.analysis.observation.incidents.statements import STATEMENT, changed_statements
from pgassay.analysis.observation.incidents.stretches import (
    SHORTEST,
    Hits,
    Stretch,
    bridged,
    is_far,
)
from pgassay.analysis.observation.incidents.usual import Clock, runs_of
from pgassay.analysis.observation.slices import Slices
from pgassay.analysis.reading.binned import Floats
from pgassay.analysis.reading.counters import Key

LIMITS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    (files(__package__) / "signs.toml").read_text("utf-8")
)
SPEED = "speed"
KINDS = tuple(kind for kind in LIMITS if kind != SPEED)
"""The first one first where several begin together."""
_SMALL = 0.1
"""Share of the floor that is added to both sides of a ratio."""
_NAMED = 3
_BEGUN, _BEGUN_TIMES = 0.2, 1.5
"""Share of the mean of a stretch, and multiple of the usual, from which on it has begun."""
_FEWER = 0.7
"""Share of its usual index scans that a table has at most where the plan of a statement changed."""


def stretches_in(slices: Slices, clock: Clock, sessions: Floats) -> dict[str, list[Stretch]]:
    """All stretches of each kind, in order of time; `sessions` are usually busy."""
    found = {STATEMENT: [*changed_statements(slices, clock, LIMITS[STATEMENT])]}
    for kind in KINDS:
        if kind == STATEMENT:
            continue
        rows = dict(_rows(slices, kind))
        if LIMITS[kind].get("by_object"):
            each = [{name: row} for name, row in rows.items()]
        else:
            each = [rows] if rows else []
        own = (one for some in each for one in _stretches(kind, some, slices, clock, sessions))
        found[kind] = sorted(own, key=lambda one: one.first)
    return found


def _rows(slices: Slices, kind: str) -> Iterator[tuple[str, Floats]]:
    """The series of a sign by what it is about: an event, a table, a class."""
    rows: dict[str, list[Floats]] = defaultdict(list)
    for key, row in slices.values.items():
        if _matches(key, kind):
            if LIMITS[kind].get("is_progress"):
                # How far it is differs from phase to phase: it goes on while that grows.
                rows["/".join(key[1].split("/")[2:-2])].append((row > 0.0).astype(np.float64))
            else:
                rows[key[1] or key[2]].append(row)
    for name, some in rows.items():
        series = np.sum(np.nan_to_num(some), axis=0)
        series[np.isnan(some).all(axis=0)] = np.nan
        yield name, series


def _matches(key: Key, kind: str) -> bool:
    path = "/".join(key)
    return any(fnmatchcase(path, pattern) for pattern in LIMITS[kind]["signals"])


def _smoothed(row: Floats, slices: Slices, over_s: float) -> Floats:
    """The mean of each slice and those before it within so many seconds."""
    count = round(over_s / float(np.median(slices.width_s))) if over_s else 1
    if count <= 1:
        return row
    known = np.r_[np.zeros(count - 1), np.nan_to_num(row)]
    windows = np.lib.stride_tricks.sliding_window_view(known, count)
    means: Floats = windows.mean(axis=1)
    return means


def _stretches(
    kind: str, rows: Mapping[str, Floats], slices: Slices, clock: Clock, sessions: Floats
) -> Iterator[Stretch]:
    limits = LIMITS[kind]
    raw = np.sum(np.nan_to_num(list(rows.values())), axis=0)
    total = _smoothed(raw, slices, limits.get("over_s", 0.0))
    if float(np.max(total)) < limits["floor"]:
        return
    usual = clock.usual(total)
    small = _SMALL * limits["floor"]
    ratio = np.log((total + small) / (usual.high + small))
    floor = np.maximum(limits["floor"], limits.get("of_sessions", 0.0) * sessions)
    hits = (total >= floor) & (total >= limits["times"] * usual.high)
    hits &= is_far(ratio)
    if kind == "plan-change":
        hits &= _has_fewer_index_scans(next(iter(rows)), slices, clock)
    for first, last in runs_of(bridged(hits)):
        # Where it is a mean of the time before, it is over when nothing more is counted.
        last = first + 1 + int(np.flatnonzero(raw[first:last])[-1:].sum())
        if last - first < SHORTEST:
            continue
        least = max(_BEGUN * float(total[first:last].mean()), _BEGUN * limits["floor"])
        begin = _onset(int(first), total, np.maximum(least, _BEGUN_TIMES * usual.high))
        means = {name: float(np.nanmean(row[first:last])) for name, row in rows.items()}
        ranked = sorted(means, key=lambda name: -means[name])[:_NAMED]
        yield Stretch(
            kind,
            begin,
            last,
            float(total[first:last].mean()),
            float(usual.high[first:last].mean()),
            tuple(name for name in ranked if means[name] > 0.1 * means[ranked[0]]),
        )


def _has_fewer_index_scans(table: str, slices: Slices, clock: Clock) -> Hits:
    scans = slices.values.get(("tables", table, "idx_scan"))
    if scans is None:
        return np.zeros(len(slices), np.bool_)
    low = clock.usual(scans).low
    return (np.nan_to_num(scans) <= _FEWER * low) & (low >= 1.0)


def _onset(first: int, total: Floats, least: Floats) -> int:
    """The slice in which it began, of which it may have filled a part only."""
    while first > 0 and total[first - 1] >= least[first - 1]:
        first -= 1
    return first
