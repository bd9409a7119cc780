"""Statements and plans in reports: both plans side by side, and hostile texts only as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgassay.analysis.compare.model import Verdict
from pgassay.analysis.measures.model import TrialSignals
from pgassay.analysis.measures.signals import buffer_caches, by_arm
from pgassay.analysis.measures.statements import TrialStatements
from pgassay.analysis.queries.model import QueryEffect, QuerySet
from pgassay.analysis.statements.use import plans_by_arm, statement_use
from pgassay.findings.registry import find
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold, Paragraph
from pgassay.report.document.table import Table
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.sections.behaviour.statements import statements
from support.blocks import every
from support.synthetic.analyses import changed
from support.synthetic.plans import scan, seen, seen_in
from support.synthetic.report_contexts import synthetic_context

HOSTILE = "SELECT '</script><script>alert(1)</script>' AS \"a|b`\", '\u202egnp' -- <img src=x>"
TABLE = 'it"em</pre><script>x</script>\u202e'


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    plain = synthetic_context(tmp_path_factory.mktemp("statements"))
    trials = [
        TrialStatements(
            block, arm, 1000, {"1": {"calls": 10.0, "exec_time_ms": 5.0 + block + len(arm)}}
        )
        for block in (1, 2, 3)
        for arm in ("a1", "a2")
    ]
    values = {"buffers_used": 75.0, "buffers_unused": 25.0, "buffers_dirty": 15.0}
    signals = [
        TrialSignals(1, 1, "a1", 1.0, 1, {("buffercache", "", k): v for k, v in values.items()})
    ]
    plans = [
        *seen_in({"a1": [scan(TABLE)] * 2, "a2": [scan(TABLE, "by_code")] * 2}),
        *(seen(arm, 1, scan("other"), sql="SELECT other") for arm in ("a1", "a2")),
        *(seen(arm, 1, None, sql="BEGIN;", reason="no plan is made") for arm in ("a1", "a2")),
    ]
    analysis = changed(
        plain.analysis,
        statement_use=statement_use(plain.plan, trials, [], {"1": HOSTILE}),
        plans=plans_by_arm(plain.plan.arms, plans),
        buffer_cache=buffer_caches(by_arm(["a1", "a2"], signals)),
    )
    return replace(plain, analysis=analysis, findings=find(analysis, plain.facts))


def test_plans_that_differ_stand_side_by_side_and_the_others_are_folded(
    context: ReportContext,
) -> None:
    page = render_html(context)
    plans = page[page.index('<div id="plans">') :]
    plans = plans[: plans.index("</section>")]
    assert plans.count("<details open>") == 1
    assert plans.index("Seq Scan on it") < plans.index("Index Scan using by_code on it")
    assert "<b>max_wal_size = 32MB</b>" in plans
    assert "1 statement with one plan" in plans
    assert "no plan is made (<code>BEGIN;</code>)" in plans
    text = render_markdown(context)
    assert "\n- uses index by_code for it" in text
    assert "**max_wal_size = 32MB**\n\n```text\n▶ Seq Scan on it" in text


def test_hostile_texts_and_names_stay_text(context: ReportContext) -> None:
    page, text = render_html(context), render_markdown(context)
    for form in (page, text):
        assert "\u202e" not in form
        assert "\\u202e" in form
    assert "<script>alert" not in page
    assert "</pre><script>x" not in page
    assert "&lt;/script&gt;" in text
    rows = [line for line in text.splitlines() if line.startswith("| 1. SELECT")]
    assert len(rows) == 3  # times, costs of two arms
    assert all(r"a\|b\`" in row for row in rows)


def test_only_clear_differences_of_statements_are_shown_unfolded(context: ReportContext) -> None:
    unfolded = [type(one) for one in statements.blocks(context)]
    assert unfolded[:4] == [Table, Paragraph, Paragraph, Fold]
    (one,) = context.analysis.explanation.statement_use
    (effect,) = one.effects
    clear = replace(one, effects=(replace(effect, clear=True),))
    analysis = changed(context.analysis, statement_use=(clear,))
    differing = statements.blocks(replace(context, analysis=analysis))
    assert [type(one) for one in differing][:5] == [Table, Paragraph, Paragraph, Table, Fold]
    titles = [column.title for column in every(differing[3:4], Table)[0].columns]
    assert titles[:2] == ["Statement", "Level"]


def test_shared_buffers_are_a_row_per_arm_that_was_sampled(context: ReportContext) -> None:
    assert "| max_wal_size = 32MB | 75 (75 %) | 25 | 15 (20 % of the used) |" in render_markdown(
        context
    )


def test_a_run_without_them_has_no_such_sections(context: ReportContext) -> None:
    analysis = changed(context.analysis, statement_use=(), plans=(), buffer_cache=())
    page = render_html(replace(context, analysis=analysis, findings=find(analysis, context.facts)))
    for anchor in ("statements", "plans", "buffer-cache"):
        assert f'id="{anchor}"' not in page


def of_trace(query: str, ms: float, weight: float, verdict: Verdict) -> QueryEffect:
    ends = (100.0 * (ms - 1.01), 100.0 * (ms - 0.99))
    level = ("max_wal_size", "32MB", "4GB")
    change = 100.0 * (ms - 1.0)
    return QueryEffect(query, *level, 6, 1.0, ms, change, ends, ends, verdict, 0.02, weight)


def test_statements_of_a_trace_stand_by_the_time_that_they_gain_or_lose(
    context: ReportContext,
) -> None:
    effects = (
        of_trace("3 UPDATE", 0.8, 10.0, Verdict.BETTER),
        of_trace("1 SELECT", 1.3, 1000.0, Verdict.WORSE),
        *(of_trace(f"{number} SELECT", 1.0, 9.0, Verdict.EQUIVALENT) for number in range(10, 32)),
    )
    found = QuerySet(0.02, 24, True, (), effects)
    analysis = changed(context.analysis, trace_statements=found)
    text = render_markdown(replace(context, analysis=analysis))
    part = text[text.index("Statements of the trace") :]
    rows = [line.split(" | ") for line in part.splitlines() if " | max_wal_size = 4GB | " in line]
    assert rows[0][0] == "| 1 SELECT"
    assert rows[0][-3:-1] == ["+300 ms", "worse"]
    assert rows[1][0] == "| 3 UPDATE"
    assert "24 statements, 2 differ" in part
