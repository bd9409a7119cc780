"""The report in a real browser: charts are drawn, it can be read, and only its own scripts run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import axe_core_python
import pytest

from browser.chromium import Browser, Tab, running_chromium
from pgassay.analysis.measures.courses.chart_series import Event, Span, mean_by_second
from pgassay.findings.model import FindingKind
from pgassay.report.context import ReportContext
from pgassay.report.formats.html import render_html
from support.synthetic.report_contexts import (
    HOSTILE_IMAGE,
    HOSTILE_SPEC,
    NO_FACTORS,
    STEPS,
    synthetic_context,
)

CHARTS = [
    *("effect", "order", "throughput", "latency_curve", "quantiles"),
    *("waits", "sessions", "host", "speed_over_time"),
]
OF_STEPS = [CHARTS[0], "by_load", "load_curve", *CHARTS[1:-1], "speed_by_load", CHARTS[-1]]
OF_ONE_ARM = [chart for chart in CHARTS if chart not in ("effect", "quantiles")]
PHONE_PX = 380
_COUNT_SHOWN = (
    "[...document.querySelectorAll('.{} > svg')].filter(svg => svg.getClientRects().length).length"
)
_AXE = Path(axe_core_python.__file__).parent / "axe.min.js"
_AXE_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]


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
    """How many lines, points and bars a chart has drawn for a wide page."""
    wide = dom.split(f'data-chart="{chart}"', 1)[1].split('class="narrow"', 1)[0]
    return sum(
        len(re.findall(r'<(?:path|circle|rect)(?! class="cursor)', part.split('class="panel"')[0]))
        for part in wide.split('class="marks"')[1:]
    )


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
    # A curve, a band and symbols for each arm;
    least = {
        "effect": 8,
        "throughput": 2 * (12 + 2),
        "latency_curve": 2 * 3,
        "quantiles": 2,
        "waits": 3 * 2,
        "sessions": 2 * 3,
        "speed_over_time": 2,
        "host": 2 * 3,
        "order": 12,
    }
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
    ("spec_text", "charts"),
    [(STEPS, OF_STEPS), (NO_FACTORS, OF_ONE_ARM)],
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
        replace(
            trial,
            events={HOSTILE_IMAGE: 1.0},
            checkpoints=(Span(0.5, None, HOSTILE_IMAGE),),
            vacuums=(Span(1.0, 2.0, HOSTILE_IMAGE),),
            happened=(Event(1.5, f"error {HOSTILE_IMAGE}", 1),),
        )
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
    assert 'data-charts="ready"' in dom
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
        _unfold(tab)
        drawn = (
            tab.evaluate(_COUNT_SHOWN.format("narrow")),
            tab.evaluate(_COUNT_SHOWN.format("wide")),
        )
        width = tab.evaluate("document.documentElement.scrollWidth")
        wide = tab.evaluate(
            "[...document.querySelectorAll('td, th')].filter(c => c.getClientRects().length"
            " && c.scrollWidth > c.clientWidth + 1).map(c => c.textContent).join('; ')"
        )
    assert drawn == (len(CHARTS), 0)
    assert width <= PHONE_PX
    assert wide == "", "cells whose text runs into the next one"


def test_the_value_beside_the_pointer_is_that_of_the_line(
    browser: Browser, report: Path, context: ReportContext
) -> None:
    with browser.open(report) as tab:
        _unfold(tab)
        _move(tab, "throughput", 0.5)
        words = tab.evaluate("document.querySelector('.tip').innerText")
    first, *values = words.splitlines()
    assert first.endswith(" s")
    # Of both panels on this axis: throughput and latency.
    assert [line.split(":")[0] for line in values] == [
        f"{what} {arm.label}" for what in ("mean of", "p99 of") for arm in context.plan.arms
    ]
    second = float(first.removesuffix(" s").replace("\u2212", "-"))
    means = dict(mean_by_second(context.series, context.plan.arms[0].id))
    nearest = means[min(means, key=lambda at: abs(at - second))]
    shown = float(values[0].split(": ")[1].removesuffix(" tps").replace("\u202f", ""))
    assert shown == pytest.approx(nearest, rel=1e-3)


def test_charts_of_one_time_axis_are_zoomed_together_and_shown_whole_again(
    browser: Browser, report: Path
) -> None:
    numbers = "[...document.querySelectorAll('[data-chart=throughput] .wide .tick')].map("
    numbers += "t => t.style.display === 'none' ? '' : t.textContent).join(' ')"
    with browser.open(report) as tab:
        _unfold(tab)
        whole = tab.evaluate(numbers)
        _move(tab, "throughput", 0.5)
        _mouse(tab, "mousePressed", "throughput", 0.5)
        _mouse(tab, "mouseMoved", "throughput", 0.7)
        _mouse(tab, "mouseReleased", "throughput", 0.7)
        zoomed = tab.evaluate(numbers)
        moved = tab.evaluate(
            "document.querySelector('.wide .marks > path').getAttribute('transform')"
        )
        tab.evaluate("document.querySelector('[data-chart=throughput] .reset').click()")
        again = tab.evaluate(numbers)
        assert tab.console == []
    assert zoomed != whole
    assert again == whole
    assert moved is None or moved.startswith("matrix(")


def test_the_name_of_an_arm_hides_it_in_every_chart(browser: Browser, report: Path) -> None:
    hidden = "[...document.querySelectorAll('.plot [data-arm=a2]')].every(e => e.style.display)"
    with browser.open(report) as tab:
        _unfold(tab)
        assert not tab.evaluate(hidden)
        tab.evaluate("document.querySelector('button[data-arm=a2]').click()")
        assert tab.evaluate(hidden)
        shown = tab.evaluate("document.querySelector('.plot [data-arm=a1]').style.display")
    assert shown == ""


def test_arrow_keys_show_values_and_plus_zooms(browser: Browser, report: Path) -> None:
    with browser.open(report) as tab:
        _unfold(tab)
        tab.evaluate("document.querySelector('[data-chart=throughput]').focus()")
        for key in ("ArrowRight", "ArrowRight", "+"):
            tab.send("Input.dispatchKeyEvent", type="keyDown", key=key)
        words = tab.evaluate("document.querySelector('.tip').innerText")
        is_zoomed = tab.evaluate("!document.querySelector('[data-chart=throughput] .reset').hidden")
        assert tab.console == []
    assert "mean of" in words
    assert is_zoomed


def test_paper_has_the_tables_that_are_open_and_the_numbers_of_verdicts(
    browser: Browser, report: Path
) -> None:
    with browser.open(report) as tab:
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert tab.evaluate("document.querySelectorAll('details.printed:not([open])').length") == 0
        assert tab.evaluate("document.querySelectorAll('#trials details[open]').length") == 0


def test_every_chart_is_in_the_page_without_a_script(report: Path) -> None:
    html = re.sub(r"<script>.*?</script>", "", report.read_text("utf-8"), flags=re.DOTALL)
    assert {chart: _marks(html, chart) > 0 for chart in CHARTS} == dict.fromkeys(CHARTS, True)


@pytest.mark.parametrize("dark", [False, True])
def test_accessibility_checks_find_nothing_serious(
    browser: Browser, report: Path, dark: bool
) -> None:
    with browser.open(report, dark=dark) as tab:
        _unfold(tab)
        tab.evaluate("document.querySelector('.find').focus()")
        tab.send("Input.insertText", text="wal")
        tab.evaluate(_AXE.read_text("utf-8"))
        run = f"axe.run({{runOnly: {_AXE_RULES}}}).then(r => JSON.stringify(r.violations.map("
        run += "v => [v.impact, v.id, v.nodes.map(n => n.target + ': ' + n.failureSummary)])))"
        answer = tab.send("Runtime.evaluate", expression=run, awaitPromise=True)
        found = json.loads(answer["result"]["value"])
    assert [one for one in found if one[0] in ("moderate", "serious", "critical")] == []


def test_only_the_answer_stands_open_and_a_link_opens_its_section(
    browser: Browser, report: Path
) -> None:
    with browser.open(report) as tab:
        assert tab.evaluate("document.querySelectorAll('.folded > details[open]').length") == 0
        assert tab.evaluate("document.querySelector('#effect > .scroll').checkVisibility()")
        tab.evaluate("document.querySelector('nav a[href=\"#waits\"]').click()")
        assert tab.evaluate("document.querySelectorAll('.folded > details[open]').length") == 1
        assert tab.evaluate("document.querySelector('#waits .wide').checkVisibility()")
        assert tab.console == []


def _unfold(tab: Tab) -> None:
    tab.evaluate("document.querySelectorAll('.folded > details').forEach(one => one.open = true)")


def _move(tab: Tab, chart: str, share: float) -> None:
    """The pointer over the middle of a chart, so far from its left edge."""
    _mouse(tab, "mouseMoved", chart, share)


def _mouse(tab: Tab, kind: str, chart: str, share: float) -> None:
    panel = f"document.querySelector('[data-chart={chart}] .wide svg')"
    if kind == "mouseMoved" and share == 0.5:
        tab.evaluate(f"{panel}.scrollIntoView({{block: 'center'}})")
    box = json.loads(tab.evaluate(f"JSON.stringify({panel}.getBoundingClientRect())"))
    tab.send(
        "Input.dispatchMouseEvent",
        type=kind,
        x=box["left"] + share * box["width"],
        y=box["top"] + 0.6 * box["height"],
        button="left" if kind != "mouseMoved" else "none",
        clickCount=1,
    )


def test_a_table_is_found_by_its_words_and_opens_from_the_keyboard(
    browser: Browser, report: Path
) -> None:
    with browser.open(report, 1400) as tab:
        tab.send("Input.dispatchKeyEvent", type="keyDown", key="/", text="/")
        tab.send("Input.insertText", text="wal per trans")
        assert tab.evaluate("document.querySelectorAll('.results a').length") > 0
        assert tab.evaluate("document.querySelector('nav ul:last-of-type').hidden") is True
        for key in ("ArrowDown", "Enter"):
            tab.send("Input.dispatchKeyEvent", type="keyDown", key=key, text="\r"[: key == "Enter"])
        assert "WAL per transaction" in tab.evaluate("document.activeElement.innerText")
        assert tab.evaluate("document.querySelector('.found').getClientRects().length") > 0
        tab.evaluate("document.querySelector('.find').focus()")
        tab.send("Input.dispatchKeyEvent", type="keyDown", key="Escape")
        assert tab.evaluate("document.querySelectorAll('.results a').length") == 0
        assert tab.evaluate("document.querySelector('nav ul:last-of-type').hidden") is False
        assert tab.console == []


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("xyzzy", ""),
        ("ожидания xyzzy", "Wait event"),
        ("procs_r", "r"),
        ("загрузка диска", "%util"),
        ("операционная скорость", "Throughput"),
        ("检查点", "Checkpoint"),
        ("угол наклона", "Angle"),
    ],
)
def test_a_figure_is_found_by_what_others_call_it(
    browser: Browser, report: Path, asked: str, found: str
) -> None:
    names = "[...document.querySelectorAll('.results a')].map(one => one.firstChild.data).join('|')"
    with browser.open(report, 1400) as tab:
        tab.evaluate("document.querySelector('.find').focus()")
        tab.send("Input.insertText", text=asked)
        places = [one for one in tab.evaluate(names).split("|") if one]
        assert bool(places) == bool(found)
        assert any(one.startswith(found) for one in places) or not found
        assert tab.console == []


def test_everything_is_printed_where_the_address_says_so(browser: Browser, report: Path) -> None:
    hidden = "[...document.querySelectorAll('main details')].filter(d => !d.open).length"
    with browser.open(report) as tab:
        tab.send("Emulation.setEmulatedMedia", media="print")
        folded = tab.evaluate("document.querySelector('main').offsetHeight")
        tab.evaluate("location.hash = 'unfolded'")
        # Without the event, which a page without a script does not heed.
        assert tab.evaluate("document.querySelector('main').offsetHeight") > folded
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert tab.evaluate(hidden) == 0
        tab.evaluate("dispatchEvent(new Event('afterprint'))")
        assert tab.evaluate(hidden) > 0


def test_on_paper_notes_are_smaller_than_the_text(browser: Browser, report: Path) -> None:
    size = "parseFloat(getComputedStyle(document.querySelector('{}')).fontSize)"
    with browser.open(report) as tab:
        tab.send("Emulation.setEmulatedMedia", media="print")
        assert tab.evaluate(size.format(".note")) < tab.evaluate(size.format("body"))


def test_a_link_opens_the_fold_that_it_leads_into(browser: Browser, report: Path) -> None:
    inside = "document.querySelector('main details:not([open]) > :not(summary)')"
    with browser.open(report) as tab:
        tab.evaluate(f"window.fold = {inside}.parentElement; {inside}.id = 'inside'")
        tab.evaluate("location.hash = 'inside'")
        opened = "new Promise(done => setTimeout(() => done(fold.open), 50))"
        answer = tab.send("Runtime.evaluate", expression=opened, awaitPromise=True)
        assert answer["result"]["value"] is True


@pytest.mark.parametrize("spec_text", [None, STEPS])
def test_the_table_of_verdicts_shows_the_change_on_a_phone(
    browser: Browser, tmp_path: Path, spec_text: str | None
) -> None:
    found = synthetic_context(tmp_path, *filter(None, [spec_text]), effects={"a2": 0.12})
    with browser.open(_written(found, tmp_path), 375, 800) as tab:
        title = (
            "[...document.querySelectorAll('#effect thead th')].find(t => t.innerText=='Change')"
        )
        assert tab.evaluate(f"{title}.getBoundingClientRect().right") <= 375
