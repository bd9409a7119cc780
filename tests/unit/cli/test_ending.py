"""A run ends in three lines: the figures, the verdict with its interval, what to do next."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.analysis.model import Verdict
from pgassay.cli.terminal import console
from pgassay.cli.terminal.summary import print_ending
from pgassay.findings.answer.ending import Ending
from pgassay.findings.model import Finding, FindingKind
from pgassay.notes import Importance, Note
from pgassay.report.context import ReportContext
from pgassay.report.objects.analysis import render_json
from pgassay.report.sections.answer.effect import verdict_table
from support.notes import values_in
from support.synthetic.directories import SPEC
from support.synthetic.report_contexts import synthetic_context

RULE = "findings/answer/ending"


def context_of(path: Path, spec: str = SPEC, **how: object) -> ReportContext:
    """A synthetic run, analysed."""
    return synthetic_context(path, spec, **how)


def ending_of(path: Path, spec: str = SPEC, **how: object) -> Ending:
    return context_of(path, spec, **how).ending


def sure(context: ReportContext) -> tuple[Finding, ...]:
    """The findings without caveats that could change the verdict."""
    return tuple(one for one in context.findings if one.importance is not Importance.VERDICT)


def test_a_clear_run_ends_in_three_lines_and_its_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = context_of(tmp_path, effects={"a2": 0.2})
    context = replace(context, findings=sure(context))
    monkeypatch.setattr(console.out, "_file", text := io.StringIO())
    print_ending(context, "runs/a b/report.html", "runs/a b")
    assert text.getvalue().splitlines() == [
        "",
        "6 969 → 8 496 tps (max_wal_size: 32MB → 4GB)",
        "BETTER      max_wal_size = 4GB is 21.9 % faster than 32MB"
        " (95 % CI 20.4 to 23.4 %, 6 blocks).",
        "next: Nothing more is needed: no caveat could change this verdict.",
        "Report: runs/a b/report.html; the rest: pgassay show 'runs/a b'",
    ]


def test_figures_stand_beside_their_levels(tmp_path: Path) -> None:
    (row,) = ending_of(tmp_path, effects={"a2": 0.2}).rows
    assert (row.verdict, row.badge.code) == (
        Verdict.BETTER,
        "findings/answer/endpoints/badges.plain",
    )
    assert row.figures is not None
    assert row.figures.code == f"{RULE}/figures.named"
    named = row.figures.values
    assert (named["factor"], named["baseline"], named["level"]) == ("max_wal_size", "32MB", "4GB")
    figures = named["figures"]
    assert isinstance(figures, Note)
    (verdict,) = context_of(tmp_path / "again", effects={"a2": 0.2}).analysis.answer.verdicts()
    for name, mean in (("baseline", verdict.baseline_mean), ("level", verdict.level_mean)):
        shown = figures.values[name]
        assert isinstance(shown, Note)
        assert shown.values["value"] == mean


def test_an_undecided_run_says_how_many_blocks_may_decide(tmp_path: Path) -> None:
    context = context_of(tmp_path, effects={"a2": 0.02}, noise=0.03)
    (verdict,) = context.analysis.answer.verdicts()
    ending = context.ending
    (row,) = ending.rows
    assert row.sentence.code == "findings/answer/verdicts/undecided.any"
    said = values_in(ending.following)
    assert "findings/answer/undecided/reason.noise" in said
    assert verdict.blocks_to_decide is not None
    way = said["findings/answer/undecided/way.more-blocks"]
    assert way["total"] == 6 + verdict.blocks_to_decide


def test_the_first_caveat_that_could_change_a_verdict_is_what_to_look_at(tmp_path: Path) -> None:
    context = context_of(tmp_path, effects={"a2": 0.2})
    first, second = (Note.of("findings/caveat", kind=kind) for kind in ("one", "two"))
    doubts = [
        Finding(FindingKind.WARNING, said, said, importance=Importance.VERDICT)
        for said in (first, second)
    ]
    assert replace(context, findings=sure(context)).ending.following == Note(f"{RULE}/next.nothing")
    following = replace(context, findings=(*sure(context), *doubts)).ending.following
    assert following.code == f"{RULE}/next.caveat"
    assert following.values["caveat"] == first
    assert following.values["more"] == Note.of("findings/answer/more-caveats", n=1)


def test_the_table_of_verdicts_has_the_words_of_the_badge(tmp_path: Path) -> None:
    spec = SPEC.replace("min_blocks = 6", "min_blocks = 4")
    context = context_of(tmp_path, spec, effects={"a2": 0.5}, blocks=4)
    (row,) = context.ending.rows
    assert row.badge.code == "findings/answer/endpoints/few.badge"
    cells = [getattr(cell, "text", cell) for cell in verdict_table(context).rows[0].cells]
    assert str(row.badge) in cells


def test_a_run_that_broke_off_goes_on(tmp_path: Path) -> None:
    following = ending_of(tmp_path, effects={"a2": 0.2}, blocks=1).following
    assert following == Note.of(f"{RULE}/next.unfinished", least=6)


def test_of_several_levels_each_has_a_row_up_to_four(tmp_path: Path) -> None:
    levels = ", ".join(f'"{2**n}GB"' for n in range(6))
    spec = SPEC.replace('"4GB"', levels)
    ending = ending_of(tmp_path, spec, effects={"a5": 0.3, "a2": -0.3})
    assert len(ending.rows) == 4
    assert ending.more == Note.of("findings/answer/more-levels", n=2)
    subjects = [row.sentence.values["subject"] for row in ending.rows]
    assert {"max_wal_size = 1GB", "max_wal_size = 8GB"} <= set(subjects)
    assert all(row.figures is None for row in ending.rows)


def test_an_a_a_run_says_whether_the_host_is_fit(tmp_path: Path) -> None:
    ending = ending_of(tmp_path, calibrates=True)
    assert ending.rows[0].verdict is Verdict.CALIBRATION
    assert ending.following.code.startswith("findings/noise/aa_run/fitness.")


def test_one_arm_is_measured(tmp_path: Path) -> None:
    spec = SPEC.replace('[factors.postgres]\nmax_wal_size = ["32MB", "4GB"]\n', "")
    ending = ending_of(tmp_path, spec)
    assert [row.verdict for row in ending.rows] == [None]
    assert ending.following == Note(f"{RULE}/next.single")


def test_it_is_stored_with_its_codes(tmp_path: Path) -> None:
    context = context_of(tmp_path, effects={"a2": 0.2})
    stored = json.loads(render_json(context))["ending"]
    (row,) = stored["rows"]
    assert row["verdict"] == "better"
    assert row["figures"] == str(context.ending.rows[0].figures)
    assert stored["following_coded"]["code"] == context.ending.following.code
