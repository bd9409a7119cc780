"""observation.json, and segment.json of each of its segments.

Enters: what is asked of a recording, what is known at the end of a segment, or the objects of the
files. Leaves: an `ObservationFile`, a `SegmentFile`. Never: requires a key that is not read.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field

from pgassay.notes import Note, notes_from_json
from pgassay.samples.forms.trial import StoredNotes
from pgassay.stored_model import Items, Number, StoredFile
from pgassay.trials.model.record import SegmentEnd


class ObservationFile(StoredFile):
    """What was asked of an observation, and how it went."""

    schema_: Literal["pgassay.observation/1"] = Field("pgassay.observation/1", alias="schema")
    pgassay: str = ""
    pgassay_commit: str = Field("", exclude_if=lambda value: not value)
    server: str
    duration_s: Number | None = None
    """None: until it was stopped."""
    every_s: Number | None = None
    segment_s: Number | None = None
    keep_s: Number | None = None
    max_disk_bytes: int | None = None
    dropped_segments: int = 0
    warnings: Items[str] = ()
    """Also those of segments that were dropped."""
    notes: StoredNotes = ()
    """The same as codes with values."""
    ended_by: str | None = None
    """`stopped` or `duration`; None where it broke off."""

    @property
    def found_notes(self) -> tuple[Note, ...]:
        """What could not be read, or only in part."""
        return notes_from_json(self.notes, self.warnings)

    def noting(self, notes: tuple[Note, ...]) -> Self:
        """Returns the same description with these notes."""
        return self.model_copy(update={"notes": notes, "warnings": tuple(map(str, notes))})


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
    notes: StoredNotes = ()

    @property
    def found_notes(self) -> tuple[Note, ...]:
        """What could not be read, or only in part, since the segment before."""
        return notes_from_json(self.notes, self.warnings)

    @classmethod
    def ended(cls, number: int, end: SegmentEnd) -> Self:
        """Returns what is to be stored of a segment."""
        warnings = list(map(str, end.notes))
        made = {"number": number, "warnings": warnings, **vars(end)}
        return cls.model_validate(made, strict=False)
