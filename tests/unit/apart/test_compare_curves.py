"""The report on runs made apart draws how each went, as a description that decides nothing."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from pgassay.analysis.apart.compare import Question
from pgassay.analysis.measures.courses.chart_series import range_by_second
from pgassay.report.context import ApartContext
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import illustrated_markdown, render_markdown
from pgassay.report.sections.apart import curves
from pgassay.report.tables.by_load import runs_at_loads
from pgassay.workflows.comparing import compare_stored
from support.blocks import texts
from support.runs.command import last_line, pgassay
from support.synthetic import directories
from support.synthetic.directories import synthetic_run

SPEC = directories.SPEC.replace('step = "10s"', 'step = "2s"').replace("_blocks = 6", "_blocks = 2")
LOADS = SPEC.replace("clients = 8", "clients = [4, 8]")
RATES = SPEC.replace("clients = 8", "clients = 8\nrate = [100, 200]")
_SEEDS = itertools.count(1)


def paths_of(folder: Path, text: str, *names: str) -> list[Path]:
    paths = []
    for name in names:
        seed = next(_SEEDS)
        effects = {"a1": -0.4} if name == "slow" else {}
        how: dict[str, Any] = {"effects": effects, "seed": seed}
        # Of one seed, two that reach a rate alike would be taken for copies of each other.
        own = text.replace("seed = 7", f"seed = {100 + seed}")
        run, _, _ = synthetic_run(folder / name, spec_text=own, **how)
        paths.append(run.path)
    return paths


@pytest.fixture(scope="module")
def by_load(tmp_path_factory: pytest.TempPathFactory) -> ApartContext:
    paths = paths_of(tmp_path_factory.mktemp("runs"), LOADS, "usual", "slow")
    return compare_stored(paths, Question())


def drawings(page: str, chart: str) -> list[str]:
    """Of each arm: the drawing for a wide page."""
    parts = re.split(rf'data-chart="{chart}-\d+"', page)
    return [part.split("</svg>", 1)[0] for part in parts[1:]]


@pytest.mark.parametrize(
    "chart", ["by_load", "throughput", "latency_curve", "speed_by_load", "speed", "host"]
)
def test_each_arm_has_a_chart_with_both_runs_in_it(by_load: ApartContext, chart: str) -> None:
    found = drawings(render_html(by_load), chart)
    assert len(found) == 2
    for drawing, arm in zip(found, ("max_wal_size = 32MB", "max_wal_size = 4GB"), strict=True):
        assert f">{arm}</text>" in drawing
        assert {*re.findall(r'data-arm="([^"]*)"', drawing)} == {"usual", "slow"}


def test_the_mean_at_a_load_is_that_of_the_verdict(by_load: ApartContext) -> None:
    analysis = by_load.analysis
    for one in analysis.verdicts():
        if one.comparison.step is None:
            continue
        curves = next(curve for curve in analysis.curves if curve.arm == one.arm)
        at = {
            p.side: p for p in curves.by_load if (p.metric, p.load) == ("tps", one.comparison.step)
        }
        assert at["usual"].mean == pytest.approx(one.comparison.baseline_mean)
        assert at["slow"].mean == pytest.approx(one.comparison.level_mean)
        assert at["slow"].low <= at["slow"].mean <= at["slow"].high


def test_each_load_has_a_row_of_each_run_as_the_report_of_a_run(by_load: ApartContext) -> None:
    found = runs_at_loads(by_load.analysis)
    table = found.load_table()
    assert table.column("load") == ("4 clients", "4 clients", "8 clients", "8 clients") * 2
    assert table.column("side") == ("usual", "slow") * 4
    titles = [column.title for column in table.columns]
    assert {"tps", "WAITINGS", "Mean, ms", "p99, ms", "wa, %"} <= {*titles}
    part = render_markdown(by_load).split("## From load to load\n")[1].split("\n## ")[0]
    assert "WAITINGS" in part
    assert "The host at each load" in part
    own = measured(by_load, "slow", 8.0)
    assert [row.profile.values["tps"] for row in found.rows[3::4]] == pytest.approx(own)


def measured(context: ApartContext, name: str, load: float) -> list[float]:
    """Arm by arm the mean throughput of a side's trials."""
    (run,) = (one for side in context.analysis.sides if side.name == name for one in side.runs)
    trials = [[one.at(load) for one in run.trials if one.arm == arm.id] for arm in run.plan.arms]
    return [fmean(one.values["tps"] for one in own if one is not None) for own in trials]


def test_of_rates_response_times_are_drawn(tmp_path: Path) -> None:
    found = compare_stored(paths_of(tmp_path, RATES, "one", "two"), Question())
    for drawing in drawings(render_html(found), "by_load"):
        assert "99th percentile of response time, milliseconds" in drawing


