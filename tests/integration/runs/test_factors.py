"""Factors of every kind through the whole path: each arm's trials really had their levels."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from pgassay.report.formats.markdown import render_markdown
from pgassay.samples.run_directory import RunDirectory
from pgassay.workflows.reporting import analyse_run
from support.packages import needs
from support.runs.broken import assert_no_server_left, assert_nothing_open, prints_of, watched
from support.runs.command import pgassay, shop_workload

LOAD = '[load]\nclients = 2\nrate = 300\nstep = "0.6s"\nwarmup = "0.2s"\n'
DESIGN = "[design]\nseed = 3\nmin_blocks = 2\nmax_blocks = 2\n"
# Each condition fails three transactions in ten, with an SQLSTATE of its own.
SCRIPT = """
SELECT CASE WHEN random() < 0.3 AND (SELECT count(*) FROM pg_prepared_statements) > 0
            THEN 1 / (random() * 0)::int END;
SELECT CASE WHEN random() < 0.3 AND current_setting('search_path') = '"a b", c'
            THEN sqrt(-1 - random()) END;
SELECT CASE WHEN random() < 0.3 AND (SELECT count(*) FROM public.item) = 7
            THEN ln(-random()) END;
SELECT CASE WHEN random() < 0.3
             AND EXISTS (SELECT FROM pg_indexes WHERE indexdef LIKE '%größte%')
            THEN ('x' || random())::int END;
"""
OTHER_SCRIPT = "SELECT CASE WHEN random() < 0.3 THEN 3000000000 * (1 + random())::int END::int;\n"
EXPECTED = {
    "protocol": ("prepared", {"22012"}),
    "search_path": ('"a b", c', {"2201F"}),
    "scale": ("7", {"2201E"}),
    "index": ("an index", {"22P02"}),
    "buy": ("other script 'ü'", {"22003"}),
}


def run_of(folder: Path, text: str, design: str) -> tuple[Path, list[dict[str, Any]]]:
    """The run directory, and each trial's summary."""
    spec, run = folder / "lab.toml", folder / "run"
    spec.write_text(text + LOAD + DESIGN + design)
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    return run, trials_of(run)


def trials_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(run.glob("trials/*/trial.json"))]


@pytest.mark.usefixtures("own_base")
def test_each_arm_runs_with_its_own_client_data_schema_and_script_and_with_no_others(
    tmp_path: Path,
) -> None:
    shop_workload(tmp_path, SCRIPT)
    (tmp_path / "other script 'ü'.sql").write_text(OTHER_SCRIPT)
    (tmp_path / "an index.sql").write_text('CREATE INDEX "die größte" ON item (id);')
    run, trials = run_of(
        tmp_path,
        "[workload]\nuse = './shop'\n"
        "[factors.client]\nprotocol = ['simple', 'prepared']\n"
        "[factors.client.settings]\nsearch_path = ['public', '\"a b\", c']\n"
        "[factors.workload]\nscale = [3, 7]\n"
        "[factors.scenarios]\nbuy = ['', \"other script 'ü'.sql\"]\n"
        "[factors.schema]\nindex = ['', 'an index.sql']\n",
        "combinations = 'one-at-a-time'\n",
    )
    assert len(trials) == 12
    for trial in trials:
        changed = [name for name, (level, _) in EXPECTED.items() if trial["levels"][name] == level]
        expected = set().union(*(EXPECTED[name][1] for name in changed))
        (scenario,) = trial["load"]["scenarios"]
        assert set(scenario["errors"]) == expected, trial["levels"]
        stored = trial["reset"].get("ground", {})
        assert stored.get("schema") == ("index = an index" if "index" in changed else None)
        if "scale" in changed:
            assert stored["data"] == "shop at scale 7"
    environment = json.loads((run / "environment.json").read_text())
    assert list(environment["schema_made_in_s"]) == ["index = an index"]
    assert "other script 'ü'" in render_markdown(analyse_run(RunDirectory.open(run)))


@pytest.mark.usefixtures("own_base")
def test_a_session_that_a_client_cannot_have_is_found_before_the_first_trial(
    tmp_path: Path,
) -> None:
    spec = tmp_path / "lab.toml"
    spec.write_text(
        "[workload]\nuse = 'payments-write'\n"
        "[factors.client.settings]\nsearch_path = ['public', 'a b']\n" + LOAD + DESIGN
    )
    done = pgassay("run", spec, "--out", tmp_path / "run")
    assert done.returncode == 1, done.stderr
    assert "search_path = a b: " in done.stderr
    assert "invalid value for parameter" in done.stderr
    assert "trial" not in done.stderr.splitlines()[-1]


def test_versions_are_compared_and_a_killed_run_of_them_goes_on(
    tmp_path: Path, own_base: Path
) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(
        "[workload]\nuse = 'payments-write'\n[factors.target]\nversion = [16, 18]\n" + LOAD + DESIGN
    )
    with watched(run, spec) as tool:
        tool.wait_for(lambda: len(tool.finished()) >= 2, "two finished trials")
        tool.kill()
        kept = prints_of(run, ["0001", "0002"])
    done = pgassay("run", "--resume", run, "--json")
    assert done.returncode == 0, done.stderr
    assert_no_server_left(own_base)
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
    reported = render_markdown(analyse_run(RunDirectory.open(run)))
    assert re.search(r"data_checksums\W+off\W+on\W", reported)
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


@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_server_that_cannot_take_part_is_refused_before_any_is_started(
    tmp_path: Path, own_base: Path, command: str
) -> None:
    needs("postgresql-15")
    spec = tmp_path / "lab.toml"
    missing = "[factors.target]\nbin = ['/nowhere at all/bin', 18]\n"
    lacking = (
        "[factors.target]\nbin = [18, '/usr/lib/postgresql/15/bin']\n"
        "[factors.postgres]\nio_workers = [1, 2]\n"
    )
    for text, message in (
        (missing, "factors.target.bin: /nowhere at all/bin is not a directory"),
        (lacking, "factors.postgres.io_workers: unknown setting of PostgreSQL 15; PostgreSQL 18"),
    ):
        spec.write_text("[workload]\nuse = 'payments-write'\n" + text + LOAD + DESIGN)
        out: list[str | Path] = ["--out", tmp_path / "run"] if command == "run" else []
        done = pgassay(command, spec, *out)
        assert done.returncode == 1
        assert message in done.stderr
    assert list(own_base.iterdir()) == []
