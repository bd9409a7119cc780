"""Factors of every kind through the whole path: each arm's trials really had their levels."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pgassay.pipeline import analyse_run
from pgassay.report.markdown import render_markdown
from pgassay.samples.run_directory import RunDirectory
from support.broken_runs import assert_no_server_left, assert_nothing_open, prints_of, watched
from support.command import pgassay, shop_workload

LOAD = '[load]\nclients = 2\nstep = "0.6s"\nwarmup = "0.2s"\n'
DESIGN = "[design]\nseed = 3\nmin_blocks = 2\nmax_blocks = 2\n"
FAILS_WHERE = "SELECT CASE WHEN {} AND random() < 0.1 THEN 1 / (random() * 0)::int END;\n"
"""A script whose failures tell what its session saw."""


def run_of(folder: Path, text: str) -> tuple[Path, list[dict[str, Any]]]:
    """The run directory, and each trial's summary."""
    spec, run = folder / "lab.toml", folder / "run"
    spec.write_text(text + LOAD + DESIGN)
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    return run, trials_of(run)


def trials_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(run.glob("trials/*/trial.json"))]


def failed_in(trials: list[dict[str, Any]], level: str) -> set[bool]:
    return {t["load"]["failed"] > 0 for t in trials if level in t["levels"].values()}


@pytest.mark.usefixtures("own_base")
def test_what_the_client_sets_is_there_in_its_arm_and_in_no_other(tmp_path: Path) -> None:
    seen = FAILS_WHERE.format("(SELECT count(*) FROM pg_prepared_statements) > 0")
    seen += FAILS_WHERE.format("current_setting('search_path') = '\"a b\", c'")
    shop_workload(tmp_path, seen)
    _, trials = run_of(
        tmp_path,
        "[workload]\nuse = './shop'\n[factors.client]\nprotocol = ['simple', 'prepared']\n"
        "[factors.client.settings]\nsearch_path = ['public', '\"a b\", c']\n",
    )
    assert len(trials) == 8
    plain = [t for t in trials if t["levels"]["search_path"] == "public"]
    assert failed_in(plain, "prepared") == {True}
    assert failed_in(plain, "simple") == {False}
    spaced = [t for t in trials if t not in plain]
    assert failed_in(spaced, "simple") == {True}


@pytest.mark.usefixtures("own_base")
def test_a_session_that_a_client_cannot_have_is_found_before_the_first_trial(
    tmp_path: Path,
) -> None:
    spec = tmp_path / "lab.toml"
    spec.write_text("[factors.client.settings]\nsearch_path = ['public', 'a b']\n" + LOAD + DESIGN)
    done = pgassay("run", spec, "--out", tmp_path / "run")
    assert done.returncode == 1, done.stderr
    assert "search_path = a b: " in done.stderr
    assert "invalid value for parameter" in done.stderr
    assert "trial" not in done.stderr.splitlines()[-1]


@pytest.mark.usefixtures("own_base")
def test_a_scenario_runs_the_script_of_its_arm_on_the_data_of_its_arm(tmp_path: Path) -> None:
    shop = shop_workload(tmp_path, FAILS_WHERE.format("(SELECT count(*) FROM item) = 3"))
    other = tmp_path / "other script 'ü'.sql"
    other.write_text((shop / "buy.sql").read_text().replace("= 3", "= 7"))
    run, trials = run_of(
        tmp_path,
        f"[workload]\nuse = './shop'\n[factors.workload]\nscale = [3, 7]\n"
        f"[factors.scenarios]\nbuy = ['', \"{other.name}\"]\n",
    )
    found = {(*t["levels"].values(), t["load"]["failed"] > 0) for t in trials}
    name = "other script 'ü'"
    assert found == {
        ("3", "as it is", True), ("3", name, False), ("7", "as it is", False), ("7", name, True),
    }  # fmt: skip
    assert {t["reset"]["ground"].get("data") for t in trials if t["levels"]["scale"] == "7"} == {
        "shop at scale 7"
    }
    told = render_markdown(analyse_run(RunDirectory.open(run)))
    assert name in told


