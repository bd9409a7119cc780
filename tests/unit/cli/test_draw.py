"""`pgassay draw` says in one line what it lacks, before it reaches a server or makes a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.runs.command import pgassay
from support.synthetic.directories import synthetic_run

LONG = f"host=127.0.0.1 port=1 fallback_application_name={'x' * 300}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "shop"], "from a server or from its log; give a connection string"),
        (["service=prod"], "--out: no folder is named"),
        (["service=prod", "--out", "shop", "--plans"], "--plans belongs to --check"),
        (["service=prod", "--out", "shop", "--for", "soon"], "--for: "),
        (["--log", "a.csv", "--mask", "--trace", "--out", "shop"], "exclude each other"),
        (["--check", "run", "--out", "shop"], "drop --out"),
        (["--check", "run", "--mask"], "drop --mask"),
        (["--check", "nowhere"], "nowhere"),
        (["--log", "absent.csv", "--out", "shop"], "absent.csv cannot be read"),
        ([LONG, "--log", "absent.csv", "--out", "shop"], "absent.csv cannot be read"),
        (["--log", "absent.csv", "--out", "shop", "--for", "1min"], "--for is for drawing from"),
        (["service=prod", "--out", "shop", "--user", "me"], "--user is for drawing from a log"),
        (["host=127.0.0.1 port=1", "--out", "shop"], "127.0.0.1"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = pgassay("draw", *arguments)
    assert done.returncode == 1
    assert said in done.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


def test_files_that_the_shell_made_of_a_pattern_are_no_connection_string(tmp_path: Path) -> None:
    (one, other) = (tmp_path / name for name in ("a.log", "b.log"))
    other.write_text("")
    done = pgassay("draw", "--log", one, other, "--out", tmp_path / "shop")
    assert "put the pattern in quotes" in done.stderr


def test_a_folder_that_holds_anything_is_refused_before_the_server_is_reached(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine").write_text("")
    done = pgassay("draw", "host=127.0.0.1 port=1", "--out", tmp_path)
    assert done.returncode == 1
    assert str(tmp_path) in done.stderr


def test_a_run_of_another_workload_is_not_checked(tmp_path: Path) -> None:
    run, spec, plan = synthetic_run(tmp_path / "run", blocks=1)
    run.store_design(spec, plan)
    done = pgassay("draw", "--check", run.path)
    assert done.returncode == 1
    assert "drawing.json" in done.stderr
    assert "--of" in done.stderr
