"""CSV has every figure unrounded, one file for each table, and no text that is a formula."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.cli.main import app
from pgassay.notes import legacy
from pgassay.report.context import ReportContext
from pgassay.report.data_tables.csv_files import csv_files, render_csv, trials_csv
from pgassay.report.data_tables.tables import tables_of
from pgassay.report.inert import csv_cell
from pgassay.workflows.reporting import trace_context
from support.refusals import refused
from support.runs.command import pgassay
from support.synthetic.analyses import changed
from support.synthetic.directories import synthetic_run
from support.synthetic.hostile import FORMULA, NAMES, hostile_context
from support.synthetic.report_contexts import STEPS, synthetic_context
from support.synthetic.traces import synthetic_trace
from unit.report.test_report_observation import context as observed_context

DOCS = Path(__file__).parents[3] / "docs" / "formats.md"


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    folder = tmp_path_factory.mktemp("run")
    found = synthetic_context(folder, STEPS, effects={"a2": 0.2})
    first, *others = found.analysis.answer.trials
    doubted = replace(first, invalid=(legacy("the server was restarted"),))
    analysis = changed(found.analysis, trials=tuple(others), invalid_trials=(doubted,))
    return replace(found, analysis=analysis)


def test_the_raw_trials_have_every_estimate_of_every_trial_and_step(context: ReportContext) -> None:
    rows = rows_of(trials_csv(context))
    analysis = context.analysis
    every = (*analysis.answer.trials, *analysis.answer.invalid_trials)
    assert len(rows) == 3 * len(every)  # the trial and its two steps
    assert [int(row["order"]) for row in rows[::3]] == list(range(1, len(every) + 1))
    for trial in every:
        whole, *steps = (row for row in rows if int(row["trial"]) == trial.number)
        assert whole["scope"] == "trial"
        assert [float(row["step"]) for row in steps] == [4.0, 8.0]
        assert float(whole["latency_p99_ms"]) == trial.whole.values["latency_p99"]
        known = {name for name, text in whole.items() if text}
        assert len(known) >= len(trial.whole.values) + 10
        assert whole["level_max_wal_size"] in ("32MB", "4GB")
        assert whole["start_utc"].endswith("Z")


def test_a_trial_that_does_not_count_is_there_with_its_reason(context: ReportContext) -> None:
    (doubted,) = context.analysis.answer.invalid_trials
    rows = rows_of(trials_csv(context))
    left_out = [row for row in rows if row["counts"] == "false"]
    assert {(int(row["trial"]), row["invalid"]) for row in left_out} == {
        (doubted.number, "the server was restarted")
    }


def test_every_table_reads_back_with_its_columns_and_rows(context: ReportContext) -> None:
    files = csv_files(context)
    for table in tables_of(context):
        text = files[f"{table.name}.csv"]
        assert text.endswith("\r\n")
        names, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        assert names == [one.name for one in table.columns]
        assert len(rows) == len(table.rows)
        for row, values in zip(rows, table.values(), strict=True):
            for cell, value in zip(row, values, strict=True):
                if isinstance(value, int | float) and not isinstance(value, bool):
                    assert float(cell) == value
    assert render_csv(context) == files["trials.csv"]


def test_the_verdicts_have_their_figures_and_the_answer_in_words(context: ReportContext) -> None:
    rows = rows_of(csv_files(context)["verdicts.csv"])
    first = next(iter(context.analysis.answer.verdicts()))
    assert float(rows[0]["effect_pct"]) == first.effect_pct
    assert (float(rows[0]["ci95_low_pct"]), float(rows[0]["ci95_high_pct"])) == first.ci95_pct
    assert rows[0]["sentence"].startswith("max_wal_size = 4GB is ")
    assert {row["endpoint"] for row in rows} == {"primary", "beside"}


def test_no_text_is_a_formula_and_no_number_is_changed(tmp_path: Path) -> None:
    for name, text in csv_files(hostile_context(tmp_path)).items():
        for row in csv.reader(io.StringIO(text, newline=""), strict=True):
            for cell in row:
                if cell[:1] in ("=", "+", "-", "@", "\t", "\r"):
                    float(cell)  # a number
                assert not set(cell) & {"\x00", "\x07", "\r", "\u202e", "\uffff"}, name
    assert csv_cell(FORMULA) == f"'{FORMULA}"
    assert [csv_cell(text) for text in ("-1", "-0.5", "a=b", "")] == ["-1", "-0.5", "a=b", ""]
    assert sum(csv_cell(name) != name for name in NAMES) == 5


def test_the_page_on_formats_lists_every_table_of_a_run(context: ReportContext) -> None:
    page = DOCS.read_text("utf-8")
    assert [one.name for one in tables_of(context) if f"`{one.name}`" not in page] == []


def test_the_trials_go_to_stdout_and_all_tables_into_a_folder(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=2)
    printed = pgassay("report", run.path, "--format", "csv")
    assert printed.stdout.startswith("order,trial,block,position,arm,")
    folder = tmp_path / "tables"
    for _ in range(2):  # again over an earlier export
        assert pgassay("report", run.path, "--format", "csv", "--out", folder).returncode == 0
    assert {"trials.csv", "verdicts.csv", "columns.csv"} <= {one.name for one in folder.iterdir()}
    single = tmp_path / "only.csv"
    assert pgassay("report", run.path, "--format", "csv", "--out", single).returncode == 0
    assert single.read_bytes() == (folder / "trials.csv").read_bytes()
    (tmp_path / "file").touch()
    words = ["report", str(run.path), "--format", "csv", "--out", str(tmp_path / "file")]
    with refused("file-for-a-folder", str(tmp_path / "file")):
        app(words, standalone_mode=False)


def test_an_observation_and_a_trace_have_their_own_tables(tmp_path: Path) -> None:
    observed = csv_files(observed_context())
    (course, *_) = rows_of(observed["courses.csv"])
    assert course["tps"] == "100.0"
    assert course["sessions_lock"] == "1.0"
    (checkpoint,) = rows_of(observed["checkpoints.csv"])
    assert checkpoint["buffers"] == "1234"
    traced = trace_context(synthetic_trace(tmp_path / "trace"))
    first, *_ = rows_of(render_csv(traced))
    assert (first["period"], first["point"], first["key"]) == ("trace", "lwlock_wait", "WALWrite")
    page = DOCS.read_text("utf-8")
    names = {*observed, *csv_files(traced)}
    assert [one for one in names if f"`{one.removesuffix('.csv')}`" not in page] == []
