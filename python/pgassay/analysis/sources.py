"""The tables of one stored trial, each read and put in order once.

Enters: a stored trial. Leaves: its tables, counters and waits, when they are asked for.
Never: outlives the trial's turn: a day of samples is hundreds of megabytes.
"""

from __future__ import annotations

from functools import cached_property

import pyarrow as pa

from pgassay.analysis.counters import CounterSeries
from pgassay.analysis.wait_profile import WaitProfile
from pgassay.samples.run_directory import StoredTrial


class TrialSources:
    """What measures, courses and pictures of a trial are made from."""

    def __init__(self, trial: StoredTrial) -> None:
        self._trial = trial

    @cached_property
    def tell_the_whole_server_side(self) -> bool:
        """Whether the load had no other server than the one that these samples are of."""
        return "arms" not in (self._trial.summary().get("reset") or {})

    @cached_property
    def load(self) -> pa.Table:
        """load.parquet."""
        return self._trial.table("load")

    @cached_property
    def checkpoints(self) -> pa.Table:
        """checkpoints.parquet."""
        return self._trial.table("checkpoints")

    @cached_property
    def waits(self) -> WaitProfile:
        """waits.parquet, by tick; those on CPU are told from those queueing for one by the host."""
        return WaitProfile(self._trial.table("waits"), self.host)

    @cached_property
    def postgres(self) -> CounterSeries:
        """postgres.parquet, by counter."""
        return CounterSeries(self._trial.by_column("postgres"))

    @cached_property
    def host(self) -> CounterSeries:
        """host.parquet, by counter."""
        return CounterSeries(self._trial.by_column("host"))
