"""The extensions whose counts are followed around a load, as values.

Enters: nothing. Leaves: names of their sources and columns. Never: asks a server.
"""

from __future__ import annotations

from dataclasses import dataclass

READ = "(read)"
"""The object of one more row: for how many `seconds` the extension's counts were followed."""


@dataclass(frozen=True)
class Counted:
    """One query of an extension's sums, and which of its columns matter here."""

    source: str
    extension: str
    calls: str
    """Grows whenever anything does."""
    ranked_by: str
    resets: str = ""
    """The query for resets and evictions; empty where there is none."""


STATEMENTS = Counted(
    "statements", "pg_stat_statements", "calls", "exec_time_ms", resets="statements_reset"
)
WAITS = Counted(
    "wait_profile", "pg_wait_sampling", "samples", "waited_ms", resets="wait_profile_reset"
)
"""Objects are `EVENT/QUERYID`."""
