"""The report of an observation tells what was seen, and what was not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pgassay.analysis.observed import Observed
from pgassay.analysis.observed_statements import Statement
from pgassay.analysis.standby_lag import Unknown
from pgassay.report.observation import render_object, render_observation, summary_object
from pgassay.report.observation_tables import ObservationContext, class_rows, event_rows, facts

S = 1_000_000_000
START = 1_767_225_600 * S  # 2026-01-01 00:00:00 UTC
SEEN = Observed(
    start_ns=START,
    end_ns=START + 4 * S,
    edges_ns=tuple(START + n * S for n in range(5)),
    courses={"tps": (100.0, None, 120.0, 110.0), "wal": (1e6, None, 2e6, 1e6)},
    sessions={"lock": (1.0, None, 2.0, 1.5)},
    averages={"tps": 110.0, "wal": 1.3e6},
    commits=330.0,
    classes={"lock": 1.5, "cpu": 0.5},
    events={"Lock:tuple": 1.5, "CPU": 0.5},
    checkpoints=(
        {"started_ns": START + S, "cause": "wal <b>", "restartpoint": None, "total_s": 2.5,
         "write_s": 2.0, "sync_s": None, "buffers": 1234, "distance_kb": 2048},
    ),
    checkpoints_from="log",
    logged={"error 23505": 7, "temp_file": 2},
    log_read=True,
    statements=(Statement("-42", 10.0, 300.0, 20.0, 5.0, 4096.0),),
    gaps_ns=((START + S, START + 2 * S),),
    warnings=("waits of other roles' sessions are hidden; grant pg_monitor",),
    cost={"wait_ticks": 40.0, "rested_ticks": 3.0, "cpu_s": 0.1},
    clock={"offset_ms": 3.0, "offset_at_end_ms": 4.5, "drift_ms": 1.5, "uncertainty_ms": 0.1,
           "applied": True},
    bytes_on_disk=1 << 20,
)  # fmt: skip


def context(observed: Observed = SEEN, **described: Any) -> ObservationContext:
    given = {"server": "lab@<db>:5432/lab", "dropped_segments": 2, "ended_by": "duration"}
    return ObservationContext("run", {**given, **described}, observed, {"standby": True}, "0")


@pytest.mark.parametrize("form", ["html", "md"])
def test_everything_seen_is_told(form: Any) -> None:
    text = render_observation(context(), form)
    for words in (
        "110.0", "2026-01-01 00:00:00 UTC", "Lock:tuple", "13.636 ms", "2.0 MB", "-42",
        "grant pg_monitor", "3 looks were left out", "2 older segments were dropped", "standby",
        "nothing was seen for 1 s",
    ):  # fmt: skip
        assert words in text, words
    assert "wal <b>" not in text
    assert "lab@<db>" not in text


def test_a_standby_tells_how_far_it_was_behind() -> None:
    behind = {"replay_lag_ms": 1500.0, "replay_behind_bytes": 3 << 20, "receive_behind_bytes": 0.0}
    observed = replace(
        SEEN,
        courses={**SEEN.courses, "replay_lag_ms": (0.0, None, 3000.0, 1500.0)},
        averages={**SEEN.averages, **behind},
        largest={**behind, "replay_lag_ms": 3000.0},
    )
    page = render_observation(context(observed), "html")
    assert "1,500 ms, at most 3,000 ms" in page
    assert "3.0 MB, at most 3.0 MB" in page
    assert 'id="data-standby">' in page
    assert summary_object("run", context(observed))["largest"]["replay_lag_ms"] == 3000.0
    assert "behind the primary" not in render_observation(context(), "html")


def test_what_a_standby_could_not_tell_is_unknown_and_not_nothing() -> None:
    observed = replace(
        SEEN,
        averages={**SEEN.averages, "replay_behind_bytes": 0.0},
        largest={"replay_behind_bytes": 0.0},
        unknown={
            "replay_behind_bytes": Unknown(12.0, 0.5, "not_streamed"),
            "receive_behind_bytes": Unknown(24.0, 1.0, "hidden"),
            "replay_lag_ms": Unknown(24.0, 1.0, "no_commit"),
        },
    )
    told = dict(facts(context(observed)))
    assert told["WAL not replayed yet"].startswith("0 B, at most 0 B; unknown for 12 s: its WAL")
    assert told["WAL not received yet"].endswith("grant pg_monitor")
    assert told["Replay behind the primary"].startswith("unknown: no commit")
    summary = summary_object("run", context(observed))
    assert summary["unknown"]["receive_behind_bytes"]["cause"] == "hidden"


def test_a_gap_is_no_point_of_a_line() -> None:
    page = render_observation(context(), "html")
    data = page.split('id="data-throughput">')[1].split("</script>")[0]
    assert json.loads(data)["data"][0]["y"] == [100.0, None, 120.0, 110.0]


def test_nothing_seen_is_said_and_not_drawn() -> None:
    empty = replace(
        SEEN, courses={}, sessions={}, averages={}, classes={}, events={}, checkpoints=(),
        statements=(), logged={}, gaps_ns=(), clock={}, cost={}, warnings=(),
    )  # fmt: skip
    page = render_observation(context(empty, ended_by=None), "html")
    assert "The server’s counters were not read." in page
    assert "No busy session was sampled." in page
    assert "was not ended in order" in page
    assert "data-chart" not in page.split("<main>")[1].split("</main>")[0]
    assert render_observation(context(empty), "md").startswith("# ")


def test_the_report_has_both_and_says_where_the_extension_knows_nothing() -> None:
    both = replace(SEEN, sampled_waits={"Lock:tuple": 1.4, "LWLock:WALWrite": 0.02})
    rows = {row.name: row for row in event_rows(both)}
    assert rows["Lock:tuple"].sampled == "1.400"
    assert rows["CPU"].sampled == "–"
    assert (rows["LWLock:WALWrite"].sessions, rows["LWLock:WALWrite"].sampled) == ("0.000", "0.020")
    assert {row.name: row.sampled for row in class_rows(both)} == {
        "Heavyweight locks": "1.400", "CPU": "–", "WAL": "0.020",
    }  # fmt: skip
    assert "Waiting sessions by pg_wait_sampling" in render_observation(context(both), "html")
    assert "Waiting sessions by pg_wait_sampling" in render_observation(context(both), "md")
    assert {row.sampled for row in event_rows(SEEN)} == {"–"}


def test_machines_get_one_object() -> None:
    whole = json.loads(render_object(context()))
    assert whole["schema"] == "pgassay.observed/1"
    assert whole["courses"]["tps"][1] is None
    short = summary_object("RUN", context())
    assert short["schema"] == "pgassay.observed/1"
    assert short["gaps_s"] == [1.0]
    assert "courses" not in short


UNSEEN = {
    "not_seen": [
        {"name": "query ids", "found": "compute_query_id is off", "fix": "SET it <b>;"},
        {"name": "pg_stat_io", "found": "read from PostgreSQL 16 on", "fix": "", "servers": ["15"]},
    ]
}


@pytest.mark.parametrize("form", ["html", "md"])
def test_what_the_server_keeps_to_itself_is_listed_with_its_remedy(form: Any) -> None:
    text = render_observation(replace(context(), environment=UNSEEN), form)
    assert "Not seen, and what enables it" in text
    name = "compute_query_id is off; SET it &lt;b&gt;;"
    assert name in text
    assert "read from PostgreSQL 16 on" in text
    assert "Not seen, and what" not in render_observation(context(), form)


def test_machines_get_what_was_not_seen() -> None:
    assert (
        summary_object("RUN", replace(context(), environment=UNSEEN))["not_seen"]
        == (UNSEEN["not_seen"])
    )
    assert summary_object("RUN", context())["not_seen"] == []
