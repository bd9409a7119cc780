"""The tables of one stored trial, each read once and on demand.

Enters: a stored trial. Leaves: its tables, counters and waits. Never: is kept after its trial has
been measured: a day of samples takes hundreds of megabytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from pgassay.analysis.reading.counters import CounterSeries
from pgassay.analysis.waits.wait_profile import WaitProfile
from pgassay.samples.forms.trial import Step
from pgassay.samples.stored_parts import StoredTrial


class TrialSources:
    """The data that measures, courses and charts of a trial are computed from."""

    def __init__(self, trial: StoredTrial) -> None:
        self._trial = trial
        self._load_of: dict[frozenset[int], pa.Table] = {}

    @cached_property
    def are_of_the_only_server(self) -> bool:
        """Whether these samples are of the only server of the load; False in a duet."""
        return self._trial.summary().reset.arms is None

    @cached_property
    def load(self) -> pa.Table:
        """Returns the table of load.parquet."""
        return self._trial.table("load")

    def load_of(self, steps: Iterable[Step]) -> pa.Table:
        """The rows of these steps of trial.json, in their order."""
        wanted = frozenset(step.index for step in steps)
        if wanted not in self._load_of:
            of_steps = pc.is_in(self.load["step"], pa.array(sorted(wanted), pa.int32()))
            is_all = pc.all(of_steps).as_py()  # then half of the memory of a day's load is saved
            self._load_of[wanted] = self.load if is_all else self.load.filter(of_steps)
        return self._load_of[wanted]

    @cached_property
    def checkpoints(self) -> pa.Table:
        """Returns the table of checkpoints.parquet."""
        return self._trial.table("checkpoints")

    @cached_property
    def waits(self) -> WaitProfile:
        """waits.parquet; host counters separate running from queued sessions."""
        return WaitProfile(self.sampled, self.host)

    @cached_property
    def sampled(self) -> pa.Table:
        """waits.parquet as it is, with the server's background processes."""
        return self._trial.table("waits")

    @cached_property
    def postgres(self) -> CounterSeries:
        """Returns the series of postgres.parquet, by counter."""
        return CounterSeries(self._trial.batched("postgres"))

    @cached_property
    def host(self) -> CounterSeries:
        """Returns the series of host.parquet, by counter."""
        return CounterSeries(self._trial.batched("host"))
