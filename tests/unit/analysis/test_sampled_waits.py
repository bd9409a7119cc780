"""Waits by pg_wait_sampling are differences of its profile, which nobody resets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from pgassay.analysis.reading.counters import CounterSeries
from pgassay.analysis.waits.wait_profile import SampledWaits
from pgassay.trials.model.columns import COUNTERS
from pgassay.trials.sampling.queries import READ, WAITS, Extension, queries_for
from pgassay.trials.sampling.statement_statistics import changed

S = 1_000_000_000


def counted(samples: float, period_ms: float = 10.0) -> dict[str, float]:
    return {"samples": samples, "waited_ms": samples * period_ms}


def read(columns: Mapping[str, list[Any]]) -> CounterSeries:
    return CounterSeries(pa.Table.from_pydict(columns, schema=COUNTERS))


def test_the_growth_of_a_profile_is_sessions_that_waited() -> None:
    before = {"IO:WALSync/7": counted(1000), "Lock:tuple/8": counted(50)}
    after = {**before, "IO:WALSync/7": counted(1100), "IO:WALSync/9": counted(100)}
    after["Lock:tuple/8"] = counted(4)
    columns = changed(0, before, 4 * S, after, counted=WAITS)
    found = SampledWaits()
    found.add(read(columns))
    # Somebody reset the profile: what is less than before says nothing.
    assert found.sessions() == {"IO:WALSync": pytest.approx(0.5)}
    # A quiet time counts too.
    quiet = changed(4 * S, after, 8 * S, after, counted=WAITS)
    assert set(quiet["object"]) == {READ}
    found.add(read(quiet))
    assert found.sessions() == {"IO:WALSync": pytest.approx(0.25)}
    assert SampledWaits().sessions() == {}


def test_the_lesser_waits_keep_their_event() -> None:
    after = {f"IO:WALSync/{n}": counted(n + 1) for n in range(9)} | {"Lock:tuple/1": counted(1)}
    columns = changed(0, {}, S, after, most=2, counted=WAITS)
    found = SampledWaits()
    found.add(read(columns))
    assert {event: round(ms, 6) for event, ms in found.sessions().items()} == {
        "IO:WALSync": 0.45, "Lock:tuple": 0.01,
    }  # fmt: skip


def test_the_profile_is_read_around_a_trial_from_the_extensions_own_schema() -> None:
    query = queries_for(150000)["wait_profile"]
    assert query.every_s is None
    assert query.sql_with({}) is None
    sql = query.sql_with({"pg_wait_sampling": Extension('"My Schema"', "1.1")})
    assert sql is not None
    assert '"My Schema".pg_wait_sampling_profile' in sql
