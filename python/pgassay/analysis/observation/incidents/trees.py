"""Lock trees of a stretch: who waited for what, and what was at the root.

Enters: slices with the source `blocking`. Leaves: kinds of waits behind each kind of root.
Never: has a statement's text.
"""

from __future__ import annotations

import numpy as np

from pgassay.analysis.observation.incidents.model import Blocked
from pgassay.analysis.observation.slices import Slices
from pgassay.analysis.reading.binned import Floats

_SOURCE, _ALL = "blocking", "(all)"
_LABELS = 7
"""Of blocking_140000.sql; the last one, a relation, may have the separator in its name."""
_LEAST_WAITING = 0.05
_MOST = 12


def blocked_in(slices: Slices, first: int, last: int) -> tuple[Blocked, ...]:
    """The kinds of waits in slices from `first` to before `last`, those with most sessions first;
    those behind one root together, the nearest first."""
    objects = dict.fromkeys(key[1] for key in slices.values if key[0] == _SOURCE)
    found = [
        one
        for name in objects
        if not name.startswith(_ALL) and (one := _blocked(name, slices, first, last)) is not None
    ]
    largest = sorted(found, key=lambda one: -one.waiting)[:_MOST]
    roots = list(dict.fromkeys(_root(one) for one in largest))
    return tuple(sorted(largest, key=lambda one: (roots.index(_root(one)), one.depth)))


def _root(one: Blocked) -> tuple[str, str]:
    return one.whose, one.root_queryid


def _blocked(name: str, slices: Slices, first: int, last: int) -> Blocked | None:
    labels = name.split("/", _LABELS - 1)
    if len(labels) != _LABELS:
        return None
    nothing = np.full(len(slices), np.nan)
    waiting, roots, pids, longest, ages = (
        slices.values.get((_SOURCE, name, part), nothing)[first:last]
        for part in ("waiting", "roots", "root_pid", "longest_ms", "root_xact_ms")
    )
    waiting = np.nan_to_num(waiting)
    average = float(waiting.mean()) if last > first else 0.0
    if average < _LEAST_WAITING:
        return None
    whose, root, depth, query, locktype, mode, held = labels
    most = int(np.argmax(waiting))
    is_single = roots[most] == 1.0 and pids[most] == round(pids[most])
    return Blocked(
        whose=whose,
        root_queryid=root,
        root_pid=int(pids[most]) if is_single else None,
        depth=int(depth) if depth.isdigit() else 1,
        queryid=query,
        locktype=locktype,
        mode=mode,
        held=held,
        waiting=average,
        longest_ms=_largest(longest),
        root_xact_ms=_largest(ages),
    )


def _largest(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.max()) if len(known) else 0.0
