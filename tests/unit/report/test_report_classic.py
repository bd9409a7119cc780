"""The classic view in the report: arms side by side, what was not measured, what does not stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pgassay.analysis.classic.view import classic_view
from pgassay.analysis.measures.courses.even_series import EvenSeries
from pgassay.analysis.measures.signals import ArmSignals, TrialSignals
from pgassay.report.context import ReportContext
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
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


def section_of(text: str) -> str:
    return text.partition("## Classic view")[2].partition("\n## ")[0]


def test_arms_are_side_by_side_and_a_claim_that_does_not_stand_says_so(
    context: ReportContext,
) -> None:
    text = section_of(render_markdown(context))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert "from 20 intervals of 30 s of each trial" in text
    assert "max_wal_size = 32MB" in rows[0]
    assert "max_wal_size = 4GB" in rows[0]
    assert "others: no claim, or not measured" in text
    assert not [row for row in rows if "weak or medium" in row], "a row without a claim is noise"
    pairs = [row for row in rows if row.startswith("| IO and wa |")]
    assert len(pairs) == 2
    for row in pairs:
        assert "very high" in row
        assert "classic says very high; unclear when tested" in row
    assert "not confirmed by the tested counterpart: **" in text
    assert any(row.startswith("| Commits, per second | 100") for row in rows)
    assert "sda: data on /srv" in text


def test_html_has_the_same_and_closed_details(context: ReportContext) -> None:
    page = render_html(context)
    own = page.partition('<section id="classic">')[2].partition("</section>")[0]
    assert own.count("<details>") == 8
    assert "classic says very high; unclear when tested" in own
    assert "ALARM" in own or "OK" in own
    assert ">4711</td>" in own, "a query is known by its id"
    assert ">LWLock:XidGen</th>" in own
    assert "may be chance" in own


def test_what_was_not_measured_is_said_to_be(tmp_path: Path) -> None:
    made = synthetic_context(tmp_path)
    unread = ["cpu", "mem", "swap", "procs", "pg", "ps", "ctxt", "intr", "sda", "written"]
    series = [even(arm=arm, without=unread) for arm in ("a1", "a2")]
    view = classic_view(["a1", "a2"], series, [], environment_of())
    analysis = replace(made.analysis, classic=view)
    shown = replace(made, analysis=analysis)
    text = section_of(render_markdown(shown))
    assert "| speed and blocks written" not in text
    page = render_html(shown).partition('<section id="classic">')[2].partition("</section>")[0]
    assert "speed and blocks written" in page
    for row in (
        "| wa &gt; 10 % | not measured | not measured |",
        "| Run queue (r), tasks | not measured | not measured |",
        "| Type of the load, by shared buffers | not measured | not measured |",
    ):
        assert row in text


def test_too_few_intervals_are_one_sentence_in_place_of_trends_and_correlations(
    tmp_path: Path,
) -> None:
    made = synthetic_context(tmp_path)
    view = classic_view(
        ["a1", "a2"], [even(arm=arm, seconds=4) for arm in ("a1", "a2")], [], environment_of()
    )
    shown = replace(made, analysis=replace(made.analysis, classic=view))
    page = render_html(shown).partition('<section id="classic">')[2].partition("</section>")[0]
    for text in (section_of(render_markdown(shown)), page):
        assert "are computed from 5 intervals on; these trials have 4." in text
        assert "Do they agree?" not in text
        assert "95\u00a0% interval" not in text


def test_there_is_no_section_without_a_view(tmp_path: Path) -> None:
    made = synthetic_context(tmp_path)
    assert "## Classic view" in render_markdown(made)
    shown = replace(made, analysis=replace(made.analysis, classic=None))
    assert "Classic view" not in render_markdown(shown)
