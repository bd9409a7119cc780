"""Recorded runs give the same findings for ever."""

from __future__ import annotations

import shutil
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from tools.archives import unpack

from pgassay.findings.model import FindingKind
from pgassay.report.formats.html import render_html
from pgassay.samples.run_directory import RunDirectory
from pgassay.workflows.reporting import analyse_run
from support.notes import values_in
from support.pages import MOST_BYTES, dangling, repeated_regions

GOLDEN = Path(__file__).parents[2] / "golden"
_SEEN = "findings/diagnosis/recognised/texts.seen"
CASES = sorted(file.parent.name for file in GOLDEN.glob("*/expected.toml"))


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_run_gives_the_findings_that_were_recorded_with_it(
    case: str, tmp_path: Path
) -> None:
    """`expected.toml` lists them: rule, confidence, and the arm that it is seen in; its page has a
    target for every link, and is small.

    The run is `run.tar.xz`, or the files beside it.
    """
    folder = GOLDEN / case
    archive = folder / "run.tar.xz"
    if archive.is_file():
        unpack(archive, tmp_path)
    else:
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    expected = tomllib.loads((folder / "expected.toml").read_text("utf-8"))

    context = analyse_run(RunDirectory(tmp_path))
    findings = context.findings
    found = [one for one in findings if one.kind is FindingKind.DIAGNOSIS]

    wanted = {one["rule"]: one for one in expected["finding"]}
    by_rule = {one.rule: one for one in found if one.rule in wanted}
    assert by_rule.keys() == wanted.keys()
    for rule, one in wanted.items():
        assert by_rule[rule].confidence == one["confidence"]
        said = values_in(by_rule[rule].claim)
        arms = values_in(said[_SEEN]["arms"])["findings/clauses"]["items"] if "arm" in one else ()
        assert arms == tuple(one[key] for key in ("arm",) if key in one)
    # Patterns of rules that the run must not show beside them: `*/*` is any rule with a file.
    others = [one.rule for one in found if one.rule not in wanted]
    absent = expected.get("absent", [])
    assert [rule for rule in others if any(fnmatch(rule, one) for one in absent)] == []

    page = render_html(context)
    assert dangling(page) == repeated_regions(page) == set()
    assert len(page.encode()) < MOST_BYTES


def test_recorded_runs_are_small() -> None:
    for case in CASES:
        size = sum(file.stat().st_size for file in (GOLDEN / case).rglob("*") if file.is_file())
        assert size <= 300_000, case
