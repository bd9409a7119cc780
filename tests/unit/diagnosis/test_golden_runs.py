"""Recorded runs give the same findings for ever."""

from __future__ import annotations

import shutil
import tarfile
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from pgassay.findings.model import FindingKind
from pgassay.samples.run_directory import RunDirectory
from pgassay.workflows.reporting import analyse_run

GOLDEN = Path(__file__).parents[2] / "golden"
CASES = sorted(file.parent.name for file in GOLDEN.glob("*/expected.toml"))


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_run_gives_the_findings_that_were_recorded_with_it(
    case: str, tmp_path: Path
) -> None:
    """`expected.toml` lists them: rule (or title), confidence, and arms where the text names them.

    The run is `run.tar.xz`, or the files beside it.
    """
    folder = GOLDEN / case
    archive = folder / "run.tar.xz"
    if archive.is_file():
        with tarfile.open(archive) as packed:
            packed.extractall(tmp_path, filter="data")
    else:
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    expected = tomllib.loads((folder / "expected.toml").read_text("utf-8"))

    findings = analyse_run(RunDirectory(tmp_path)).findings
    found = [one for one in findings if one.kind is FindingKind.DIAGNOSIS]

    wanted = expected["finding"]
    names = {one["rule"] if "rule" in one else one["title"] for one in wanted}
    by_name = {name: one for one in found for name in (one.rule, one.title) if name in names}
    assert by_name.keys() == names
    for one in wanted:
        finding = by_name[one.get("rule", one.get("title"))]
        assert (finding.confidence, one.get("arm", "") in finding.text) == (one["confidence"], True)
    # Patterns of rules that the run must not show beside them: `*/*` is any rule with a file.
    others = [one.rule for one in found if not {one.rule, one.title} & names]
    absent = expected.get("absent", [])
    assert [rule for rule in others if any(fnmatch(rule, one) for one in absent)] == []


def test_recorded_runs_are_small() -> None:
    for case in CASES:
        size = sum(file.stat().st_size for file in (GOLDEN / case).rglob("*") if file.is_file())
        assert size <= 300_000, case
