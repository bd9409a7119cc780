"""The report of an observation has what was measured, and what is missing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from pgassay.analysis.observation.model import ObservationSummary
from pgassay.analysis.observation.standby_lag import Unknown
from pgassay.analysis.observation.statements import Statement
from pgassay.notes import legacy
from pgassay.report.charts.over_time.observed import throughput_chart
from pgassay.report.context import ObservationContext
from pgassay.report.document.blocks import Paragraph
from pgassay.report.document.text import plain_text
from pgassay.report.environment import environment_lists
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.objects.observed import render_object, summary_object
from pgassay.report.sections.observation.over_time import throughput
from pgassay.report.sections.observation.waits import class_table, event_table, waits
from pgassay.report.summaries.observation import facts
from pgassay.report.svg.draw import draw
from pgassay.report.svg.model import Line
from pgassay.samples.forms.observation import ObservationFile
from support.blocks import every
from support.runs.json_page import documented
from support.synthetic.environments import environment_of

RENDER = {"html": render_html, "md": render_markdown}
S = 1_000_000_000
START = 1_767_225_600 * S  # 2026-01-01 00:00:00 UTC
OBSERVED = ObservationSummary(
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
    notes=(legacy("waits of other roles' sessions are hidden; grant pg_monitor"),),
    cost={"wait_ticks": 40.0, "rested_ticks": 3.0, "cpu_s": 0.1},
    clock={"offset_ms": 3.0, "offset_at_end_ms": 4.5, "drift_ms": 1.5, "uncertainty_ms": 0.1,
           "applied": True},
    bytes_on_disk=1 << 20,
)  # fmt: skip


TEXTS = {"-42": "SELECT '<b>'\n  FROM t"}


def context(observed: ObservationSummary = OBSERVED, **described: Any) -> ObservationContext:
    given = {"server": "lab@<db>:5432/lab", "dropped_segments": 2, "ended_by": "duration"}
    return ObservationContext(
        "run",
        ObservationFile(**{**given, **described}),
        observed,
        environment_of(standby=True),
        "0",
        TEXTS,
    )


@pytest.mark.parametrize("form", ["html", "md"])
def test_the_report_has_every_figure_that_was_observed(form: Any) -> None:
    text = RENDER[form](context())
    for words in (
        "110.0", "2026-01-01 00:00:00 UTC", "Lock:tuple", "13.636 ms", "2.0 MB", "-42",
        "grant pg_monitor", "3 skipped to spare it", "2 older segments were deleted", "standby",
        "nothing was sampled for 1 s", "FROM t",
    ):  # fmt: skip
        assert words in text, words
    assert "wal <b>" not in text
    assert "lab@<db>" not in text
    assert "SELECT '<b>" not in text


def test_a_standbys_report_says_how_far_it_was_behind() -> None:
    behind = {"replay_lag_ms": 1500.0, "replay_behind_bytes": 3 << 20, "receive_behind_bytes": 0.0}
    observed = replace(
        OBSERVED,
        courses={**OBSERVED.courses, "replay_lag_ms": (0.0, None, 3000.0, 1500.0)},
        averages={**OBSERVED.averages, **behind},
        largest={**behind, "replay_lag_ms": 3000.0},
    )
    page = render_html(context(observed))
    assert "1\u202f500 ms, at most 3\u202f000 ms" in page
    assert "3.0 MB, at most 3.0 MB" in page
    assert 'data-chart="standby"' in page
    assert summary_object("run", context(observed))["largest"]["replay_lag_ms"] == 3000.0
    assert "behind the primary" not in render_html(context())


def test_a_lag_that_is_not_known_is_reported_as_unknown_and_not_as_zero() -> None:
    observed = replace(
        OBSERVED,
        averages={**OBSERVED.averages, "replay_behind_bytes": 0.0},
        largest={"replay_behind_bytes": 0.0},
        unknown={
            "replay_behind_bytes": Unknown(12.0, 0.5, "not_streamed"),
            "receive_behind_bytes": Unknown(24.0, 1.0, "hidden"),
            "replay_lag_ms": Unknown(24.0, 1.0, "no_commit"),
        },
    )
    shown = dict(facts(context(observed)))
    assert re.findall(r"\d+ \w+", shown["WAL not replayed yet"])[:3] == ["0 B", "0 B", "12 s"]
    assert shown["WAL not received yet"].endswith("grant pg_monitor")
    assert shown["Replay behind the primary"].startswith("unknown: no commit")
    summary = summary_object("run", context(observed))
    assert summary["unknown"]["receive_behind_bytes"]["cause"] == "hidden"


def test_lines_are_interrupted_by_gaps() -> None:
    figure = throughput_chart(OBSERVED)
    assert figure is not None
    (line,) = (mark for mark in figure.panels[0].marks if isinstance(mark, Line))
    assert list(line.y) == [100.0, None, 120.0, 110.0]
    assert re.search(r'<path d="M[^"]*M[^"]*"[^>]*data-name="commits"', draw(figure, 960, "tps"))


def test_an_empty_observation_says_so_and_has_no_chart() -> None:
    empty = replace(
        OBSERVED, courses={}, sessions={}, averages={}, classes={}, events={}, checkpoints=(),
        statements=(), logged={}, gaps_ns=(), clock={}, cost={}, notes=(),
    )  # fmt: skip
    page = render_html(context(empty, ended_by=None))
    for section in (throughput, waits):
        (nothing,) = every(section.blocks(context(empty, ended_by=None)), Paragraph)
        assert plain_text(nothing.text) in page
    assert "was killed" in page
    assert "data-chart" not in page.split("<main>")[1].split("</main>")[0]
    assert render_markdown(context(empty)).startswith("# ")


def test_waits_by_pg_wait_sampling_stand_beside_ours() -> None:
    both = replace(OBSERVED, sampled_waits={"Lock:tuple": 1.4, "LWLock:WALWrite": 0.02})
    events = {row[0]: row for row in event_table(both).rows}
    assert events["Lock:tuple"][4] == "1.400"
    assert events["CPU"][4] == "–"
    assert (events["LWLock:WALWrite"][1], events["LWLock:WALWrite"][4]) == ("0.000", "0.020")
    assert {row[0]: row[4] for row in class_table(both).rows} == {
        "Heavyweight locks": "1.400", "CPU": "–", "WAL": "0.020",
    }  # fmt: skip
    title = "Waiting sessions by pg_wait_sampling"
    assert title in render_html(context(both))
    assert title in render_markdown(context(both))
    assert title not in [column.title for column in event_table(OBSERVED).columns]


def test_json_has_one_object_with_everything_and_one_summary() -> None:
    whole = json.loads(render_object(context()))
    assert whole["schema"] == "pgassay.observed/1"
    assert whole["courses"]["tps"][1] is None
    short = summary_object("RUN", context())
    assert short["schema"] == "pgassay.observed/1"
    assert set(short) == documented("the observation", short["schema"])
    assert short["gaps_s"] == [1.0]
    assert "courses" not in short


NOT_MEASURED = {
    "not_seen": [
        {"name": "query ids", "found": "compute_query_id is off", "fix": "SET it <b>;"},
        {"name": "pg_stat_io", "found": "read from PostgreSQL 16 on", "fix": "", "servers": ["15"]},
    ]
}


@pytest.mark.parametrize("form", ["html", "md"])
def test_what_was_not_measured_is_listed_with_how_to_enable_it(form: Any) -> None:
    lacking = replace(context(), environment=environment_of(**NOT_MEASURED))
    text = RENDER[form](lacking)
    (missing,) = (
        one for one in environment_lists(lacking.environment) if one.name == "not_measured"
    )
    assert missing.title in text
    name = "compute_query_id is off; SET it &lt;b&gt;;"
    assert name in text
    assert "read from PostgreSQL 16 on" in text
    assert missing.title not in RENDER[form](context())


def test_json_lists_what_was_not_measured() -> None:
    assert (
        summary_object("RUN", replace(context(), environment=environment_of(**NOT_MEASURED)))[
            "not_seen"
        ]
        == (NOT_MEASURED["not_seen"])
    )
    assert summary_object("RUN", context())["not_seen"] == []
