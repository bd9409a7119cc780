"""How closely the server is watched in trials: `[sampling]`.

Enters: a table of an experiment file. Leaves: `SamplingTable`. Never: samples.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pgassay.spec.values import Duration, Table


class SamplingTable(Table):
    """What is read more or less often than usual."""

    waits: Annotated[Duration, Field(ge=0.02, le=1.0)] = Field(
        0.1, description="Between looks at what sessions wait for, 20ms to 1s"
    )
