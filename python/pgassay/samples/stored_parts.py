"""One trial or segment, read back from its folder.

Enters: the folder. Leaves: its tables, and the models of its JSON files. Never: writes a file.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pyarrow as pa

from pgassay.samples.forms.observation import SegmentFile
from pgassay.samples.forms.queries import QueryPlan, QueryPlansFile
from pgassay.samples.forms.statements import PlansFile, PlansOfArm
from pgassay.samples.forms.trial import TrialFile
from pgassay.samples.layout import PLANS, QUERIES, QUERY_PLANS, SEGMENT, SLICES, TRIAL
from pgassay.samples.storage.json_files import stored_file
from pgassay.samples.storage.tables import Batched, read_table
from pgassay.trials.model.record import Validity


class StoredPart:
    """The tables of one trial or segment, read back from its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def table(self, name: str) -> pa.Table:
        """Reads one of the Parquet files, by its name without the ending."""
        return read_table(self.folder / f"{name}.parquet", name)

    def sample_bytes(self) -> int:
        """Returns the size (bytes) of its Parquet files, which hold many times as much."""
        return sum(file.lstat().st_size for file in self.folder.glob("*.parquet"))

    def batched(self, name: str) -> Batched:
        """Reads one of the Parquet files, some rows at a time."""
        return Batched(self.folder / f"{name}.parquet", name)


class StoredTrial(StoredPart):
    """One trial read back from its folder."""

    def summary(self) -> TrialFile:
        """Reads trial.json."""
        return self._summary

    @cached_property
    def _summary(self) -> TrialFile:
        return stored_file(self.folder / TRIAL, TrialFile)

    def plans(self) -> tuple[PlansOfArm, ...]:
        """Reads plans.json by arm; empty where the plans of statements were not read."""
        path = self.folder / PLANS
        return stored_file(path, PlansFile).arms if path.is_file() else ()

    def queries(self) -> pa.Table | None:
        """Reads queries.parquet, a row per execution; None where the load is no query set."""
        return self.table("queries") if (self.folder / QUERIES).is_file() else None

    def query_plans(self) -> tuple[QueryPlan, ...]:
        """Reads query_plans.json, an entry per query and arm; empty where the load is no query
        set."""
        path = self.folder / QUERY_PLANS
        return stored_file(path, QueryPlansFile).queries if path.is_file() else ()

    def validity(self) -> Validity:
        """Says whether the trial counts, and why not."""
        return Validity(self.summary().validity.notes)


class StoredSegment(StoredPart):
    """One segment read back: tables as a trial's, and segment.json."""

    def summary(self) -> SegmentFile:
        """Reads segment.json."""
        return stored_file(self.folder / SEGMENT, SegmentFile)

    def slices(self) -> pa.Table | None:
        """Reads slices.parquet; None of an older observation, or where it was killed before."""
        path = self.folder / SLICES
        return read_table(path, "slices") if path.is_file() else None

    def bytes(self) -> int:
        """Returns the bytes that the segment takes on disk."""
        return sum(file.lstat().st_size for file in self.folder.iterdir())
