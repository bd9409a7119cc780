"""The `[guard]` table: limits that end a run while it is under way.

Enters: the table that tomllib made. Leaves: the checked table. Never: looks at a server.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pgassay.spec.reading.values import Duration, MemorySize, Table


class GuardTable(Table):
    """The `[guard]` table: limits at which a run ends in order because it would harm others who use
    the server."""

    replication_lag: Annotated[Duration, Field(gt=0)] | None = Field(
        None,
        description="the most that a standby may be behind in replay, or not connected, such as"
        " '30s'",
    )
    other_latency: Annotated[Duration, Field(gt=0)] | None = Field(
        None,
        description="the longest that a query of one row, in a session beside the load, may take"
        " three times in a row, a second apart, such as '50ms'",
    )
    free_disk: MemorySize | None = Field(
        None,
        description="the least free room of the disks of data directory and WAL, such as '20GB'",
    )

    def described(self) -> list[str]:
        """Returns a line for people for each limit that is set."""
        lag_s, latency_s, free = self.replication_lag, self.other_latency, self.free_disk
        lines = [
            lag_s
            and f"replication_lag = {lag_s:g} s: a standby that is further behind, or not"
            " connected for longer, ends the run",
            latency_s
            and f"other_latency = {1e3 * latency_s:g} ms: three slower answers in a row"
            " to a query of one row end the run",
            free
            and f"free_disk = {free / 2**30:.3g} GB: less free room on the server's disks"
            " ends the run",
        ]
        return [line for line in lines if isinstance(line, str)]
