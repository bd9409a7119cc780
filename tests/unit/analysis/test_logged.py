"""What a server's log tells is stored with the trial and shown per arm."""

from __future__ import annotations

import json
from pathlib import Path

from pgassay.analysis.reading.logged import logged_in
from pgassay.report.formats.markdown import render_markdown
from pgassay.samples.run_directory import RunDirectory
from pgassay.workflows.reporting import analyse_run
from support.synthetic.directories import synthetic_run


def test_events_are_stored_with_their_figures(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=1)
    first, error = run.trial(1).table("events").to_pylist()
    assert (first["kind"], first["object"]) == ("autovacuum", "bench.public.t")
    assert dict(first["figures"]) == {"pages_remain": 9.0}
    assert (error["sqlstate"], error["count"]) == ("40001", 3)
    found = logged_in(run.trial(1), 0, 2**62)
    assert found["error 40001"] == 3
    assert found["autovacuum"] == 1


def test_a_run_without_a_log_has_no_events_and_no_quiet_arm(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=2)
    for trial in run.trials():
        (trial.folder / "events.parquet").unlink()
        path = trial.folder / "trial.json"
        path.write_text(json.dumps({**trial.summary().to_json(), "log": {}}))
    assert run.trial(1).table("events").num_rows == 0
    assert "log tells" not in markdown_of(run)


def test_the_report_shows_them_per_trial_of_each_arm(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=2)
    text = markdown_of(run)
    assert "| Errors, 40001 | 3 | 3 |" in text
    assert "| Autovacuums | 1 | 1 |" in text
    assert "| Checkpoints, wal | 3 | 0 |" in text


def markdown_of(run: RunDirectory) -> str:
    return render_markdown(analyse_run(run))
