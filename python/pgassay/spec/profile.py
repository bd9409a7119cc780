"""The `[profile]` table: profiles of the server, in trials of their own that are not measured.

Enters: the table that tomllib made. Leaves: the checked table. Never: knows what a machine has.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pgassay.spec.reading.values import Duration, Table


class ProfileTable(Table):
    """The `[profile]` table: after the last block each arm runs once more under perf, and nothing
    of that is measured."""

    seconds: Annotated[Duration, Field(ge=1, le=600)] = Field(
        20.0, description="how long, 1s to 10min; at most the measured part of a trial"
    )
    hz: Annotated[int, Field(ge=1, le=2000)] = Field(
        99, description="samples per second of CPU time"
    )
    off_cpu: bool = Field(
        False, description="also where sessions wait, in a second profile of the same length"
    )