@pytest.mark.usefixtures("own_base")
def test_a_variant_of_the_schema_is_there_in_its_arm_alone(tmp_path: Path) -> None:
    indexed = "EXISTS (SELECT FROM pg_indexes WHERE indexdef LIKE '%größte%')"
    shop_workload(tmp_path, FAILS_WHERE.format(indexed))
    (tmp_path / "an index.sql").write_text('CREATE INDEX "die größte" ON item (id);')
    run, trials = run_of(
        tmp_path,
        "[workload]\nuse = './shop'\n[factors.schema]\nindex = ['', 'an index.sql']\n",
    )
    assert failed_in(trials, "as it is") == {False}
    assert failed_in(trials, "an index") == {True}
    grounds = {t["levels"]["index"]: t["reset"].get("ground", {}) for t in trials}
    assert grounds["as it is"] == {}
    assert grounds["an index"]["schema"] == "index = an index"
    environment = json.loads((run / "environment.json").read_text())
    assert list(environment["schema_made_in_s"]) == ["index = an index"]


def test_versions_are_compared_and_a_killed_run_of_them_goes_on(
    tmp_path: Path, empty_base: Path
) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text("[factors.target]\nversion = [16, 18]\n" + LOAD + DESIGN)
    with watched(run, spec) as tool:
        tool.wait_for(lambda: len(tool.finished()) >= 2, "two finished trials")
        tool.kill()
        kept = prints_of(run, ["0001", "0002"])
    done = pgassay("run", "--resume", run, "--json")
    assert done.returncode == 0, done.stderr
    assert_no_server_left(empty_base)
    assert_nothing_open(run)
    assert prints_of(run, ["0001", "0002"]) == kept
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert (verdict["factor"], verdict["baseline"], verdict["level"]) == ("version", "16", "18")
    for trial in trials_of(run):
        level = trial["levels"]["version"]
        assert trial["reset"]["ground"]["version"].startswith(level)
        assert trial["fingerprint"]["before"]["version"].startswith(level)
    environment = json.loads((run / "environment.json").read_text())
    assert list(environment["servers"]) == ["16", "18"]
    assert "(GCC)" in environment["servers"]["18"]["build"]
    assert "data_checksums" in environment["settings_that_differ"]
    (contents,) = environment["data"].values()
    assert contents["16"] == contents["18"]
    told = render_markdown(analyse_run(RunDirectory.open(run)))
    assert "data_checksums: off (16), on (18); part of what is measured" in told
    stored = run / "environment.json"
    environment["servers"]["18"]["version"] = "PostgreSQL 18.0"
    stored.write_text(json.dumps(environment))
    (run / "report.html").unlink()
    for number in ("0003", "0004"):
        shutil.rmtree(run / "trials" / number)
    refused = pgassay("run", "--resume", run)
    assert refused.returncode == 1
    assert "version on 18 was PostgreSQL 18.0" in refused.stderr
    assert "--accept 'version on 18'" in refused.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "[factors.target]\nbin = ['/nowhere at all/bin', 18]\n",
            "factors.target.bin: /nowhere at all/bin is not a directory",
        ),
        (
            "[factors.target]\nbin = [18, '/usr/lib/postgresql/15/bin']\n"
            "[factors.postgres]\nio_workers = [1, 2]\n",
            "factors.postgres.io_workers: unknown setting of PostgreSQL 15; PostgreSQL 18 has it",
        ),
    ],
)
@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_server_that_cannot_take_part_is_refused_before_any_is_started(
    tmp_path: Path, empty_base: Path, command: str, text: str, told: str
) -> None:
    spec = tmp_path / "lab.toml"
    spec.write_text(text + LOAD + DESIGN)
    out: list[str | Path] = ["--out", tmp_path / "run"] if command == "run" else []
    done = pgassay(command, spec, *out)
    assert done.returncode == 1
    assert told in done.stderr
    assert list(empty_base.iterdir()) == []
