"""Samples that are taken piece by piece are those that would have been taken at once."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pgassay.samples.storage.tables import as_table, parquet, parquet_of
from pgassay.trials.guards.foreign_sessions import foreign_load
from pgassay.trials.model import columns
from pgassay.trials.model.columns import COUNTERS, WAITS
from pgassay.trials.model.record import Columns
from pgassay.trials.sampling.samplers import EVERY_S, SampleBuffer

EVENTS = ("WALSync", "DataFileRead", "tuple", None)


def waits(first: int, rows: int) -> dict[str, list[Any]]:
    """The words of a piece are others than those of the piece before."""
    ticks = range(first, first + rows)
    return {
        "tick_ns": list(ticks),
        "pid": [100 + tick % 7 for tick in ticks],
        "leader_pid": [None] * rows,
        "backend_type": ["client backend"] * rows,
        "state": ["active"] * rows,
        "wait_event_type": [None if tick % 4 == 3 else f"Kind{first}" for tick in ticks],
        "wait_event": [EVENTS[(tick + first) % 4] for tick in ticks],
        "query_id": [tick if tick % 5 else None for tick in ticks],
        "xact_start_ns": [tick << 20 for tick in ticks],
        "scenario": [None if tick % 7 == 0 else f"s{first}" for tick in ticks],
    }


def counters(first: int, rows: int, source: str) -> dict[str, list[Any]]:
    return {
        "time_ns": list(range(first, first + rows)),
        "source": ["checkpointer" if row % 10 == 0 else source for row in range(rows)],
        "object": [f"object {first}"] * rows,
        "name": ["n"] * rows,
        "value": [float(row) for row in range(rows)],
    }


class Pieces:
    """A sampler that has something new whenever it is asked."""

    def __init__(self) -> None:
        self.taken: list[tuple[Columns, Columns, Columns]] = []

    def _piece(self, part: int) -> Columns:
        if part == 0:
            first = 1000 * len(self.taken)
            rows = 30 + len(self.taken)
            self.taken.append(
                (waits(first, rows), counters(first, rows, f"v{first}"), counters(first, 5, "stat"))
            )
        return self.taken[-1][part]

    def take_waits(self) -> Columns:
        return self._piece(0)

    def take_counters(self) -> Columns:
        return self._piece(1)

    def take_host(self) -> Columns:
        return self._piece(2)


@pytest.fixture(params=[20, 70, 10**6])
def drained(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> tuple[Pieces, SampleBuffer]:
    """Looked at each second for half a minute; each piece is packed by itself, two or three
    together, or none."""
    monkeypatch.setattr(columns, "ROWS_AT_ONCE", request.param)
    now = [0.0]
    pieces = Pieces()
    drained = SampleBuffer(pieces, lambda: now[0])
    for _ in range(30):
        now[0] += 1.0
        drained.take_if_due()
    drained.take()
    return pieces, drained


def at_once(pieces: Pieces, part: int) -> dict[str, list[Any]]:
    names = pieces.taken[0][part]
    return {name: [cell for piece in pieces.taken for cell in piece[part][name]] for name in names}


def test_pieces_are_taken_every_few_seconds(drained: tuple[Pieces, SampleBuffer]) -> None:
    assert len(drained[0].taken) == 30 // EVERY_S + 1


def test_the_files_are_the_same(drained: tuple[Pieces, SampleBuffer]) -> None:
    pieces, taken = drained
    for part, tables, schema in (
        (0, taken.waits, WAITS), (1, taken.counters, COUNTERS), (2, taken.host, COUNTERS),
    ):  # fmt: skip
        whole = as_table(at_once(pieces, part), schema)
        written = pq.read_table(pa.BufferReader(parquet_of(tables, schema)))
        before = pq.read_table(pa.BufferReader(parquet(whole)))
        assert written.schema.equals(before.schema)
        assert written.to_pydict() == before.to_pydict() == whole.to_pydict()
        assert tables.num_rows == whole.num_rows


def test_what_the_guards_ask_for_is_all_there(drained: tuple[Pieces, SampleBuffer]) -> None:
    pieces, taken = drained
    whole = at_once(pieces, 0)
    window = (0, max(whole["tick_ns"]) + 1)
    expected = foreign_load(whole, window, 10)
    assert expected
    assert foreign_load(taken.each_wait(), window, 10) == expected
    rows = [
        (at, value)
        for at, source, value in zip(
            *(at_once(pieces, 1)[name] for name in ("time_ns", "source", "value")), strict=True
        )
        if source == "checkpointer"
    ]
    found = taken.counters_of("checkpointer", "progress")
    assert list(zip(found["time_ns"], found["value"], strict=True)) == rows
    assert set(found["source"]) == {"checkpointer"}


def test_counters_that_others_have_read_come_last(drained: tuple[Pieces, SampleBuffer]) -> None:
    _, taken = drained
    before = taken.counters.num_rows
    taken.add_counters(counters(0, 3, "statements"))
    sources = taken.counters_of("checkpointer", "statements")["source"]
    assert taken.counters.num_rows == before + 3
    assert sources[-3:] == ["checkpointer", "statements", "statements"]


def test_a_trial_without_a_sample_has_empty_tables() -> None:
    taken = SampleBuffer(Pieces())
    assert taken.counters_of("checkpointer")["time_ns"] == []
    written = pq.read_table(pa.BufferReader(parquet_of(taken.waits, WAITS)))
    assert written.num_rows == 0
    assert written.schema.names == WAITS.names
