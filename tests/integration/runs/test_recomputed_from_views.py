"""Figures of a report agree with what another session read from the server's views meanwhile."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import mean

import psycopg
import pyarrow.parquet as pq
import pytest

from pgassay.report.context import ReportContext
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.sections.record.workload import mix_table
from pgassay.report.workload import workload_words
from pgassay.samples.run_directory import RunDirectory
from pgassay.workflows.reporting import analyse_run
from support.runs.command import pgassay
from support.synthetic.report_contexts import with_facts

SCRIPTS = {
    "read": "\\set i random(1, 20000)\nSELECT filler FROM item WHERE id = :i;\n",
    "write": "\\set i random(1, 20000)\nUPDATE item SET left_over = left_over - 1 WHERE id = :i;\n",
}
MARKS = {"read": "SELECT filler FROM item", "write": "UPDATE item SET left_over"}
WEIGHTS = {"read": 7, "write": 3}
SPEC = """
question = "How fast are single rows?"
[workload]
use = "shop"
[settings.postgres]
shared_buffers = "16MB"
[load]
clients = 2
rate = 100
step = "9.5s"
warmup = "1s"
[design]
seed = 3
min_blocks = 2
max_blocks = 2
endpoints = ["read:2.mean", "write:2.mean"]
"""
VIEWS = """
SELECT (extract(epoch FROM clock_timestamp()) * 1e9)::int8,
       (SELECT buffers_used FROM pg_buffercache_summary()),
       pg_database_size(current_database()),
       (SELECT jsonb_object_agg(queryid, jsonb_build_array(query, calls))
          FROM (SELECT queryid, min(query) AS query, sum(calls) AS calls
                  FROM pg_stat_statements GROUP BY queryid) AS one)
"""


PAUSE_S = 0.05


@dataclass(frozen=True)
class Look:
    """The views at one moment."""

    at_ns: int
    buffers_used: int
    data_bytes: int
    statements: dict[str, tuple[str, int]]
    """Text and calls, by id."""

    def calls(self, mark: str) -> int:
        """Of the statement that begins so."""
        return sum(calls for text, calls in self.statements.values() if text.startswith(mark))


@contextmanager
def looking(base: Path) -> Iterator[list[Look]]:
    """A session that reads the views of whichever server is up below a directory."""
    found: list[Look] = []
    over = threading.Event()

    def look_on(socket: Path) -> None:
        with psycopg.connect(
            host=str(socket.parent), user="postgres", dbname="bench", autocommit=True
        ) as session:
            while not over.wait(PAUSE_S):
                row = session.execute(VIEWS).fetchone()
                assert row is not None
                found.append(Look(*row))

    def look_for() -> None:
        while not over.wait(PAUSE_S):
            with suppress(FileNotFoundError):  # a data directory that is just being replaced
                for socket in base.rglob(".s.PGSQL.5432"):
                    # It is being started or stopped, or has no extension yet.
                    with suppress(psycopg.Error):
                        look_on(socket)

    thread = threading.Thread(target=look_for)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


def shop(beside: Path) -> None:
    """A workload of 20 000 rows, two to a page."""
    folder = beside / "shop"
    folder.mkdir()
    scenarios = "".join(
        f'{name} = {{ file = "{name}.sql", weight = {WEIGHTS[name]} }}\n' for name in SCRIPTS
    )
    (folder / "workload.toml").write_text(f'title = "Shop"\n[scenarios]\n{scenarios}')
    (folder / "schema.sql").write_text(
        "CREATE TABLE item (id int PRIMARY KEY, left_over int, filler text);"
        "ALTER TABLE item ALTER filler SET STORAGE PLAIN;"
    )
    (folder / "data.sql").write_text(
        "INSERT INTO item SELECT i, 100, repeat('x', 1500) FROM generate_series(1, 20000) AS i;"
    )
    for name, script in SCRIPTS.items():
        (folder / f"{name}.sql").write_text(script)


@pytest.fixture(scope="module")
def base(servers_base: Path) -> Iterator[Path]:
    """The directory of the run's servers alone."""
    folder = servers_base / "views"
    folder.mkdir(mode=0o711)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGASSAY_DATA", str(folder))
        yield folder


@dataclass(frozen=True)
class Trial:
    """The measured time of a trial, and when the report's sampler looked at shared buffers then."""

    begin_ns: int
    end_ns: int
    looked_ns: list[int]


