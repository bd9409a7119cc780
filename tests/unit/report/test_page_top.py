"""The top of the page says what was run; the record holds scripts, settings and raw trials."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from pgassay.analysis.measures.asked import ArmAsked
from pgassay.analysis.measures.model import ScenarioMeasures
from pgassay.analysis.reading.setting_sizes import setting_bytes, setting_text
from pgassay.findings.model import FindingKind
from pgassay.language import LANGUAGES, in_language
from pgassay.report.context import ReportContext
from pgassay.report.document.text import plain_text, spans_of
from pgassay.report.formats.html import render_html
from pgassay.report.sections.record.settings import settings_table
from pgassay.report.sections.record.workload import mix_table
from pgassay.report.summaries.headline import answers, facts
from pgassay.report.workload import workload_words
from support.pages import dangling
from support.synthetic.analyses import changed
from support.synthetic.report_contexts import synthetic_context, with_facts

MB = 1024**2
NAME = "payments-write at scale 10"


def asked(arm: str, buffers: str | None = "512MB", script: str = "SELECT 1;") -> ArmAsked:
    settings = {"max_wal_size": "32MB" if arm == "a1" else "4GB"}
    if buffers:
        settings["shared_buffers"] = buffers
    scripts = {"pay": script, "audit": "SELECT 2;"}
    return ArmAsked(arm, settings, scripts, {"pay": 3.0, "audit": -1.0}, NAME, "Bank", "CREATE;")


def scenario(name: str, transactions: int) -> ScenarioMeasures:
    return ScenarioMeasures(name, transactions, 0, 1.0, {}, "latency", {})


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    made = synthetic_context(tmp_path_factory.mktemp("run"), effects={"a2": 0.12})
    trials = tuple(
        replace(trial, scenarios=(scenario("pay", 90), scenario("audit", 10)))
        for trial in made.analysis.answer.trials
    )
    arms = (asked("a1"), asked("a2"))
    return with_facts(made, analysis=changed(made.analysis, trials=trials), asked=arms)


def with_data(context: ReportContext, size: float, memory: float | None) -> ReportContext:
    environment: Mapping[str, Any] = {
        "sizes": {NAME: {"total_bytes": size}},
        "host": {"memory_bytes": memory},
        "server": {"settings": {"shared_buffers": "16384 × 8kB"}},
    }
    return with_facts(context, environment=environment)


def test_the_facts_begin_with_the_figures_the_load_and_the_data(context: ReportContext) -> None:
    found = dict(facts(with_data(context, 100 * MB, 4096 * MB)))
    assert list(found)[:3] == ["32MB → 4GB", "Load", "Workload"]
    assert re.fullmatch(r"[\d\u202f]+ tps → [\d\u202f]+ tps", found["32MB → 4GB"])
    assert found["Load"] == "8 clients"
    assert found["Workload"].startswith(f"{NAME}, 100.0 MB ")
    assert found["Workload"].endswith(" shared_buffers")


@pytest.mark.parametrize(
    ("buffers", "size", "memory", "end"),
    [
        ("512MB", 600 * MB, 4096 * MB, ", which fit in memory"),
        ("512MB", 9000 * MB, 4096 * MB, ", more than memory"),
        ("512MB", 600 * MB, None, "600.0 MB of data"),
        (None, 100 * MB, 4096 * MB, ", which fit in shared_buffers"),  # of the server: 128 MB
        (None, 200 * MB, 4096 * MB, ", which fit in memory"),
    ],
)
def test_whether_the_data_fit_is_said_where_it_is_known(
    context: ReportContext, buffers: str | None, size: float, memory: float | None, end: str
) -> None:
    arms = (asked("a1", buffers), asked("a2", buffers))
    words = workload_words(with_data(with_facts(context, asked=arms), size, memory))
    assert words.endswith(end)


def test_data_beyond_the_limit_of_the_server_are_more_than_memory(context: ReportContext) -> None:
    arms = (asked("a1", "128MB"),)
    limited = with_data(with_facts(context, asked=arms), 300 * MB, 4096 * MB)
    spec_text = '[placement]\nserver_memory = "256MB"\n'
    assert workload_words(with_facts(limited, spec_text=spec_text)).endswith(", more than memory")


def test_every_interval_of_an_answer_is_set_alike(context: ReportContext) -> None:
    (one,) = answers(context)
    intervals = [span.text for span in spans_of(one.text) if span.kind == "interval"]
    assert len(intervals) == 2
    assert all(re.fullmatch(r"\(95 % CI .*\)", text) for text in intervals)
    # "Lower" says the direction, so the interval needs no sign.
    assert "\u2212" not in str(one.text)


def test_an_answer_and_what_limits_it_are_the_finding(context: ReportContext) -> None:
    (one,) = answers(context)
    (verdict,) = (
        found
        for found in context.of_kind(FindingKind.VERDICT)
        if found.comparison and found.comparison.step is None
    )
    assert plain_text(one.whole) == verdict.text


def test_the_mix_asked_for_stands_beside_the_one_achieved(context: ReportContext) -> None:
    rows = [[cell.text for cell in row.cells] for row in mix_table(context).rows]
    trials = len(context.analysis.answer.trials)
    assert rows == [
        ["pay", "100.0 %", "90.0 %", f"{90 * trials:,}".replace(",", "\u202f")],
        ["audit", "1 connection of its own", "10.0 %", str(10 * trials)],
    ]


def test_arms_of_different_workloads_have_a_mix_each(context: ReportContext) -> None:
    trials = tuple(
        replace(t, scenarios=(scenario("pay", 90 if t.arm == "a1" else 1), scenario("audit", 10)))
        for t in context.analysis.answer.trials
    )
    own = (asked("a1"), replace(asked("a2"), workload="payments-olap at scale 10"))
    analysis = changed(context.analysis, trials=trials)
    rows = [
        [c.text for c in row.cells]
        for row in mix_table(with_facts(context, analysis=analysis, asked=own)).rows
    ]
    assert [row[3] for row in rows] == ["90.0 %", "10.0 %", "9.1 %", "90.9 %"]


def test_with_pools_the_mix_asked_for_is_one_of_connections(context: ReportContext) -> None:
    own = tuple(replace(asked(arm), has_pools=True) for arm in ("a1", "a2"))
    rows = [[c.text for c in row.cells] for row in mix_table(with_facts(context, asked=own)).rows]
    assert [row[2] for row in rows[:2]] == ["100.0 % of the connections", "1 connection of its own"]


def test_scripts_are_on_the_page_without_their_passwords(context: ReportContext) -> None:
    script = "SELECT dblink('host=other password=hunter2');"
    arms = (asked("a1", script=script), asked("a2", script="SELECT <b>;"))
    page = render_html(with_facts(context, asked=arms))
    assert "hunter2" not in page
    assert "<summary>pay (max_wal_size = 32MB)</summary>" in page
    assert "SELECT &lt;b&gt;;" in page


def test_settings_that_matter_are_shown_with_what_set_them(context: ReportContext) -> None:
    every = {
        "checkpoint_timeout": {"value": "300s", "source": "default"},
        "max_wal_size": {"value": "1024MB", "source": "configuration file"},
        "wal_buffers": {"value": "2048 × 8kB", "source": "default"},
    }
    found = settings_table(with_facts(context, environment={"server": {"every_setting": every}}))
    rows = [tuple(cell.text for cell in row.cells) for row in found.rows]
    assert rows[0] == ("max_wal_size", "32MB / 4GB, by arm", "the experiment")
    assert ("checkpoint_timeout", "300s", "default") in rows
    assert ("wal_buffers", "16MB", "default") in rows
    assert not any(name == "io_method" for name, *_ in rows)
    assert not settings_table(with_facts(context, environment={}))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_arms_vary_comes_first_in_every_language_and_secrets_are_not_shown(
    context: ReportContext, language: str
) -> None:
    arms = tuple(
        replace(one, settings={**one.settings, "app.api_key": "hunter2"})
        for one in context.facts.asked
    )
    every = {"checkpoint_timeout": {"value": "300s", "source": "default"}}
    environment = {"server": {"every_setting": every}}
    with in_language(language):
        found = settings_table(with_facts(context, asked=arms, environment=environment))
    rows = {row[0]: row[1] for row in found.rows}
    assert found.rows[0][0] == "max_wal_size"
    assert rows["app.api_key"] == "(set)"


def test_sizes_of_settings_are_read_as_postgresql_writes_them() -> None:
    assert setting_bytes("65536 × 8kB") == 512 * MB
    assert setting_bytes("on") is None
    assert [setting_text(v) for v in ("4096kB", "8 × 8kB", "100", "300s", "0B", "")] == [
        "4MB", "64kB", "100", "300s", "0B", "",
    ]  # fmt: skip


def test_the_raw_trials_are_in_the_page_as_csv(context: ReportContext, tmp_path: Path) -> None:
    page = render_html(context)
    link = re.search(r'<a download="([^"]+)" href="data:text/csv;[^,]*,([^"]+)"', page)
    assert link is not None
    assert link[1] == f"{context.run_name}-trials.csv"
    rows = list(csv.DictReader(unquote(link[2]).splitlines()))
    assert {row["trial"] for row in rows} == {str(t.number) for t in context.analysis.answer.trials}


def test_contents_lead_to_every_section_by_part(context: ReportContext) -> None:
    page = render_html(context)
    nav = page.split("<nav", 1)[1].split("</nav>", 1)[0]
    targets = re.findall(r'href="#([^"]+)"', nav)
    assert targets == re.findall(r'<(?:section|div) id="([^"]+)"', page)
    assert re.findall(r"<p>(.*?)</p>", nav)[:2] == ["The answer", "Why"]


def test_no_link_leads_to_a_section_that_is_absent(context: ReportContext) -> None:
    whole, bare = (render_html(one) for one in (context, with_facts(context, asked=())))
    assert 'href="#workload"' in whole
    assert 'href="#workload"' not in bare
    for page in (whole, bare):
        assert dangling(page) == set()
