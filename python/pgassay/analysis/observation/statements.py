"""Totals of pg_stat_statements over an observation.

Enters: the counters of segments, each statement read at the beginning and the end. Leaves: sums.
Never: has a statement's text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

_SOURCE = "statements"


@dataclass(frozen=True)
class Statement:
    """The totals of one statement."""

    queryid: str
    calls: float
    exec_time_ms: float
    rows: float
    blocks_read: float
    wal_bytes: float

    @property
    def mean_ms(self) -> float:
        return self.exec_time_ms / self.calls if self.calls else 0.0


class StatementSums:
    """Sums over segments."""

    def __init__(self, own: Collection[str] = ()) -> None:
        """`own` are the ids of statements that pgassay sends itself, which are left out."""
        self._own = own
        self._grown: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))

    def add(self, postgres: pa.Table) -> None:
        """Add one segment: the later reading of each statement less the earlier."""
        wanted = pc.equal(postgres["source"].cast(pa.string()), _SOURCE)
        rows = postgres.filter(wanted).select(["time_ns", "object", "name", "value"])
        first: dict[tuple[str, str], tuple[int, float]] = {}
        for row in rows.to_pylist():
            key = (row["object"], row["name"])
            if row["object"] in self._own:
                continue
            if key not in first:
                first[key] = (row["time_ns"], row["value"])
                continue
            began, value = first.pop(key)
            sign = 1 if row["time_ns"] >= began else -1
            self._grown[row["object"]][row["name"]] += sign * (row["value"] - value)

    def totals(self) -> dict[str, float]:
        """The growth of each column over all statements."""
        found: dict[str, float] = defaultdict(float)
        for grown in self._grown.values():
            for name, value in grown.items():
                found[name] += value
        return dict(found)

    def ranked(self) -> tuple[Statement, ...]:
        """The statements by total time, the largest first."""
        found = [
            Statement(
                queryid=queryid,
                calls=grown["calls"],
                exec_time_ms=grown["exec_time_ms"],
                rows=grown["rows"],
                blocks_read=grown["shared_blks_read"],
                wal_bytes=grown["wal_bytes"],
            )
            for queryid, grown in self._grown.items()
        ]
        return tuple(sorted(found, key=lambda one: -one.exec_time_ms))