@dataclass(frozen=True)
class Recorded:
    """A run of one arm, and what the test has read on its servers."""

    context: ReportContext
    looks: list[Look]
    trials: list[Trial]

    def before(self, time_ns: int) -> Look:
        """The last look before a moment; one at the same moment could be a little later."""
        return [one for one in self.looks if one.at_ns < time_ns - PAUSE_S * 1e9][-1]

    def after(self, time_ns: int) -> Look:
        return next(one for one in self.looks if one.at_ns > time_ns + PAUSE_S * 1e9)


@pytest.fixture(scope="module")
def recorded(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("views")
    shop(folder)
    (folder / "spec.toml").write_text(SPEC)
    with looking(base) as looks:
        done = pgassay("run", folder / "spec.toml", "--out", folder / "run", "--quiet")
    assert done.returncode == 0, done.stderr
    trials = [trial_in(path) for path in sorted((folder / "run" / "trials").iterdir())]
    return Recorded(analyse_run(RunDirectory(folder / "run")), looks, trials)


def trial_in(path: Path) -> Trial:
    steps = json.loads((path / "trial.json").read_text())["load"]["steps"]
    (begin, end), *_ = ((one["start_ns"], one["end_ns"]) for one in steps if one["measured"])
    rows = pq.read_table(path / "postgres.parquet").to_pylist()
    times = {row["time_ns"] for row in rows if row["source"] == "buffercache"}
    return Trial(begin, end, [at for at in sorted(times) if begin < at <= end])


def test_shared_buffers_used(recorded: Recorded) -> None:
    (shown,) = recorded.context.analysis.explanation.buffer_cache
    assert [len(trial.looked_ns) for trial in recorded.trials] == [1, 1]
    looked = [at for trial in recorded.trials for at in trial.looked_ns]
    low = mean(recorded.before(at).buffers_used for at in looked)
    high = mean(recorded.after(at).buffers_used for at in looked)
    assert low <= shown.used <= high
    assert shown.used + shown.unused == 16 * 2**20 / 8192
    # Before the start far fewer buffers are used, so a reading from then would be noticed.
    assert recorded.after(recorded.trials[0].begin_ns).buffers_used < 0.6 * low


def test_the_size_of_the_data_and_where_they_fit(recorded: Recorded) -> None:
    # The load makes the tables larger, after their size is taken.
    size = recorded.looks[0].data_bytes
    context = recorded.context
    for limit, words in ((0.98 * size, "more than memory"), (1.02 * size, "fit in memory")):
        text = f'{context.spec_text}\n[placement]\nserver_memory = "{round(limit)}B"\n'
        assert words in workload_words(with_facts(context, spec_text=text))


def test_statements_by_their_texts(recorded: Recorded) -> None:
    shown = {one.queryid: one.text for one in recorded.context.analysis.explanation.statement_use}
    seen = {
        queryid: text for look in recorded.looks for queryid, (text, _) in look.statements.items()
    }
    assert {queryid: seen[queryid] for queryid in shown} == shown
    for mark in MARKS.values():
        assert [text for text in shown.values() if text.startswith(mark)]
    page = render_markdown(recorded.context)
    assert not [queryid for queryid in seen if queryid in page]


def test_an_endpoint_of_a_statement_is_its_mean_time(recorded: Recorded) -> None:
    analysis = recorded.context.analysis
    for name, mark in MARKS.items():
        (shown,) = (one for one in analysis.explanation.statement_use if one.text.startswith(mark))
        each = [one.whole.values[f"{name}:2.mean"] for one in analysis.answer.trials]
        # Both trials have about as many calls; the table weighs trials by these.
        assert sum(each) / len(each) == pytest.approx(shown.by_arm[0].mean_ms, rel=0.1)


def test_the_mix_that_was_achieved(recorded: Recorded) -> None:
    calls = dict.fromkeys(MARKS, 0)
    for trial, (name, mark) in product(recorded.trials, MARKS.items()):
        first, last = recorded.after(trial.begin_ns), recorded.before(trial.end_ns)
        calls[name] += last.calls(mark) - first.calls(mark)
    assert sum(calls.values()) > 1000
    for row in mix_table(recorded.context).rows:
        name, asked, achieved = row[0], row[1], row[2]
        assert float(asked.removesuffix(" %")) == 10 * WEIGHTS[name]
        # A fifth of a second of each trial lies outside of these looks: 40 of 1 900 transactions.
        own = 100 * calls[name] / sum(calls.values())
        assert float(achieved.removesuffix(" %")) == pytest.approx(own, abs=2)
