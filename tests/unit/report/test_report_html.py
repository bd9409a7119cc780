"""The HTML report says what the analysis says, whatever is missing or hostile."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.measures.courses.chart_series import Event, Span
from pgassay.analysis.model import Analysis, Caveat
from pgassay.findings.model import FindingKind
from pgassay.findings.registry import find
from pgassay.notes import legacy
from pgassay.report.charts.effects.effect import effect_chart, runs_out
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Group, Heading, Paragraph
from pgassay.report.document.text import plain_text, spans_of
from pgassay.report.environment import environment_lists
from pgassay.report.formats.html import render_html
from pgassay.report.sections.answer import diagnosis, why
from pgassay.report.sections.behaviour.waits import waits
from pgassay.report.sections.record import method
from pgassay.report.summaries.headline import answers
from pgassay.report.svg.model import Points
from pgassay.report.tables.chart_data import chart_data
from pgassay.samples.forms.environment import EnvironmentFile
from support.blocks import every, texts
from support.synthetic.analyses import changed
from support.synthetic.directories import SPEC
from support.synthetic.report_contexts import (
    HOSTILE_SPEC,
    LATENCY,
    NO_FACTORS,
    SEQUENTIAL,
    STEPS,
    THREE_LEVELS,
    TWO_FACTORS,
    synthetic_context,
    with_facts,
)

EMPTY_WORDS = re.compile(r"\b(None|nan|NaN|inf|Infinity|undefined)\b")


class Page(HTMLParser):
    """The elements and the visible text of a page, and the names of its charts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.charts: list[str] = []
        self._within = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._within = tag
        self.charts += [value or "" for name, value in attrs if name == "data-chart"]

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within not in ("script", "style"):
            self.text += data

    @property
    def words(self) -> str:
        """The text with every run of white space as one space."""
        return " ".join(self.text.split())


def rendered(context: ReportContext) -> Page:
    """The page of a run."""
    return Page(render_html(context))


@pytest.fixture(scope="module")
def better(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    return synthetic_context(tmp_path_factory.mktemp("better"), effects={"a2": 0.12})


def test_the_page_has_the_verdict_and_a_chart_for_each_kind_of_data(better: ReportContext) -> None:
    page = rendered(better)
    verdict = better.of_kind(FindingKind.VERDICT)[0]
    assert verdict.text in page.words
    assert better.question in page.words
    assert page.charts == [
        *("effect", "order", "throughput", "latency_curve", "quantiles"),
        *("waits", "sessions", "host", "speed_over_time"),
    ]
    assert page.tags.count("svg") == 2 * len(page.charts)


def test_nothing_is_loaded_from_outside(better: ReportContext) -> None:
    page = rendered(better)
    loading = [
        (name, value)
        for name, value in page.attributes
        if name in ("src", "href")
        and not (value or "").startswith(("#", "data:text/csv;", "data:image/svg+xml,"))
    ]
    assert loading == []
    assert [value for name, value in page.attributes if name == "rel"] == ["icon"]
    assert page.tags.count("link") == 1
    assert ("http-equiv", "Content-Security-Policy") in page.attributes


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, HOSTILE_SPEC, effects={"a2": 0.1})
    hostile = "<img src=x onerror=alert(1)></script>"
    series = tuple(
        replace(
            trial,
            events={hostile: 1.0},
            checkpoints=(Span(0.5, None, hostile),),
            vacuums=(Span(1.0, 2.0, hostile),),
            happened=(Event(1.5, f"error {hostile}", 1),),
        )
        for trial in context.series
    )
    page = rendered(
        with_facts(
            context,
            series=series,
            run_name=hostile,
            command=hostile,
            environment={"server": {"version": hostile, "settings": {hostile: hostile}}},
        )
    )
    assert page.tags.count("script") == 1
    assert not {"img", "iframe"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert hostile in page.text


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "no effect": (SPEC, {}),
    "sequential": (SEQUENTIAL, {"noise": 0.004}),
    "one block": (SPEC, {"blocks": 1}),
    "three levels": (THREE_LEVELS, {"effects": {"a2": 0.06, "a3": -0.05}}),
    "steps": (STEPS, {"effects": {"a2": 0.03}}),
    "two factors": (TWO_FACTORS, {"blocks": 3}),
    "single arm": (NO_FACTORS, {}),
    "latency": (LATENCY, {"effects": {"a2": 0.12}}),
}


