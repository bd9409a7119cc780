"""profiles.json: what the files of profiles do not say.

Enters: profiles by arm, or the object of the file. Leaves: a `ProfilesFile`.
Never: has the stacks, which are in a file of their own for each profile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field

from pgassay.notes import Note
from pgassay.stored_model import Items, Number, SaidNotes, Stored, StoredFile
from pgassay.trials.profile.model import Kind, Profile


class StoredProfile(Stored):
    """A `Profile` without its stacks."""

    arm: Annotated[str, Field(pattern=r"^[\w-]*$")] = ""
    """The folder that its files are in; empty for a profile that is of no run."""
    kind: Kind
    unit_ns: Number
    started_ns: int
    seconds: Number
    samples: int
    unnamed: int
    cut_off: int
    perf_cpu_s: Number
    transactions: Number | None = None
    notes: SaidNotes

    def with_stacks(self, stacks: str) -> Profile:
        """Returns the whole profile, with its stacks."""
        return Profile(stacks=stacks, **{key: one for key, one in self if key != "arm"})


class ProfilesFile(StoredFile):
    """The profiles that were taken, and why others were not."""

    schema_: Literal["pgassay.profiles/1"] = Field("pgassay.profiles/1", alias="schema")
    profiles: Items[StoredProfile]
    notes: SaidNotes

    @classmethod
    def taken(cls, of_arm: Mapping[str, Sequence[Profile]], notes: Sequence[Note]) -> Self:
        """Returns what is to be stored of the profiles."""
        described = [{"arm": arm, **vars(one)} for arm, some in of_arm.items() for one in some]
        return cls.of({"profiles": described, "notes": notes})
