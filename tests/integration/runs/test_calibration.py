"""`pgassay run --aa` on a real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgassay.samples.noise_history import noise_folder
from support.runs.broken import assert_no_server_left
from support.runs.command import pgassay

SPEC = """
[workload]
use = "payments-write"
[factors.postgres]
wal_compression = ["off", "pglz"]
[load]
clients = 2
step = "1s"
warmup = "0.3s"
[design]
min_blocks = 2
max_blocks = 4
seed = 1
"""


def test_an_aa_run_calibrates_and_its_noise_is_there_for_the_next_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    spec, run = tmp_path / "spec.toml", tmp_path / "run"
    text = SPEC.replace('step = "1s"', 'rate = 100\nstep = "0.3s"')
    spec.write_text(f'{text}[reset]\nlevel = "none"\n')
    done = pgassay("run", spec, "--aa", "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)
    assert (reported["blocks"], reported["trials"]) == (2, 4)
    assert [verdict["verdict"] for verdict in reported["verdicts"]] == ["calibration"]
    assert reported["calibration"]["noise"]["trial_sd"] > 0.0
    levels = [
        json.loads((run / "trials" / f"{n:04d}" / "trial.json").read_text())["levels"]
        for n in range(1, 5)
    ]
    assert {one["wal_compression"] for one in levels} == {"off"}
    assert {one["A/A"] for one in levels} == {"A", "B"}
    assert len(list(noise_folder().iterdir())) == 1
    assert "a prior run of this load here" in " ".join(pgassay("plan", spec).stdout.split())
    resumed = pgassay("run", run, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert "nothing to resume" in resumed.stderr
    assert "earlier_runs" not in json.loads((run / "environment.json").read_text())
    spec.write_text(spec.read_text().replace("max_blocks = 4", "max_blocks = 2"))
    asked = pgassay("run", spec, "--out", tmp_path / "asked")
    assert asked.returncode == 0, asked.stderr
    environment = json.loads((tmp_path / "asked" / "environment.json").read_text())
    assert environment["earlier_runs"] == 0, "the A/A run is none of them"
    assert len(list(noise_folder().iterdir())) == 2, "the next run counts this one"


@pytest.mark.heavy
def test_an_aa_run_of_a_switchback_calibrates_rounds_of_slices_beside_trials(
    tmp_path: Path,
) -> None:
    spec, run = tmp_path / "spec.toml", tmp_path / "run"
    text = SPEC.replace('use = "payments-write"', 'use = "payments-read"').replace(
        "max_blocks = 4\n", ""
    )
    text = text.replace("min_blocks = 2", 'mode = "switchback"\nslice = "250ms"\nmin_blocks = 2')
    spec.write_text(text.replace('step = "1s"', 'step = "8s"'))
    done = pgassay("run", spec, "--aa", "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)
    assert (reported["blocks"], reported["trials"]) == (2, 2)
    assert [verdict["verdict"] for verdict in reported["verdicts"]] == ["calibration"]
    calibration = reported["calibration"]
    assert calibration["turns"]["rounds"] == 16 + 8
    assert calibration["turns"]["round_sd"] > 0.0
    assert calibration["outlook"]["detectable"] is not None
    page = (run / "report.html").read_text()
    assert "per round of slices" in page
    slices = json.loads((run / "trials" / "0001" / "trial.json").read_text())["load"]["slices"]
    assert {one["variant"] for one in slices} == {"a1", "a2"}


@pytest.mark.heavy
def test_an_aa_run_of_a_duet_has_two_servers_of_the_baseline_up_at_once(
    tmp_path: Path, own_base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    spec, run = tmp_path / "spec.toml", tmp_path / "run"
    text = SPEC.replace('wal_compression = ["off", "pglz"]', "max_connections = [50, 100]")
    text = text.replace("min_blocks = 2", 'mode = "duet"\nslice = "250ms"\nmin_blocks = 3')
    spec.write_text(text.replace('step = "1s"', 'step = "8s"'))
    done = pgassay("run", spec, "--aa", "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)
    assert (reported["blocks"], reported["trials"]) == (3, 3)
    assert [verdict["verdict"] for verdict in reported["verdicts"]] == ["calibration"]
    turns = reported["calibration"]["turns"]
    assert 0.0 <= turns["start_sd"] <= turns["trial_sd"]
    assert "between two servers of the same arm" in (run / "report.html").read_text()
    trial = json.loads((run / "trials" / "0001" / "trial.json").read_text())
    assert set(trial["reset"]["arms"]) == {"a1", "a2"}
    for arm in trial["reset"]["arms"].values():
        assert arm["settings"]["max_connections"] == "50"
    assert_no_server_left(own_base)
    planned = " ".join(pgassay("plan", spec).stdout.split())
    assert "a prior run of this load here" in planned
