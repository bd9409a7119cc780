"""Runs in a store are read as those on this disk are, as the store has them now."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from fsspec.implementations.memory import MemoryFileSystem

import pgassay
from pgassay.analysis.apart.compare import Question
from pgassay.cli.list import list_runs
from pgassay.cli.report import report
from pgassay.cli.rm import rm
from pgassay.cli.show.command import show
from pgassay.errors import PgassayError
from pgassay.runs.catalogue import TABLES
from pgassay.samples.address import refuse_url
from pgassay.samples.overview import runs_in
from pgassay.stores.address import copies_folder, copy_of, shown
from pgassay.stores.fetching import NOTES, fetched
from pgassay.stores.wanted import OVERVIEW, TO_ANALYSE
from pgassay.workflows.comparing import compare_stored
from support.refusals import refused
from support.runs.command import pgassay as command
from support.runs.forked import run as python


def test_a_folder_in_a_store_is_listed_from_the_beginnings_of_files(
    lab: str, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copies = fetched(Path(lab), OVERVIEW)
    here, there = (sorted(runs_in(of), key=lambda one: one.path.name) for of in (runs, copies))
    assert [replace(one, path=runs / one.path.name, started=None) for one in there] == [
        replace(one, started=None) for one in here
    ]
    assert (copies / "wal" / "analysis.json").stat().st_size <= 8192
    assert not list(copies.rglob("*.parquet"))
    list_runs(Path(lab), as_json=True)
    listed = json.loads(capsys.readouterr().out)["runs"]
    assert {one["run"] for one in listed} == {f"{lab}/{one.path.name}" for one in here}


@pytest.mark.parametrize("table", TABLES)
def test_every_table_has_the_rows_that_it_has_on_this_disk(
    table: str, lab: str, runs: Path
) -> None:
    without_times = "* exclude (path, started)" if table == "runs" else "*"
    query = f"select {without_times} from {table} order by all"
    assert pgassay.sql(query, lab).to_pylist() == pgassay.sql(query, runs).to_pylist()


def test_a_query_fetches_the_files_of_the_tables_that_it_means(lab: str) -> None:
    (row,) = pgassay.sql("select path from runs where run = 'wal'", lab).to_pylist()
    assert row["path"] == f"{lab}/wal"
    assert not list(copy_of(lab).rglob("*.parquet"))
    pgassay.sql("select count(*) from waits", f"{lab}/wal")
    assert {file.name for file in copy_of(lab).rglob("*.parquet")} == {"waits.parquet"}


def test_a_run_in_a_store_is_a_python_object(lab: str, runs: Path) -> None:
    there, here = pgassay.open_run(f"{lab}/wal"), pgassay.open_run(runs / "wal")
    assert there.name == "wal"
    assert (there.question, there.spec, there.analysis) == (
        here.question,
        here.spec,
        here.analysis,
    )
    assert there.seconds.equals(here.seconds)


def test_what_changed_in_the_store_is_fetched_anew(lab: str, store: MemoryFileSystem) -> None:
    query = "select run, count(*) as n from trials group by 1"

    def trials() -> dict[str, int]:
        return {row["run"]: row["n"] for row in pgassay.sql(query, lab).to_pylist()}

    before = trials()
    assert (before["wal"], before["unfinished"]) == (12, 4)
    store.rm("/lab/runs/wal-again", recursive=True)
    store.rm("/lab/runs/wal/trials/0012", recursive=True)
    later = json.loads(store.cat_file("/lab/runs/unfinished/trials/0004/trial.json"))
    later["validity"] = {"valid": False, "reasons": ["noise"]}
    store.pipe_file("/lab/runs/unfinished/trials/0004/trial.json", json.dumps(later).encode())
    after = trials()
    assert "wal-again" not in after
    assert after["wal"] == 11
    (row,) = pgassay.sql("select count(*) n from trials where not valid", lab).to_pylist()
    assert row["n"] == 1


def test_a_trial_that_is_not_whole_yet_is_not_shown(lab: str, store: MemoryFileSystem) -> None:
    store.rm_file("/lab/runs/unfinished/trials/0004/trial.json")
    assert len(pgassay.open_run(f"{lab}/unfinished").trials) == 3
    (row,) = pgassay.sql("select max(trial) n from seconds", f"{lab}/unfinished").to_pylist()
    assert row["n"] == 3


def test_a_report_is_written_into_the_store(
    lab: str, store: MemoryFileSystem, capsys: pytest.CaptureFixture[str]
) -> None:
    run = f"{lab}/unfinished"
    report(Path(run))
    assert f"written: {run}/report.html" in capsys.readouterr().err
    assert store.exists("/lab/runs/unfinished/analysis.json")
    report(Path(run), output_format="html", lang="ru")
    assert store.exists("/lab/runs/unfinished/report.ru.html")
    show(Path(run), as_json=True)
    assert json.loads(capsys.readouterr().out)["run"] == run


def test_runs_in_a_store_are_compared(lab: str) -> None:
    paths = [fetched(Path(f"{lab}/{name}"), TO_ANALYSE) for name in ("wal", "wal-worse")]
    context = compare_stored(paths, Question(None, force=False, gates=()))
    assert context.title


def test_rm_removes_a_run_from_the_store(
    lab: str, store: MemoryFileSystem, capsys: pytest.CaptureFixture[str]
) -> None:
    rm([Path(f"{lab}/wal")], yes=True)
    assert f"removed {lab}/wal (" in capsys.readouterr().out
    assert not store.exists("/lab/runs/wal")
    assert store.exists("/lab/runs/wal-again/plan.json")
    journal = b'{"event": "change", "id": "1"}\n'
    store.pipe_file("/lab/runs/wal-again/journal.jsonl", journal)
    with pytest.raises(PgassayError, match="pgassay recover"):
        rm([Path(f"{lab}/wal-again")], yes=True)
    with pytest.raises(PgassayError, match="is not a run"):
        rm([Path(lab)], yes=True)
    assert store.exists("/lab/runs/wal-again/plan.json")


def test_hostile_names_are_names(store: MemoryFileSystem, runs: Path) -> None:
    name = 'o\'brien "x" [a-z]*; <script>\u202e\U0001f4a3 =cmd()'
    for file in (runs / "unfinished").rglob("*"):
        if file.is_file():
            below = file.relative_to(runs / "unfinished")
            store.pipe_file(f"/lab/{name}/{below}", file.read_bytes())
    (row,) = pgassay.sql(
        "select run, count(*) n from trials group by 1", "memory://lab"
    ).to_pylist()
    assert row == {"run": name, "n": 4}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("s3://key:geheim@lab/runs", "password"),
        ("s3://lab/runs?X-Amz-Signature=geheim", "without `\\?`"),
        ("simplecache::s3://lab/runs", "does not exist"),
        ("s3://lab/../runs", "names no folder"),
        ("nosuch://lab/runs", "neither a path nor a URL"),
        ("memory://lab/nothing", "there is nothing"),
    ],
)
def test_what_is_no_run_of_a_store_is_refused_in_one_line(
    given: str, says: str, store: MemoryFileSystem
) -> None:
    with pytest.raises(PgassayError, match=says) as refused:
        pgassay.open_run(given)
    assert "geheim" not in str(refused.value)


def test_a_file_url_is_a_path_of_this_machine(runs: Path) -> None:
    assert pgassay.open_run(f"file://{runs}/wal").path == runs / "wal"


def test_without_the_extra_one_line_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with refused("no-remote-extra", "s3://lab/runs/one"):
        pgassay.open_run("s3://lab/runs/one")


def test_nothing_of_the_extra_is_imported_for_a_path(runs: Path) -> None:
    program = (
        "import sys, pathlib, pgassay, pgassay.cli.run.execution, pgassay.stores.removing;"
        f"pgassay.sql('select count(*) from waits', {str(runs)!r});"
        f"pgassay.open_run({str(runs / 'wal')!r}).verdicts;"
        "print([name for name in sys.modules if name.split('.')[0] in ('fsspec', 's3fs')])"
    )
    assert python(["-c", program]).stdout.strip() == "[]"


def test_commands_that_write_here_only_refuse_a_url() -> None:
    done = command("observe", "--out", "s3://lab/runs/watched")
    assert done.returncode == 1
    with refused("no-store-here", command="observe"):
        refuse_url(Path("s3://lab/runs/watched"), "observe")
    assert "`pgassay observe`" in done.stderr


def test_copies_that_nobody_has_read_for_a_month_are_removed(lab: str) -> None:
    old, other = (f"{lab}/{name}" for name in ("wal", "wal-again"))
    read = {url: fetched(Path(url), TO_ANALYSE) / NOTES for url in (old, other)}
    month_ago = time.time() - 31 * 86_400
    os.utime(read[old], (month_ago, month_ago))
    fetched(Path(lab), OVERVIEW)
    assert read[old].stat().st_mtime == month_ago, "a list reads no run"
    stamp = copies_folder() / ".trimmed"
    os.utime(stamp, (month_ago, month_ago))
    fetched(Path(other), TO_ANALYSE)
    assert not copy_of(old).exists()
    assert read[other].exists()
    assert fetched(Path(old), TO_ANALYSE) == copy_of(old)


def test_messages_name_the_url_not_the_copy(lab: str, store: MemoryFileSystem) -> None:
    copy = copy_of(f"{lab}/wal")
    assert shown(copy / "analysis.json") == f"{lab}/wal/analysis.json"