def test_one_load_has_no_section_on_loads_and_one_arm_no_name(tmp_path: Path) -> None:
    single = SPEC.replace('[factors.postgres]\nmax_wal_size = ["32MB", "4GB"]\n', "")
    found = compare_stored(paths_of(tmp_path, single, "one", "two"), Question())
    page = render_html(found)
    assert "From load to load" not in page
    assert len(drawings(page, "throughput")) == len(drawings(page, "latency_curve")) == 1
    _, files = illustrated_markdown(found, "x")
    names = ("verdicts", "throughput", "quantiles", "speed-over-time", "infrastructure")
    assert {*files} == {f"x-{name}.svg" for name in names}


def test_a_folder_of_runs_is_one_line_through_all_its_trials(tmp_path: Path) -> None:
    paths_of(tmp_path / "old", SPEC, "1", "2", "3")
    (new,) = paths_of(tmp_path, SPEC, "slow")
    found = compare_stored([tmp_path / "old", new], Question()).analysis.curves[0]
    assert [(curve.arm, curve.trials) for curve in found.latencies] == [("old", 6), ("slow", 2)]
    assert [trial.arm for trial in found.series] == ["old"] * 6 + ["slow"] * 2


def test_an_a_a_run_shows_its_trials_by_both_names(tmp_path: Path) -> None:
    same, _, _ = synthetic_run(tmp_path / "same", spec_text=SPEC, calibrates=True, seed=8)
    (other,) = paths_of(tmp_path, SPEC, "other")
    (found,) = compare_stored([same.path, other], Question()).analysis.curves
    assert [(curve.arm, curve.trials) for curve in found.latencies] == [("same", 4), ("other", 2)]


def test_captions_say_that_the_runs_were_made_apart(by_load: ApartContext) -> None:
    for section in (curves.by_load, curves.quantiles):
        assert str(curves.DESCRIBES) in texts(section.blocks(by_load))
    (caption,) = filter(None, texts(curves.throughput.blocks(by_load)))
    assert curves.sentence("the_runs_were_made") in caption


def test_every_picture_is_linked_and_only_those_of_runs_have_their_key(
    by_load: ApartContext,
) -> None:
    text, files = illustrated_markdown(by_load, "my page")
    links = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert [unquote(link) for link in links] == list(files)
    assert {"my page-by-load-arm-1.svg", "my page-throughput-arm-2.svg"} <= {*files}
    for name, drawing in files.items():
        ElementTree.fromstring(drawing)  # noqa: S314 - our own drawing
        assert (">usual</text>" in drawing) == (name != "my page-verdicts.svg")


def test_pictures_lie_beside_the_text_and_nowhere_else(tmp_path: Path) -> None:
    paths, out = paths_of(tmp_path, SPEC, "one", "two"), tmp_path / "page.md"
    for wrong in ((), ("--out", tmp_path / "page.html"), ("--format", "md")):
        done = pgassay("compare", *paths, "--pictures", *wrong)
        assert done.returncode == 1
        assert "--out FILE.md" in last_line(done.stderr)
    done = pgassay("compare", *paths, "--pictures", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "page-throughput-arm-1.svg" in out.read_text("utf-8")
    assert (tmp_path / "page-throughput-arm-1.svg").read_text("utf-8").startswith("<svg")


def test_nothing_is_read_for_charts_that_nobody_asked_for(tmp_path: Path) -> None:
    found = compare_stored(paths_of(tmp_path, LOADS, "a", "b"), Question(), has_charts=False)
    assert all(not one.series and not one.latencies for one in found.analysis.curves)
    bare = replace(found.analysis, curves=())
    assert render_html(replace(found, analysis=bare))


def test_a_band_reaches_to_the_shortest_trial_and_has_holes_where_nothing_is_known() -> None:
    long = ((0.5, 1.5, 2.5), (10.0, None, 30.0))
    short = ((0.7, 1.5), (4.0, None))
    assert range_by_second([long, short]) == [(0.6, 4.0, 10.0), (1.5, None, None)]


@pytest.mark.parametrize(
    ("title", "name"),
    [("Speed and waits, by load and over time", "WAITINGS"), ("Infrastructure", "us")],
)
def test_what_was_sampled_stands_beside_each_other_without_a_change(
    by_load: ApartContext, title: str, name: str
) -> None:
    of = "host" if name == "us" else "speed"
    figures = [one for arm in by_load.analysis.curves for one in getattr(arm, of)]
    found = [one for one in figures if one.name == name]
    assert [[each.arm for each in one.figures] for one in found] == [["usual", "slow"]] * 2
    assert all(each.change_pct is None and each.trials == 2 for each in found[0].figures)
    part = render_markdown(by_load).split(f"## {title}\n")[1].split("\n## ")[0]
    rows = [line for line in part.splitlines() if f"| {name}; " in line]
    assert len(rows) == 2
    assert all("%" not in cell for row in rows for cell in row.split("|")[3:])
