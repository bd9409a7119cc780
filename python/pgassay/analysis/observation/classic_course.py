"""The classic view of an observation, gathered segment by segment.

Enters: the samples of segments in order of time. Leaves: a `ClassicView` of one arm.
Never: keeps a segment's samples, or more than a value a second of each series.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from pgassay.analysis.classic.model import ClassicView
from pgassay.analysis.classic.view import classic_view
from pgassay.analysis.measures.courses.even_series import EvenSeries, even_series, joined
from pgassay.analysis.measures.signals import ArmSignals, TrialSignals, sessions_by_event
from pgassay.analysis.reading.counters import CounterSeries
from pgassay.analysis.waits.wait_profile import WaitProfile
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.forms.observation import SegmentFile

OBSERVED = "observed"
SOURCES = frozenset({"database", "bgwriter"})
"""Sources of the server that it needs, beside `IO`."""
IO = "client backend/relation/"
"""The beginning of the objects of pg_stat_io that it needs."""


class ClassicCourse:
    """Series and signals of the segments so far."""

    def __init__(self) -> None:
        self._series: list[EvenSeries] = []
        self._signals: list[TrialSignals] = []

    def add(
        self,
        summary: SegmentFile,
        server: CounterSeries,
        host: CounterSeries,
        profile: WaitProfile,
        waits: pa.Table,
        checkpoints: list[dict[str, Any]],
        *,
        since_ns: int | None = None,
        gaps: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Adds one segment; `since_ns` and `gaps` as of its profile."""
        start, end = summary.started_ns, summary.ended_ns
        seconds = max((end - start) / 1e9, 1e-9)
        starts = np.array([one["started_ns"] for one in checkpoints], np.int64)
        number = len(self._series) + 1
        series = even_series(
            server,
            host,
            profile,
            spans_ns=[(start, end)],
            checkpoints_ns=np.sort(starts[(starts >= start) & (starts < end)]),
            trial=(number, number, OBSERVED),
            own_commits_per_s=summary.sampler_cost.get("transactions", 0.0) / seconds,
            width_s=self._series[0].width_s if self._series else None,
        )
        # The first and the last interval of a segment are read in part only.
        inner = tuple((first + 1, last - 1) for first, last in series.steps)
        self._series.append(replace(series, steps=inner))
        values = dict(sessions_by_event(waits, start, end, since_ns=since_ns, gaps=gaps))
        self._signals.append(TrialSignals(number, number, OBSERVED, seconds, 0, values))

    def view(
        self, statements: Mapping[str, float], environment: EnvironmentFile
    ) -> ClassicView | None:
        """`statements`: growth of pg_stat_statements a second, by column."""
        if not self._series:
            return None
        every = {("statements", "", name): value for name, value in statements.items()}
        signals = tuple(replace(one, values={**one.values, **every}) for one in self._signals)
        return classic_view(
            [OBSERVED],
            [joined(self._series)],
            [ArmSignals(OBSERVED, signals)],
            environment,
            has_load=False,
        )
