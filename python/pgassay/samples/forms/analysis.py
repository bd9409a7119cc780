"""analysis.json: what a run or an observation was found to show.

Enters: the object of the file, which `report/objects/` writes. Leaves: an `AnalysisFile`.
Never: has what no reader asks for; `given` has all. Every key may be absent: older versions
estimated less, and an observation compares nothing.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from pgassay.stored_model import Items, Number, Part, Stored, StoredFile

Ends = Annotated[tuple[Number | None, Number | None], Strict(False)]
"""The ends of an interval."""


class Estimates(Stored):
    """The estimates of a trial, or of one step of its load."""

    level: Number | None = None
    """Clients or rate of the step; None for the whole trial."""
    start_ns: int = 0
    """Nanoseconds since 1970, as `end_ns` is."""
    end_ns: int = 0
    transactions: int = 0
    values: dict[str, Number | None]
    """By metric."""


class AnalysedTrial(Stored):
    """A trial that counts."""

    number: int
    block: int
    position: int = 0
    arm: str
    whole: Estimates
    steps: Items[Estimates] = ()


class Compared(Part):
    """A level against its baseline, by one metric."""

    metric: str
    ci95: Ends = (None, None)
    ci95_pct: Ends = (None, None)


class StatementUse(Stored):
    """What a statement of the load took."""

    queryid: str
    text: str | None = None
    by_arm: Items[dict[str, Any]]


class AnalysisFile(Part, StoredFile):
    """The keys that are read."""

    schema_: Literal["pgassay.analysis/1", "pgassay.observed/1"] = Field(
        "pgassay.analysis/1", alias="schema"
    )
    metric: str | None = None
    """The primary one."""
    trials: Items[AnalysedTrial] = ()
    partial_trials: Items[dict[str, Any]] = ()
    invalid_trials: Items[dict[str, Any]] = ()
    comparisons: Items[Compared] = ()
    statement_use: Items[StatementUse] = ()
