"""The report in a real browser: charts are drawn, it can be read, and only its own scripts run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from browser.chromium import Browser, running_chromium
from browser.reports import HOSTILE_IMAGE, HOSTILE_SPEC, NO_FACTORS, STEPS, synthetic_context
from pgassay.findings.model import FindingKind
from pgassay.report.context import ReportContext
from pgassay.report.html import render_html

CHARTS = ["effect", "throughput", "quantiles", "waits", "order"]
OF_STEPS = ["effect", "throughput", "by_load", "load_curve", "quantiles", "waits", "order"]
PHONE_PX = 380


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_chromium() as found:
        yield found


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    return synthetic_context(tmp_path_factory.mktemp("better"), effects={"a2": 0.12})


@pytest.fixture(scope="module")
def report(context: ReportContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _written(context, tmp_path_factory.mktemp("report"))


def _written(context: ReportContext, folder: Path) -> Path:
    page = folder / "report.html"
    page.write_text(render_html(context), encoding="utf-8")
    return page


def _marks(dom: str, chart: str) -> int:
    """How many lines, points and bars a chart has drawn."""
    after = dom.split(f'data-chart="{chart}"', 1)[1]
    drawing = after.split('<script type="application/json"', 1)[0]
    assert 'class="main-svg"' in drawing
    return len(re.findall(r'class="(?:js-line|point)\b', drawing))


def _text(dom: str) -> str:
    visible = re.sub(r"<(script|style)\b.*?</\1>", "", dom, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", "", visible)).split())


def test_console_messages_and_exceptions_reach_the_tests(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<script>console.error('noted'); nowhere()</script><p>page</p>")
    with browser.open(page) as tab:
        assert any("noted" in line for line in tab.console)
        assert any("nowhere" in line for line in tab.console)


@pytest.mark.parametrize("dark", [False, True])
def test_charts_verdict_and_colours_are_shown(
    browser: Browser, report: Path, context: ReportContext, dark: bool
) -> None:
    with browser.open(report, dark=dark) as tab:
        dom, picture = tab.dom(), tab.picture()
        assert tab.console == []
    # Six blocks, mean and interval; a line per trial and arm; a band; classes by arms; trials.
    least = {"effect": 8, "throughput": 12 + 2, "quantiles": 2, "waits": 3 * 2, "order": 12}
    assert {chart: _marks(dom, chart) >= least[chart] for chart in CHARTS} == dict.fromkeys(
        CHARTS, True
    )
    verdict = context.of_kind(FindingKind.VERDICT)[0].text
    assert " ".join(verdict.split()) in _text(dom)
    assert (picture.width, picture.height) == (1000, 1200)
    assert picture.drawn_share > 0.02
    brightness = sum(picture.corner) / 3
    assert brightness < 60 if dark else brightness > 200


@pytest.mark.parametrize(
    ("spec_text", "charts"), [(STEPS, OF_STEPS), (NO_FACTORS, ["throughput", "waits", "order"])]
)
def test_runs_with_steps_and_with_one_arm_are_drawn(
    browser: Browser, tmp_path: Path, spec_text: str, charts: list[str]
) -> None:
    with browser.open(_written(synthetic_context(tmp_path, spec_text), tmp_path)) as tab:
        dom = tab.dom()
        assert tab.console == []
    assert re.findall(r'data-chart="(\w+)"', dom) == charts
    assert all(_marks(dom, chart) for chart in charts)


def test_names_that_are_scripts_do_not_run(browser: Browser, tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, HOSTILE_SPEC, effects={"a2": 0.1})
    series = tuple(
        replace(trial, events={HOSTILE_IMAGE: 1.0}, checkpoints_s=((0.5, None, HOSTILE_IMAGE),))
        for trial in context.series
    )
    page = _written(replace(context, series=series, run_name=HOSTILE_IMAGE), tmp_path)
    # Escaping must suffice by itself, so the page's policy, the second fence, is taken away.
    html = page.read_text("utf-8")
    open_html = re.sub(r"<meta http-equiv[^>]*>", "", html)
    assert open_html != html
    page.write_text(open_html, encoding="utf-8")
    with browser.open(page) as tab:
        dom = tab.dom()
        assert tab.console == []
    assert "data-ran" not in dom
    assert "<img" not in dom
    assert 'data-charts="drawn"' in dom
    assert HOSTILE_IMAGE in _text(dom)


def test_the_policy_stops_a_script_that_was_not_escaped(
    browser: Browser, report: Path, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    html = report.read_text("utf-8").replace("<h1>", f"<h1>{HOSTILE_IMAGE}", 1)
    page.write_text(html, encoding="utf-8")
    with browser.open(page) as tab:
        assert "data-ran" not in tab.dom()
        assert any("Content Security Policy" in line for line in tab.console)


def test_nothing_overflows_on_a_phone(browser: Browser, report: Path) -> None:
    with browser.open(report, PHONE_PX, 900) as tab:
        drawn = tab.evaluate("document.querySelectorAll('[data-drawn]').length")
        width = tab.evaluate("document.documentElement.scrollWidth")
    assert drawn == len(CHARTS)
    assert width <= PHONE_PX
