"""Known problems, provoked on real servers, are recognised in the arm that has them only.

Each experiment has an arm with the problem and one without it. tests/golden has recorded runs of
them, which are analysed in every test run.
"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from pathlib import Path

import pytest

import support
from support.packages import needs
from support.runs.forked import run

_EXPERIMENTS = Path(support.__file__).parent / "diagnosis"
_PROVOKED = tomllib.loads((_EXPERIMENTS / "provoked.toml").read_text("utf-8"))
_LIMIT_S = 400.0
"""A run takes less than a minute on a machine of its own; beside other tests several."""
_DEBIAN = '\n[target]\nbin = "/usr/lib/postgresql/15/bin"\n'


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "version"),
    [(name, version) for name, one in _PROVOKED.items() for version in one["versions"]],
)
def test_a_provoked_problem_is_recognised(
    name: str, version: int, tmp_path: Path, disk_base: Path
) -> None:
    folder = shutil.copytree(_EXPERIMENTS, tmp_path / "experiments")
    experiment = folder / f"{name}.toml"
    if version == 15:
        needs("postgresql-15")
        experiment.write_text(experiment.read_text("utf-8") + _DEBIAN, "utf-8")

    words = ["-m", "pgassay", "run", str(experiment), "--out", str(tmp_path / "run")]
    ended = run(words, os.environ, _LIMIT_S)

    assert ended.returncode == 0, ended.stderr
    analysis = json.loads((tmp_path / "run" / "analysis.json").read_text("utf-8"))
    wanted = _PROVOKED[name]
    found = {one["rule"]: one for one in analysis["findings"] if one["kind"] == "diagnosis"}
    assert wanted["rule"] in found
    assert found[wanted["rule"]]["confidence"] in ("confirmed", "supported")
    assert f"Seen in {wanted['arm']}." in found[wanted["rule"]]["text"]
