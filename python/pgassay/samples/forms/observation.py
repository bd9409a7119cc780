"""observation.json, and segment.json of each of its segments.

Enters: what is asked of a recording, what is known at the end of a segment, or the objects of the
files. Leaves: an `ObservationFile`, a `SegmentFile`. Never: requires a key that is not read.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field

from pgassay.stored_model import Codes, Items, Number, SaidNotes, Stored, StoredFile
from pgassay.trials.model.record import SegmentEnd


class ChangedSetting(Stored):
    """A setting that somebody changed while the server was observed."""

    at_ns: int
    """When the server last read its configuration, at the latest when the change was seen."""
    name: str
    first: str
    """Before, with its unit."""
    second: str


class ObservationFile(StoredFile):
    """What was asked of an observation, and how it went."""

    schema_: Literal["pgassay.observation/1"] = Field("pgassay.observation/1", alias="schema")
    pgassay: str = ""
    pgassay_commit: str = Field("", exclude_if=lambda value: not value)
    server: str
    """Its address, as the connection was asked for."""
    system_identifier: str = ""
    """Of the cluster, whatever address led there; empty where the user may not know it."""
    database: str = ""
    is_standby: bool = False
    duration_s: Number | None = None
    """None: until it was stopped."""
    every_s: Number | None = None
    segment_s: Number | None = None
    keep_s: Number | None = None
    max_disk_bytes: int | None = None
    dropped_segments: int = 0
    notes: Annotated[SaidNotes, Codes("notes")] = Field((), alias="warnings")
    """What could not be read, or only in part, also in segments that were dropped."""
    changed_settings: Items[ChangedSetting] = ()
    """Also in segments that were dropped."""
    ended_by: str | None = None
    """`stopped` or `duration`; None where it broke off."""

    def is_of(self, other: Self) -> bool:
        """Returns whether both are of the same server and database: by the identifier of the
        cluster, of a primary or a standby, where both have it; else by the address."""
        if self.system_identifier and other.system_identifier:
            names = ("system_identifier", "database", "is_standby")
            return all(getattr(self, name) == getattr(other, name) for name in names)
        return self.server == other.server


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
    notes: Annotated[SaidNotes, Codes("notes")] = Field(alias="warnings")
    """What could not be read, or only in part, since the segment before."""

    @classmethod
    def ended(cls, number: int, end: SegmentEnd) -> Self:
        """Returns what is to be stored of a segment."""
        return cls.of({"number": number, **vars(end)})
