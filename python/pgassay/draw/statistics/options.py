"""What a user may say about drawing from statistics.

Enters: nothing. Leaves: `StatisticsOptions`. Never: reads a file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROWS = 10_000


@dataclass(frozen=True, slots=True)
class StatisticsOptions:
    """How a workload is drawn from a server's statistics."""

    seconds: float = 600.0
    """Time between the two readings."""
    skew: tuple[str, ...] = ()
    """Laws by which rows are asked for: "zipf:1.0", or "schema.table.column=zipf:1.0"."""
    transactions: Path | None = None
    """A TOML file that groups statements into transactions."""
    rows: int = ROWS
    """Rows of parameters of each scenario; those whose inserts take new values have more."""
    seed: int = 1
    """Of what is chosen at random; the rows that a server gives differ each time all the same."""
    progress: Callable[[float], None] | None = None
    """Called about once a second with the seconds since the first reading."""
