"""The report on several factors and on ordered levels."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgassay.findings.model import FindingKind
from pgassay.plan.description import combinations_line
from pgassay.report.charts.effects.interactions import interaction_chart, pairs_left_out
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold, Heading
from pgassay.report.document.table import Table
from pgassay.report.document.text import plain_text
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.sections.answer.effect import effect
from pgassay.report.sections.answer.factors import interactions, trends
from pgassay.report.sections.record import measured, method
from pgassay.report.summaries.headline import facts
from pgassay.report.svg.draw import WIDE_PX, draw
from pgassay.report.svg.model import Line
from support.blocks import every, texts
from support.synthetic.report_contexts import (
    HOSTILE,
    HOSTILE_IMAGE,
    THREE_LEVELS,
    TWO_FACTORS,
    synthetic_context,
)

pytestmark = pytest.mark.slow

DEPENDING = {"a2": 0.0, "a3": 0.12, "a4": 0.02}
FRACTION = TWO_FACTORS.replace(
    "[settings.postgres]",
    'fsync = ["on", "off"]\njit = ["on", "off"]\n[settings.postgres]',
).replace("seed = 7", 'seed = 7\ncombinations = "fraction"\nplots = "split"')
HOSTILE_FACTORS = f"""
[factors.postgres]
search_path = ["{HOSTILE}", "{HOSTILE_IMAGE}", "<b>x</b>"]
DateStyle = ["{HOSTILE}", "{HOSTILE_IMAGE}"]
[load]
step = "3s"
warmup = "1s"
[design]
min_blocks = 3
max_blocks = 3
seed = 7
"""


@pytest.fixture(scope="module")
def depending(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    return synthetic_context(tmp_path_factory.mktemp("two"), TWO_FACTORS, effects=DEPENDING)


def text_of(html: str) -> str:
    visible = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", visible).split())


def test_an_interaction_stands_at_the_top_and_in_a_section(
    depending: ReportContext,
) -> None:
    page = text_of(render_html(depending))
    head, _, rest = page.partition(effect.title)
    (found,) = depending.of_kind(FindingKind.INTERACTION)
    sentence = found.text.partition("%")[0]
    assert sentence in head
    assert "max_wal_size = 4GB" in sentence
    assert "checkpoint_completion_target: +11.7" in sentence
    assert interactions.title in rest
    assert "with checkpoint_completion_target" in rest
    assert "Arms: all 4 combinations" in rest
    (folded, *_) = every(measured.everything.blocks(depending), Fold)
    assert plain_text(folded.summary) in rest
    (effects,) = every([folded], Table)
    assert len(effects) == 3
    markdown = render_markdown(depending)
    assert f"**DEPENDS** {found.text.partition('=')[0]}" in markdown
    assert "| max_wal_size = 4GB | with checkpoint_completion_target | 0.5: +11.7 %" in markdown


def test_the_chart_shows_each_effect_at_each_level_of_the_other(depending: ReportContext) -> None:
    chart = interaction_chart(depending.analysis)
    assert chart is not None
    (panel,) = chart.panels
    (line,) = (mark for mark in panel.marks if isinstance(mark, Line))
    assert list(line.y) == pytest.approx([12.7, 2.0], abs=2.5)
    assert [level for _, level in panel.x.ticks or ()] == ["0.5", "0.9"]
    assert "max_wal_size = 4GB" in panel.title
    assert pairs_left_out(depending.analysis) == 0


def test_the_facts_have_the_figures_of_each_verdict(depending: ReportContext) -> None:
    verdicts = [one for one in depending.analysis.answer.verdicts() if one.step is None]
    named = [f"{one.factor}: {one.baseline} → {one.level}" for one in verdicts]
    found = facts(depending)[: len(verdicts)]
    assert [name for name, _ in found] == named
    assert all(value.count(" tps") == 2 for _, value in found)
    shared = f", shared by up to {len(verdicts)} verdicts (Holm)"
    assert dict(facts(depending))["Interval"].endswith(shared)


def test_a_single_factor_has_a_trend_and_no_interactions(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, THREE_LEVELS, effects={"a2": 0.05, "a3": 0.08})
    assert not interactions.blocks(context)
    (trend,) = (one.text for one in context.of_kind(FindingKind.TREND))
    assert trend in texts(trends.blocks(context))
    shared = method.sentence("there_are_verdicts_each", simultaneous=2)
    assert shared in texts(method.method.blocks(context))
    assert interaction_chart(context.analysis) is None


def test_a_fraction_says_what_it_cannot_separate(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, FRACTION)
    page, markdown = text_of(render_html(context)), render_markdown(context)
    (heading,) = every(interactions.blocks(context), Heading)
    assert heading.anchor == "aliases"
    title = plain_text(heading.text)
    for text in (page, markdown):
        assert title in text
        assert "max_wal_size × checkpoint_completion_target = fsync × jit" in text
        assert combinations_line(context.plan) in text
    assert (context.plan.combinations, context.plan.resolution) == ("fraction", 4)
    assert len(context.plan.arms) == 8
    assert len(context.analysis.answer.interactions) == 3


def test_names_never_become_markup_in_tables_charts_or_sentences(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, HOSTILE_FACTORS)
    html = render_html(context)
    assert HOSTILE not in html
    assert HOSTILE_IMAGE not in html
    chart = interaction_chart(context.analysis)
    assert chart is not None
    assert "<img" not in draw(chart, WIDE_PX, "interactions")
    text = re.sub(r"^```toml.*?^```", "", render_markdown(context), flags=re.DOTALL | re.MULTILINE)
    assert HOSTILE_IMAGE not in text


def test_interactions_are_grouped_by_the_other_factor(tmp_path: Path) -> None:
    page = text_of(render_html(synthetic_context(tmp_path, FRACTION)))
    table = page.partition("How the factors work together")[2].partition("Effects multiply")[0]
    names = ("checkpoint_completion_target", "fsync", "jit")
    assert [table.count(f"with {name} ") for name in names] == [1, 1, 1]
