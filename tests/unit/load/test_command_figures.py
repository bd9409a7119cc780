"""The figures a user's program wrote are read, and what cannot be read is an error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.errors import TrialError
from pgassay.spec.load.table import ThroughputTable
from pgassay.trials.load.interval_rows import (
    CommandStep,
    Latencies,
    hdr_buckets,
    interval_rows,
    latency_summary,
)
from pgassay.trials.load.program.hdr_log import read_hdr_log
from pgassay.trials.load.program.output import read_pgbench_log, throughput
from support.refusals import refused

DATA = Path(__file__).parents[2] / "data"


def test_a_figure_is_found_by_path_or_pattern() -> None:
    k6 = '{"metrics": {"iterations": {"rate": 12.5}, "runs": [{"tps": "7"}]}}'
    assert throughput(k6, ThroughputTable(json="metrics.iterations.rate")) == 12.5
    assert throughput(k6, ThroughputTable(json="metrics.runs.0.tps")) == 7.0
    assert throughput(f"begin\n{k6}\n", ThroughputTable(json="metrics.iterations.rate")) == 12.5
    said = "progress: tps = 1\ntps = 3883.64 (without initial connection time)\n"
    assert throughput(said, ThroughputTable(pattern="tps = ([0-9.]+)")) == 3883.64


@pytest.mark.parametrize(
    ("text", "where", "code", "values"),
    [
        ("no json", {"json": "a"}, "output-without-json", {}),
        (
            '{"a": {"b": 1}}',
            {"json": "a.c"},
            "no-such-place-in-output",
            {"part": "c", "path": "a.c", "known": "b"},
        ),
        ('{"a": "fast"}', {"json": "a"}, "figure-not-a-number", {"found": "fast"}),
        ('{"a": true}', {"json": "a"}, "figure-not-a-number", {"found": "True"}),
        ('{"a": -1}', {"json": "a"}, "figure-no-throughput", {"tps": -1.0}),
        ("tps: 3", {"pattern": "tps = (.*)"}, "no-match-in-output", {}),
    ],
)
def test_a_figure_that_is_not_there_is_a_failed_trial(
    text: str, where: dict[str, str], code: str, values: dict[str, object]
) -> None:
    with refused(code, **values) as found:
        throughput(text, ThroughputTable(**where))
    assert isinstance(found.value, TrialError)
    assert str(found.value).startswith("load.throughput.")


def test_an_hdr_log_is_read_as_the_library_that_wrote_it_reads_it() -> None:
    first, second = read_hdr_log(DATA / "latency.hlog", "us")
    assert (first.at_ns, second.at_ns) == (1_800_000_000 * 10**9, 1_800_000_001 * 10**9)
    assert (first.counts.sum(), second.counts.sum()) == (1000, 1001)
    # Figures of the hdrhistogram 0.10.8 for Python that wrote the file, in µs.
    for part, p50, p99, largest, mean in (
        (first, 407, 3597, 15_711, 636.836),
        (second, 1103, 9463, 50_003_967, 51_720.99000999001),
    ):
        summary = latency_summary((part,))
        assert summary["p50"] == p50 / 1e3
        assert summary["p99"] == p99 / 1e3
        assert summary["max"] == largest / 1e3
        assert summary["mean"] == pytest.approx(mean / 1e3)


@given(st.binary(max_size=200))
def test_a_broken_hdr_log_is_one_line(junk: bytes) -> None:
    import base64
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.hlog"
        path.write_text(f"1.0,1.0,0.5,{base64.b64encode(junk).decode()}\n")
        with refused("not-a-line-of-an-hdr-log", f"{path}:1"):
            read_hdr_log(path, "us")


def test_a_pgbench_log_is_read_over_all_threads_without_failures(tmp_path: Path) -> None:
    (tmp_path / "log.71").write_text(
        "0 1 412 0 1800000000 100000\n0 2 500 0 1800000001 200000 30 1\n0 3 failed 0 1800000001 9\n"
    )
    (tmp_path / "log.71.1").write_text("1 1 300 0 1800000000 900000\n1 2 skipped 0 1800000000 9\n")
    first, second = read_pgbench_log(tmp_path / "log")
    assert first.sum_ns == 712_000
    assert second.counts.sum() == 1
    (tmp_path / "log.72").write_text("1800000000 5 2500 1250000 300 700\n")
    with refused("pgbench-log-aggregated"):
        read_pgbench_log(tmp_path / "log")
    with refused("pgbench-log-missing"):
        read_pgbench_log(tmp_path / "other")


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=50))
def test_buckets_keep_three_digits_and_every_count(latencies: list[int]) -> None:
    values, counts = hdr_buckets(np.array(latencies, np.int64))
    assert counts.sum() == len(latencies)
    for latency in latencies:
        highest = values[np.searchsorted(values, latency)]
        assert latency <= highest <= latency * 1.001 + 1


def step_of(tps: float, seconds: float, commits: list[tuple[int, int]]) -> CommandStep:
    return CommandStep(
        index=0, clients=2, rate=None, measured=True, start_ns=0, end_ns=round(seconds * 1e9),
        tps=tps, client_cpu_s=0.0, commits=tuple(commits), rollbacks=0,
        latencies=(Latencies(10**9, 7, np.array([7]), np.array([1])),),
    )  # fmt: skip


@given(st.floats(0.0, 1e5), st.floats(0.01, 30.0), st.lists(st.integers(0, 500), max_size=20))
def test_intervals_add_up_to_the_steps_transactions(
    tps: float, seconds: float, growth: list[int]
) -> None:
    running = np.cumsum(growth).tolist()
    commits = [(round((i + 1) * seconds * 1e9 / len(growth)), n) for i, n in enumerate(running)]
    step = step_of(tps, seconds, commits)
    rows = interval_rows([step])
    assert sum(rows["transactions"]) == step.transactions
    assert min(rows["transactions"]) >= 0
    assert sum(sum(counts) for counts in rows["latency_count"]) == 1
    assert rows["start_ns"][0] == 0
