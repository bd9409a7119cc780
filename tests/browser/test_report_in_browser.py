"""The report in a real browser: it draws, it reads, and nothing in it runs but its own scripts."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from browser.chromium import Browser, find_chromium
from browser.reports import HOSTILE_IMAGE, HOSTILE_SPEC, NO_FACTORS, STEPS, synthetic_context
from pgassay.findings.model import FindingKind
from pgassay.report.context import ReportContext
from pgassay.report.html import render_html

CHARTS = ["effect", "throughput", "quantiles", "waits", "order"]
OF_STEPS = ["effect", "throughput", "by_load", "load_curve", "quantiles", "waits", "order"]
PHONE_PX = 380


@pytest.fixture(scope="module")
def browser() -> Browser:
    return Browser(find_chromium())


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


def test_the_console_is_watched(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<script>console.error('seen'); nowhere()</script><p>page</p>")
    _, console = browser.dump(page)
    assert any("seen" in line for line in console)
    assert any("nowhere" in line for line in console)


def test_every_chart_is_drawn_and_the_verdict_read(
    browser: Browser, report: Path, context: ReportContext
) -> None:
    dom, console = browser.dump(report)
    assert console == []
    assert 'data-charts="drawn"' in dom
    # Six blocks, mean and interval; a line per trial and arm; a band; classes by arms; trials.
    least = {"effect": 8, "throughput": 12 + 2, "quantiles": 2, "waits": 3 * 2, "order": 12}
    assert {chart: _marks(dom, chart) >= least[chart] for chart in CHARTS} == dict.fromkeys(
        CHARTS, True
    )
    verdict = context.of_kind(FindingKind.VERDICT)[0].text
    assert " ".join(verdict.split()) in _text(dom)


@pytest.mark.parametrize(
    ("spec_text", "charts"), [(STEPS, OF_STEPS), (NO_FACTORS, ["throughput", "waits", "order"])]
)
def test_other_kinds_of_run_draw_too(
    browser: Browser, tmp_path: Path, spec_text: str, charts: list[str]
) -> None:
    dom, console = browser.dump(_written(synthetic_context(tmp_path, spec_text), tmp_path))
    assert console == []
    assert re.findall(r'data-chart="(\w+)"', dom) == charts
    assert all(_marks(dom, chart) for chart in charts)


def test_names_that_are_scripts_do_not_run(browser: Browser, tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, HOSTILE_SPEC, effects={"a2": 0.1})
    series = tuple(
        replace(trial, events={HOSTILE_IMAGE: 1.0}, checkpoints_s=((0.5, None, HOSTILE_IMAGE),))
        for trial in context.series
    )
    page = _written(replace(context, series=series, run_name=HOSTILE_IMAGE), tmp_path)
    # Escaping must hold by itself, so the page's policy, the second fence, is taken away.
    html = page.read_text("utf-8")
    open_html = re.sub(r"<meta http-equiv[^>]*>", "", html)
    assert open_html != html
    page.write_text(open_html, encoding="utf-8")
    dom, console = browser.dump(page)
    assert console == []
    assert "data-ran" not in dom
    assert "<img" not in dom
    assert 'data-charts="drawn"' in dom
    assert HOSTILE_IMAGE in _text(dom)


def test_the_policy_stops_what_escaping_would_miss(
    browser: Browser, report: Path, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    html = report.read_text("utf-8").replace("<h1>", f"<h1>{HOSTILE_IMAGE}", 1)
    page.write_text(html, encoding="utf-8")
    dom, console = browser.dump(page)
    assert "data-ran" not in dom
    assert any("Content Security Policy" in line for line in console)


def test_nothing_overflows_on_a_phone(browser: Browser, report: Path, tmp_path: Path) -> None:
    # Chromium's own window cannot be so narrow; a frame can.
    frame = tmp_path / "phone.html"
    frame.write_text(
        f'<iframe src="{report.as_uri()}" style="width:{PHONE_PX}px;height:900px;border:0">'
        "</iframe><script>onload = () => setTimeout(() => {"
        "const page = document.querySelector('iframe').contentDocument;"
        "document.body.dataset.width = page.documentElement.scrollWidth;"
        "document.body.dataset.drawn = page.querySelectorAll('[data-drawn]').length;"
        "}, 5000)</script>"
    )
    dom, _ = browser.dump(frame, "--allow-file-access-from-files")
    width, drawn = (
        re.search(rf'data-{name}="(\d+)"', dom.split("<iframe")[0]) for name in ("width", "drawn")
    )
    assert width is not None
    assert drawn is not None
    assert int(drawn[1]) == len(CHARTS)
    assert int(width[1]) <= PHONE_PX


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_is_seen_in_the_readers_colours(
    browser: Browser, report: Path, dark: bool
) -> None:
    picture = browser.picture(report, 1000, 1200, dark=dark)
    assert (picture.width, picture.height) == (1000, 1200)
    assert picture.drawn_share > 0.02
    brightness = sum(picture.corner) / 3
    assert brightness < 60 if dark else brightness > 200
