"""Checkpoints are read from logs that real servers wrote, and from torn ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pgassay.trials.checkpoint_log import LogTail, checkpoints_in_counters, checkpoints_in_log

PG18 = """\
1763659000.123 [77] LOG:  checkpoint starting: wal
1763659002.500 [77] LOG:  checkpoint complete: wrote 1931 buffers (2.9%), wrote 3 SLRU buffers; \
0 WAL file(s) added, 0 removed, 1 recycled; write=2.301 s, sync=0.020 s, total=2.377 s; sync \
files=9, longest=0.010 s, average=0.003 s; distance=16384 kB, estimate=16500 kB; lsn=0/3FF, \
redo lsn=0/2EE
1763659003.000 [77] LOG:  checkpoint starting: immediate force wait
"""
PG15 = """\
1763659000.123 [77] LOG:  checkpoint starting: time
1763659002.500 [77] LOG:  checkpoint complete: wrote 44 buffers (0.3%); 0 WAL file(s) added, \
0 removed, 0 recycled; write=4.3 s, sync=0.002 s, total=4.377 s; sync files=12, longest=0.001 s, \
average=0.001 s; distance=260 kB, estimate=260 kB
"""


def test_a_checkpoint_has_its_cause_times_and_sizes() -> None:
    first, second = checkpoints_in_log(PG18)
    assert first.cause == "wal"
    assert first.started_ns == 1763659000123000000
    assert first.ended_ns == 1763659002500000000
    assert (first.buffers, first.distance_kb, first.estimate_kb) == (1931, 16384, 16500)
    assert (first.write_s, first.sync_s, first.total_s) == (2.301, 0.02, 2.377)
    assert second.cause == "immediate force wait"
    assert second.ended_ns is None


def test_the_older_form_of_the_line_is_read_too() -> None:
    (found,) = checkpoints_in_log(PG15)
    assert (found.cause, found.buffers, found.distance_kb) == ("time", 44, 260)


def test_an_end_without_its_beginning_is_left_out() -> None:
    assert checkpoints_in_log(PG15.splitlines()[1]) == ()


@given(st.text(max_size=300), st.integers(0, 400))
def test_no_text_breaks_the_reader(noise: str, cut: int) -> None:
    checkpoints_in_log(PG18[:cut] + noise + PG18[cut:])


def test_only_what_a_log_gains_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    tail = LogTail(log)
    with log.open("a") as file:
        file.write("after\n")
    assert tail.text() == "after\n"
    assert LogTail(None).text() is None
    assert LogTail(tmp_path / "absent").text() is None


def test_without_a_log_the_counters_tell_of_checkpoints() -> None:
    columns: dict[str, list[Any]] = {
        "time_ns": [1, 1, 2, 2, 3, 3],
        "source": ["checkpointer"] * 6,
        "object": [""] * 6,
        "name": ["checkpoints_timed", "checkpoints_requested"] * 3,
        "value": [5.0, 1.0, 5.0, 2.0, 6.0, 2.0],
    }
    found = checkpoints_in_counters(columns)
    assert [(c.started_ns, c.cause) for c in found] == [(2, "requested"), (3, "time")]