@pytest.mark.parametrize("name", CASES)
def test_no_kind_of_run_shows_an_empty_value(name: str, tmp_path: Path) -> None:
    spec_text, truth = CASES[name]
    context = synthetic_context(tmp_path, spec_text, **truth)
    page = rendered(context)
    assert not EMPTY_WORDS.findall(page.text)
    for verdict in context.of_kind(FindingKind.VERDICT):
        if verdict.comparison is None or verdict.comparison.step is None:
            text = " ".join(verdict.text.removeprefix("Undecided: ").split())
            assert text in page.words


def _only_throughput(analysis: Analysis) -> Analysis:
    trials = tuple(
        replace(
            trial, whole=replace(trial.whole, values={"tps": trial.whole.values["tps"]}), steps=()
        )
        for trial in analysis.answer.trials
    )
    arms = tuple(replace(arm, means={"tps": arm.means["tps"]}) for arm in analysis.answer.arms)
    comparisons = analysis.answer.verdicts()
    return changed(analysis, trials=trials, arms=arms, comparisons=comparisons)


def _unmeasured(analysis: Analysis) -> Analysis:
    trials = tuple(
        replace(trial, whole=replace(trial.whole, values={}), steps=())
        for trial in analysis.answer.trials
    )
    arms = tuple(replace(arm, means={}) for arm in analysis.answer.arms)
    return changed(analysis, trials=trials, arms=arms, comparisons=())


@pytest.mark.parametrize("reduce", [_only_throughput, _unmeasured])
def test_missing_metrics_are_dashes(
    reduce: Callable[[Analysis], Analysis], better: ReportContext
) -> None:
    analysis = reduce(better.analysis)
    context = with_facts(
        better,
        analysis=analysis,
        findings=find(analysis, better.facts),
        series=(),
        environment={},
    )
    page = rendered(context)
    assert not EMPTY_WORDS.findall(page.text)
    (nothing,) = every(waits.blocks(context), Paragraph)
    assert plain_text(nothing.text) in page.words


def test_a_run_without_a_trial_says_so(better: ReportContext) -> None:
    analysis = Analysis(answer_of(better.question, better.plan, []))
    empty = replace(better, analysis=analysis, findings=find(analysis, better.facts), series=())
    page = rendered(empty)
    (answer,) = answers(empty)
    assert answer.tone == "same"
    assert plain_text(spans_of(answer.text)) in page.words


def test_a_partly_known_environment_is_shown_as_far_as_known(better: ReportContext) -> None:
    environment = {
        "server": {"version": None, "settings": {"fsync": ""}},
        "host": {"cpus": None, "memory_bytes": 8 * 2**30, "vm": {"vm.swappiness": "10"}},
        "new": [1, None, {"a": True}],
        "not_seen": [{"name": None}],
        "sizes": {
            "payments": {"largest": [{"schema": "public", "name": "account", "size_bytes": 2**30}]},
            "shop": {"reason": "permission denied"},
            "odd": {},
        },
    }
    page = rendered(with_facts(better, environment=environment))
    assert not EMPTY_WORDS.findall(page.text)
    for words in (
        "not known",
        "8.0 GB",
        "(empty)",
        "vm.swappiness",
        "a = yes",
        "public.account",
        "permission denied",
    ):
        assert words in page.text


def test_roles_on_one_file_system_are_one_place() -> None:
    def place(path: str, mount: str) -> dict[str, str]:
        return {"path": path, "mount": mount}

    storage = {"data": place("/d", "/"), "wal": place("/d/wal", "/"), "log": place("/l", "/l")}
    environment = EnvironmentFile.model_validate({"host": {"storage": storage}})
    (host,) = environment_lists(environment)
    assert [value for _, value in host.rows] == ["/d", "/", "/l", "/l"]


