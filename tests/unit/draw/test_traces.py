"""A trace is of one database, as its figures are, and says what it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.cli.draw.execution import AskedOfALog, from_log
from pgassay.draw.log.options import LogOptions
from pgassay.draw.log.trace import write_trace
from pgassay.plan.risks import lacks_of_trace
from pgassay.spec.load.trace_file import read_trace

ENTRY = "2026-11-27 16:00:00.{ms} UTC [{process}] {role} {kind}\n"


def entry(ms: int, text: str, process: int = 7, role: str = "app@shop") -> str:
    kind = f"LOG:  duration: 1.000 ms  {text}"
    return ENTRY.format(ms=ms, process=process, role=role, kind=kind)


def detail(ms: int, text: str) -> str:
    return ENTRY.format(ms=ms, process=7, role="app@shop", kind=f"DETAIL:  {text}")


def test_what_a_monitor_does_in_another_database_is_in_no_figure_and_no_trace(
    tmp_path: Path,
) -> None:
    log, trace = tmp_path / "server.log", tmp_path / "trace.parquet"
    log.write_text(
        "".join(
            entry(ms, f"statement: SELECT {ms}")
            + (entry(ms, "statement: SELECT 1", 8, "monitor@postgres") if ms % 5 == 0 else "")
            for ms in range(100, 120)
        )
    )
    drawn = from_log(
        [str(log)], AskedOfALog(None, None, None, None, 1.0, 50), None, None, mask=False
    )
    figures = drawn.drawing.figures
    assert (figures.database, figures.commits, figures.sessions) == ("shop", 20, 1)
    assert drawn.drawing.role == "app"
    assert figures.active_sessions == pytest.approx(20e-3 / figures.seconds)
    assert drawn.trace is not None
    drawn.trace(trace)
    facts = read_trace(trace).facts
    assert (facts.statements, facts.sessions) == (20, 1)


def test_a_trace_says_what_of_its_log_a_replay_does_not_repeat(tmp_path: Path) -> None:
    log, trace = tmp_path / "server.log", tmp_path / "trace.parquet"
    log.write_text(
        entry(100, "statement: SELECT 1")
        + entry(101, "execute <unnamed>: SELECT $1")
        + detail(101, "Parameters: $1 = 'abc...'")
        + entry(102, "execute <unnamed>/C_1: SELECT 2")
        + entry(103, "execute fetch from <unnamed>/C_1: SELECT 2")
        + entry(104, "execute fetch from <unnamed>/C_1: SELECT 2")
        + entry(105, "statement: COPY t FROM STDIN")
    )
    write_trace([log], trace, LogOptions())
    facts = read_trace(trace).facts
    assert (facts.left_out, facts.values_cut, facts.fetched) == (1, 1, 2)
    said = lacks_of_trace(facts.left_out, facts.values_cut, facts.fetched)
    assert [one.code for one in said] == [
        "plan/trace-left-out",
        "plan/trace-fetched",
        "plan/trace-values-cut",
    ]
