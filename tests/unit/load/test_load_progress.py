"""Progress lines are pgbench's, of what happened since the last one."""

from __future__ import annotations

from typing import Any

import pytest

from pgassay.cli.load.execution import reporter
from pgassay.plan.steps import Step
from pgassay.trials.load.engine import LoadRequest


def reported(elapsed_s: float, **counts: Any) -> dict[str, Any]:
    none = dict.fromkeys(
        ("transactions", "failed", "skipped", "retried", "retries", "latency_ms", "latency_ms2",
         "lag_ms", "step"), 0
    )  # fmt: skip
    return {**none, "elapsed_s": elapsed_s, "measured": True, "clients": 2, **counts}


def test_a_line_says_what_happened_since_the_last(capsys: pytest.CaptureFixture[str]) -> None:
    request = LoadRequest([], [Step(2, 10.0, measured=True)], {}, 1)
    report = reporter(request, 1.0, with_timestamp=False)
    report(reported(0.8, transactions=9))
    report(reported(1.0, transactions=2, latency_ms=4.0, latency_ms2=10.0))
    report(reported(1.2, transactions=5))
    report(reported(2.0, transactions=6, failed=3, latency_ms=24.0, latency_ms2=110.0))
    assert capsys.readouterr().err.splitlines() == [
        "progress: 1.0 s, 2.0 tps, lat 2.000 ms stddev 1.000, 0 failed",
        "progress: 2.0 s, 4.0 tps, lat 5.000 ms stddev 0.000, 3 failed",
    ]


def test_a_line_of_a_rate_says_lag_skips_and_retries(capsys: pytest.CaptureFixture[str]) -> None:
    steps = [Step(1, 1.0, measured=False, rate=5.0), Step(2, 10.0, measured=True, rate=5.0)]
    request = LoadRequest([], steps, {}, 1, latency_limit_ms=3.0, max_tries=0)
    report = reporter(request, 1.0, with_timestamp=False)
    counts = {"lag_ms": 1.0, "skipped": 4, "retried": 2, "retries": 5, "measured": False}
    report(reported(3.0, transactions=2, latency_ms=4.0, latency_ms2=8.0, **counts))
    report(reported(3.5))
    assert capsys.readouterr().err == (
        "progress: 3.0 s, 0.7 tps, lat 2.000 ms stddev 0.000, 0 failed, lag 0.500 ms, 4 skipped,"
        " 2 retried, 5 retries, 2 clients, warm-up\n"
    )


def test_without_progress_asked_for_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    request = LoadRequest([], [Step(2, 10.0, measured=True)], {}, 1)
    reporter(request, None, with_timestamp=False)(reported(5.0))
    assert capsys.readouterr().err == ""