def test_caveats_are_grouped_by_what_they_could_change_and_listed_once(
    better: ReportContext,
) -> None:
    texts = [f"trial {number}: too hot" for number in range(1, 9)]
    warnings = tuple(Caveat.of("heat-alarm", legacy(text)) for text in (*texts, *texts))
    analysis = changed(better.analysis, warnings=warnings)
    doubtful = replace(better, analysis=analysis, findings=find(analysis, better.facts))
    page = rendered(doubtful)
    (group,) = every(method.caveats.blocks(doubtful), Group)
    assert group.style == "caveat size"
    (title,) = every([group], Heading)
    assert page.words.count(plain_text(title.text)) == 1
    assert page.words.count("too hot") == 8
    assert "8 caveats" in page.words


def test_a_question_left_out_is_replaced_by_the_name_of_the_run(better: ReportContext) -> None:
    assert f"<h1>{better.run_name}</h1>" in render_html(replace(better, question=" "))


def test_a_very_wide_interval_does_not_flatten_the_dots(better: ReportContext) -> None:
    wide = tuple(replace(c, ci95_pct=(-900.0, 950.0)) for c in better.analysis.answer.comparisons)
    analysis = changed(better.analysis, comparisons=wide)
    chart = effect_chart(analysis)
    assert chart is not None
    axis = chart.panels[0].x
    assert axis.low is not None
    assert axis.high is not None
    assert axis.high - axis.low < 200.0
    assert runs_out(analysis)
    assert not runs_out(better.analysis)


def test_a_block_that_was_measured_otherwise_has_a_hollow_dot_there(better: ReportContext) -> None:
    (one, *_) = better.analysis.answer.verdicts()
    raws = (one.block_effects_pct[0] + 40.0, *one.block_effects_pct[1:])
    chart = effect_chart(changed(better.analysis, comparisons=(replace(one, block_raw_pct=raws),)))
    assert chart is not None
    (panel,) = chart.panels
    hollow = [mark for mark in panel.marks if isinstance(mark, Points) and mark.hollow]
    assert [list(mark.x) for mark in hollow] == [[raws[0]]]
    assert panel.x.high is not None
    assert panel.x.high > raws[0]


def test_the_numbers_of_the_effect_name_the_level_of_each_mark(better: ReportContext) -> None:
    (one, *_) = better.analysis.answer.verdicts()
    others = tuple(replace(one, level=level) for level in ("1GB", "2GB"))
    chart = effect_chart(changed(better.analysis, comparisons=others))
    assert chart is not None
    numbers = chart_data(chart, "effect")
    assert numbers is not None
    assert set(numbers.table.column("mark")) == {
        "max_wal_size = 1GB",
        "max_wal_size = 2GB",
    }


def test_the_page_of_long_runs_is_no_larger_than_what_can_be_seen(better: ReportContext) -> None:
    long = tuple(
        replace(
            trial,
            offset_s=tuple(float(second) for second in range(20_000)),
            tps=tuple(7000.0 + second % 61 for second in range(20_000)),
        )
        for trial in better.series
    )
    assert len(render_html(replace(better, series=long))) < 1_000_000


def test_a_run_whose_arms_alternate_says_that_no_rule_was_looked_for(
    better: ReportContext,
) -> None:
    answer = replace(better.analysis.answer, accounting=())
    alternating = replace(
        better,
        plan=replace(better.plan, mode="switchback"),
        analysis=replace(better.analysis, answer=answer),
        findings=(),
    )
    not_looked_for = why.sentence("costs_and_waits_are")
    assert not_looked_for in texts(why.why.blocks(alternating))
    assert not_looked_for not in texts(why.why.blocks(better))
    assert not diagnosis.diagnosis.blocks(alternating)


def test_every_word_of_the_box_is_in_small_letters_and_stands_once_in_its_line() -> None:
    known = tomllib.loads(
        (files("pgassay.report") / "templates" / "same_words.toml").read_text("utf-8")
    )
    for group in [known["ignored"], *known["same"]]:
        assert [word.strip().lower() for word in group] == list(dict.fromkeys(group))
        assert len(group) > 1
