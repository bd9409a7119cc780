"""What bpftrace prints, as readings: a recorded trace, and lines made for the purpose."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest

from pgassay.trials.trace.output import Output, Reading

DATA = Path(__file__).parents[2] / "data"
RECORDED = (DATA / "trace" / "debian-15.jsonl").read_text().splitlines()


def fed(lines: list[str]) -> tuple[Output, list[Reading]]:
    output = Output()
    readings = [reading for line in lines if (reading := output.feed(line))]
    output.finish()
    return output, readings


def said(text: str) -> str:
    return json.dumps({"type": "printf", "data": f"{text}\n"})


def counted(point: str, key: str, buckets: dict[int, int], total_ns: int) -> list[str]:
    rows = [{"min": low, "max": 2 * low, "count": number} for low, number in buckets.items()]
    return [
        json.dumps({"type": "hist", "data": {f"@{point}": {key: rows}}}),
        json.dumps({"type": "map", "data": {f"@{point}_ns": {key: total_ns}}}),
    ]


def cumulative(name: str, tick: int) -> dict[str, Counter[int]]:
    """The counts of a map as bpftrace printed them at a tick: key → bucket → count."""
    ticks = [at for at, line in enumerate(RECORDED) if '"tick ' in line]
    for line in RECORDED[ticks[tick] :]:
        record = json.loads(line)
        if record["type"] == "hist" and name in record["data"]:
            return {
                key: Counter({row["min"]: row["count"] for row in rows})
                for key, rows in record["data"][name].items()
            }
    return {}


def test_the_seconds_add_up_to_what_bpftrace_counted() -> None:
    _, readings = fed(RECORDED)
    found: dict[str, Counter[int]] = {}
    for reading in readings:
        for point in reading.points:
            if point.point == "lwlock_wait":
                found.setdefault(point.key, Counter()).update(point.buckets)
    first, last = cumulative("@lwlock_wait", 0), cumulative("@lwlock_wait", -1)
    expected = {key: counts - first.get(key, Counter()) for key, counts in last.items()}
    assert {key: counts for key, counts in expected.items() if counts} == found
    assert "WALWrite" in found


def test_every_pair_of_the_recorded_trace_has_both_ends() -> None:
    """Ends without a beginning are met only while the probes are set or taken off one by one."""
    output, readings = fed(RECORDED)
    assert output.unmatched == {}
    assert sum(point.count for reading in readings for point in reading.points) > 1000


def test_mean_and_buckets_of_a_point_agree() -> None:
    _, readings = fed(RECORDED)
    for reading in readings:
        for point in reading.points:
            low = sum(us * number for us, number in point.buckets.items())
            high = sum(max(2 * us, 1) * number for us, number in point.buckets.items())
            # The histogram and the sum are read one after the other, while both grow.
            assert 0.8 * low <= point.total_ns / 1000 <= 1.2 * high + 1000


def test_the_phases_of_a_checkpoint_come_in_their_order() -> None:
    output, _ = fed(RECORDED)
    assert [(one.phase, one.begins) for one in output.phases] == [
        ("checkpoint", True),
        ("write", True),
        ("write", False),
        ("sync", True),
        ("sync", False),
        ("checkpoint", False),
    ]
    times = [one.time_ns for one in output.phases]
    assert times == sorted(times)


def test_relations_are_counted_by_database_and_file() -> None:
    output, _ = fed(RECORDED)
    assert {one.point for one in output.relations} == {"read", "write"}
    assert all(one.count > 0 and one.file > 0 for one in output.relations)


def test_times_are_unix_time_whatever_the_time_since_boot() -> None:
    now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    _, (reading,) = fed(
        [said(f"begin {now}"), said(f"tick {now + 1}"), said("taken"),
         said(f"tick {now + 10**9}"), said("taken")]
    )  # fmt: skip
    assert reading.end_ns == pytest.approx(time.time_ns() + 10**9, abs=10**9)


def test_what_was_met_while_probes_were_set_or_taken_off_is_not_counted() -> None:
    _, (reading,) = fed(
        [
            said("begin 1"),
            said("tick 10"), *counted("read", "0", {1: 5}, 5000), said("taken"),
            said("tick 20"), *counted("read", "0", {1: 5, 4: 2}, 17000), said("taken"),
            said("end 30"), *counted("read", "0", {1: 99, 4: 99}, 99000),
        ]
    )  # fmt: skip
    (point,) = reading.points
    assert (point.count, point.total_ns, point.buckets) == (2, 12000, {4: 2})


def test_an_end_without_its_beginning_is_counted() -> None:
    def unmatched(number: int) -> str:
        return json.dumps({"type": "map", "data": {"@unmatched": {"read": number}}})

    output, _ = fed(
        [said("begin 1"), said("tick 10"), unmatched(2), said("taken"),
         said("tick 20"), unmatched(5), said("taken")]
    )  # fmt: skip
    assert output.unmatched == {"read": 3}


def test_lost_messages_are_counted_and_complaints_kept() -> None:
    output, _ = fed(['{"type": "lost_events", "data": {"events": 7}}', "ERROR: no such probe"])
    assert output.lost_events == 7
    assert output.complaints == ["ERROR: no such probe"]
