"""segment.json, of a segment of an observation.

Enters: what is known at the end of a segment, or the object of the file. Leaves: a `SegmentFile`.
Never: requires a key that is not read.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field

from pgassay.stored_model import Items, Number, StoredFile
from pgassay.trials.model.record import SegmentEnd


class SegmentFile(StoredFile):
    """What segment.json says; the samples are in Parquet files beside it."""

    schema_: Literal["pgassay.segment/1"] = Field("pgassay.segment/1", alias="schema")
    number: int
    started_ns: int
    ended_ns: int
    sampler_cost: dict[str, Number]
    checkpoints_from: str
    log: dict[str, Any] = Field({})
    clock: dict[str, Any] = Field({})
    warnings: Items[str]

    @classmethod
    def ended(cls, number: int, end: SegmentEnd) -> Self:
        """What is to be stored of a segment."""
        return cls.model_validate({"number": number, **vars(end)}, strict=False)
