"""The classic view in the report: arms side by side, what was not measured, what does not stand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pgassay.analysis.classic.model import Agreement
from pgassay.analysis.classic.view import classic_view
from pgassay.analysis.measures.courses.even_series import EvenSeries
from pgassay.analysis.measures.model import ArmSignals, TrialSignals
from pgassay.language import in_language
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold, Heading, Paragraph
from pgassay.report.document.table import Row, Table
from pgassay.report.document.text import Text, plain_text, spans_of, texts_of
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.sections.classic import classic
from pgassay.report.sections.classic.cells import agreement
from support.blocks import every, texts
from support.synthetic.environments import environment_of
from support.synthetic.even import even
from support.synthetic.report_contexts import synthetic_context

ENVIRONMENT = {
    "host": {"cpus": 2, "storage": {"data": {"mount": "/srv", "disks": ["sda"]}}, "vm": {}}
}


def drifting(arm: str, number: int) -> EvenSeries:
    """Waits and iowait that only drift together."""
    source = np.random.default_rng(number)
    return even(
        {
            "wait/IO": np.linspace(1, 3, 600) + 0.2 * source.standard_normal(600),
            "cpu_iowait": np.linspace(5, 20, 600) + source.standard_normal(600),
        },
        arm=arm,
        number=number,
    )


def signals(arm: str, **events: float) -> ArmSignals:
    values = {("sessions", "", name.replace("_", ":")): value for name, value in events.items()}
    values |= {("query", "4711", "IO:DataFileRead"): 1.0}
    values |= {("statements", "4711", name): 10.0 for name in ("calls", "rows")}
    return ArmSignals(arm, (TrialSignals(1, 1, arm, 600.0, 6000, values),))


@pytest.fixture
def context(tmp_path: Path) -> ReportContext:
    made = synthetic_context(tmp_path)
    view = classic_view(
        ["a1", "a2"],
        [drifting(arm, number) for number, arm in enumerate(("a1", "a2") * 3, 1)],
        [
            signals("a1", IO_DataFileRead=2.0, LWLock_XidGen=0.1),
            signals("a2", IO_DataFileRead=3.0),
        ],
        environment_of(**ENVIRONMENT),
    )
    return replace(made, analysis=replace(made.analysis, classic=view))


def tables(context: ReportContext) -> list[Table]:
    return every(classic.blocks(context), Table)


def rows_of(found: Iterable[Table], name: str) -> list[Row]:
    """All rows of this name."""
    return [row for one in found for row in one.rows if row[0] == name]


def test_arms_are_side_by_side_and_a_claim_that_does_not_stand_says_so(
    context: ReportContext,
) -> None:
    view = context.analysis.classic
    assert view is not None
    assert (view.intervals, view.interval_s) == (20, 30)
    figures, *_ = tables(context)
    assert [column.title for column in figures.columns][1:] == [*context.labels.values()]
    assert rows_of([figures], "Commits, per second")[0][1].startswith("100")

    claims = next(one for one in classic.blocks(context) if isinstance(one, Fold))
    assert claims.in_text
    pairs = rows_of(every([claims], Table), "IO and wa")
    assert [pair[1] for pair in pairs] == [*context.labels.values()]
    for pair in pairs:
        assert (pair[3], pair.cells[-1].style) == ("very high", "doubtful")
        assert pair[6] == agreement(Agreement.UNCLEAR, "very high").text
    claimed = [row for one in every([claims], Table) for row in one.rows]
    assert "weak or medium" not in {row[3] for row in claimed}, "a row without a claim is noise"
    # Of the claims, those that do not hold and those without data are counted.
    bold = [int(one.text) for one in _first(context) if one.kind == "bold"]
    assert bold[0] >= bold[1] + bold[2] >= 2
    titles = [plain_text(one.text) for one in every(classic.blocks(context), Heading)]
    assert titles == ["sda: data on /srv"]


def _first(context: ReportContext) -> Text:
    return spans_of(every(classic.blocks(context), Paragraph)[0].text)


def test_text_has_what_is_claimed_and_html_has_every_pair_folded(context: ReportContext) -> None:
    folds = every(classic.blocks(context), Fold)
    assert not [fold.summary for fold in folds if fold.is_open]
    in_text = [fold for fold in folds if fold.in_text]
    assert len(in_text) == 4, "claims, weights, infrastructure, disks"
    found = tables(context)
    claimed, *others = [one for one in found if one.columns[0].name == "pair"]
    assert {*claimed.column("pair")} <= {name for one in others for name in one.column("pair")}
    assert [row[2] for row in rows_of(found, "IO")].count("4711"), "a query is known by its id"
    (only,) = rows_of([one for one in found if one.columns[1].title == "Only in"], "LWLock:XidGen")
    assert only[4] == "may be chance"
    page, text = render_html(context), render_markdown(context)
    own = page.partition('<div id="classic">')[2].partition("</section>")[0]
    assert own.count("<details>") == len(folds)
    assert "| IO and wa |" in text


def test_what_was_not_measured_is_said_to_be(tmp_path: Path) -> None:
    made = synthetic_context(tmp_path)
    unread = ["cpu", "mem", "swap", "procs", "pg", "ps", "ctxt", "intr", "sda", "written"]
    series = [even(arm=arm, without=unread) for arm in ("a1", "a2")]
    view = classic_view(["a1", "a2"], series, [], environment_of())
    shown = replace(made, analysis=replace(made.analysis, classic=view))
    found = tables(shown)
    for name in ("wa > 10 %", "r > cores", "Type of the load, by shared buffers"):
        (row,) = rows_of(found, name)
        assert (row[1], row[2]) == ("not measured", "not measured")
    assert rows_of(found, "speed and blocks written")
    claims = next(one for one in classic.blocks(shown) if isinstance(one, Fold))
    assert not rows_of(every([claims], Table), "speed and blocks written")


def test_too_few_intervals_are_one_sentence_in_place_of_trends_and_correlations(
    tmp_path: Path,
) -> None:
    made = synthetic_context(tmp_path)
    series = [even(arm=arm, seconds=4) for arm in ("a1", "a2")]
    view = classic_view(["a1", "a2"], series, [], environment_of())
    shown = replace(made, analysis=replace(made.analysis, classic=view))
    assert view is not None
    assert view.intervals == 4
    words = texts_of("pgassay.report.sections.classic.view")
    said = words("too_short", least=5, unit="trials", intervals=4)
    assert said in texts(classic.blocks(shown))
    titles = {column.title for one in tables(shown) for column in one.columns}
    assert not titles & {"Do they agree?", "95\u00a0% interval"}


def test_a_cell_has_the_same_colour_in_every_language(context: ReportContext) -> None:
    with in_language("ru"):
        page = render_html(context)
    assert re.search(r'class="(?:\w+ )?doubtful"', page)


def test_there_is_no_section_without_a_view(tmp_path: Path) -> None:
    made = synthetic_context(tmp_path)
    assert classic.blocks(made)
    assert not classic.blocks(replace(made, analysis=replace(made.analysis, classic=None)))
