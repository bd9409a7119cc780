"""Rows of a trace come into the order of their times, however uneven the load was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from pgassay.draw.log.ordering import Ordered

SCHEMA = pa.schema({"at_us": pa.int64(), "place": pa.int64(), "text": pa.string()})
BATCH, NIGHT, DAY = 10_000, 2, 60
MOST = 1000


def test_a_busy_day_after_a_quiet_night_is_ordered_without_being_held_at_once(
    tmp_path: Path,
) -> None:
    random = np.random.default_rng(1)
    gaps = np.repeat([200_000, 300], [NIGHT * BATCH, DAY * BATCH])
    ends = np.cumsum(random.integers(0, gaps))
    # Some statements took an hour; times have milliseconds, so that many are equal.
    took = np.where(
        random.random(len(ends)) < 1e-4, 3_600_000_000, random.integers(0, 900, len(ends))
    )
    times = (ends - took) // 1000 * 1000
    places = np.arange(len(times))
    with Ordered(tmp_path / "waiting.arrow", SCHEMA) as ordered:
        for begin in range(0, len(times), BATCH):
            own = slice(begin, begin + BATCH)
            columns = [times[own], places[own], ["a text"] * BATCH]
            ordered.add(pa.RecordBatch.from_arrays([*map(pa.array, columns)], schema=SCHEMA))
        assert (ordered.first, ordered.last) == (times.min(), times.max())
        before, held = pa.total_allocated_bytes(), 0
        found = []
        for table in ordered.tables(MOST):
            held = max(held, pa.total_allocated_bytes() - before)
            found.append(table["place"].to_numpy().copy())
            assert table.num_rows <= MOST
    assert np.concatenate(found).tolist() == np.argsort(times, kind="stable").tolist()
    assert held < 30 * MOST * 32
