"""What stands open in a report, and the line that each folded section has: a code with counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgassay.analysis.compare.model import Comparison, Verdict
from pgassay.notes import Note
from pgassay.report.context import ReportContext
from pgassay.report.document.section import Summary, differing
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.page import page_of
from support.synthetic.analyses import changed
from support.synthetic.report_contexts import synthetic_context

OPEN = ("effect", "why", "caveats", "repeat")
FIGURES, DIFFER = "report/sections/figures", "report/sections/differ"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    return synthetic_context(tmp_path_factory.mktemp("better"), effects={"a2": 0.12})


def summaries(context: ReportContext) -> dict[str, Summary | None]:
    return {one.section.anchor: one.summary for one in page_of(context).sections}


def test_only_the_answer_its_caveats_and_how_to_repeat_it_stand_open(
    context: ReportContext,
) -> None:
    opened = [name for name, summary in summaries(context).items() if summary is None]
    assert [name for name in opened if name != "diagnosis"] == [
        name for name in OPEN if name in opened
    ]
    assert {"effect", "why", "repeat"} <= {*opened}


def test_trials_that_do_not_count_are_unusual(context: ReportContext) -> None:
    (first, *others) = context.analysis.answer.trials
    number = len(others) + 1
    every = summaries(context)["trials"]
    assert every == Summary(Note("report/sections/valid", {"n": number, "valid": number}))
    invalid = replace(first, invalid=(Note("report/sections/none-differs"),))
    analysis = changed(context.analysis, trials=tuple(others), invalid_trials=(invalid,))
    some = summaries(replace(context, analysis=analysis))["trials"]
    expected = Note("report/sections/valid", {"n": number, "valid": number - 1})
    assert some == Summary(expected, is_unusual=True)


def test_metrics_that_differ_clearly_are_counted(context: ReportContext) -> None:
    compared = context.analysis.answer.comparisons
    metrics = {one.metric for one in compared}

    def line(comparisons: tuple[Comparison, ...]) -> Summary | None:
        analysis = changed(context.analysis, comparisons=comparisons)
        return summaries(replace(context, analysis=analysis))["measured"]

    (verdict, *others) = compared
    assert verdict.metric == context.analysis.answer.metric
    unclear = tuple(replace(one, clear=False, verdict=Verdict.UNDECIDED) for one in others)
    one = line((verdict, *unclear))
    assert one == differing(FIGURES, len(metrics), 1)
    assert one is not None
    assert one.is_unusual
    assert one.note.values["how"] == Note(DIFFER, {"n": 1})


def test_figures_that_nothing_compares_are_only_counted() -> None:
    assert differing(FIGURES, 3, None) == Summary(Note(FIGURES, {"n": 3}))
    none = differing(FIGURES, 3, 0)
    assert not none.is_unusual
    assert none.note.values["how"] == Note("report/sections/none-differs")


def test_markdown_begins_a_section_with_its_line(context: ReportContext) -> None:
    text = render_markdown(context)
    for one in page_of(context).sections:
        if one.summary and (heading := f"## {one.section.title}\n\n") in text:
            assert text.partition(heading)[2].startswith(str(one.summary.note))
