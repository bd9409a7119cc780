"""The `[guard]` table: limits that end a run while it is under way.

Enters: the table that tomllib made. Leaves: the checked table. Never: looks at a server.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pgassay.spec.reading.values import Duration, MemorySize, Table


class GuardTable(Table):
    """A run on a server that others use ends in order where one of these is passed."""

    replication_lag: Annotated[Duration, Field(gt=0)] | None = Field(
        None, description="the most that a standby may be behind in replay, such as '30s'"
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
