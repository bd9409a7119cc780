"""The Markdown report, analysis.json, and how numbers are written in tables."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.analysis.model import Caveat, VariantSummary
from pgassay.findings.model import Evidence, Finding, FindingKind
from pgassay.findings.registry import find
from pgassay.language import in_language
from pgassay.notes import legacy
from pgassay.report.context import ReportContext
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.objects.analysis import render_json
from pgassay.report.sections.answer.effect import verdict_table
from pgassay.report.sections.record.trials import trial_table
from pgassay.report.tables.cells import ABSENT, evidence, probability
from support.synthetic.analyses import changed
from support.synthetic.report_contexts import (
    HOSTILE_SPEC,
    NO_FACTORS,
    STEPS,
    synthetic_context,
    with_facts,
)


@pytest.fixture(scope="module")
def better(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    return synthetic_context(tmp_path_factory.mktemp("better"), effects={"a2": 0.12})


def test_markdown_begins_with_the_question_and_the_verdict(better: ReportContext) -> None:
    text = render_markdown(better)
    verdict = better.of_kind(FindingKind.VERDICT)[0].text
    assert text.startswith(f"# {better.question}\n\n**BETTER** {verdict}\n")
    assert "max_wal_size = 4GB" in text
    assert "\n\n\n" not in text


def test_figures_of_the_environment_have_the_separator_of_the_language(
    better: ReportContext,
) -> None:
    with in_language("ru"):
        text = render_markdown(with_facts(better, environment={"reset": {"seconds": 6.91}}))
    assert "сброс, секунд: 6,91" in text


def test_a_single_arm_has_every_figure_with_its_interval(tmp_path: Path) -> None:
    page = render_html(synthetic_context(tmp_path / "run", NO_FACTORS))
    table = page.split('<div id="measured">', 1)[1].split("</table>", 1)[0]
    assert re.search(r"Mean latency</th><td[^>]*>[\d.]+ ms</td><td[^>]*>[\d.]+ ms to ", table)
    assert "<dt>Blocks</dt>" not in page


@pytest.mark.parametrize("spec_text", [STEPS, NO_FACTORS])
def test_markdown_tables_have_a_cell_for_every_column(spec_text: str, tmp_path: Path) -> None:
    text = render_markdown(synthetic_context(tmp_path, spec_text))
    assert not re.search(r"\b(None|nan|inf)\b", text)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({row.count("|") for row in table.splitlines()}) == 1
        assert table.count("\n") > 2


def test_variants_of_slices_are_listed_by_arm(better: ReportContext) -> None:
    def variant(arm: str, name: str, latency_ms: float | None) -> VariantSummary:
        return VariantSummary(arm, name, 6, 48, 12_345, 7, 4321.0, latency_ms)

    variants = (
        variant("a2", "on <b>", 1.5),
        variant("a1", "on <b>", 2.5),
        variant("a1", "o", None),
    )
    context = replace(better, analysis=changed(better.analysis, variants=variants))
    text = render_markdown(context)
    rows = re.findall(r"^\| max_wal_size = (\w+) \| (\S+).*\| 7 \| 48 \|$", text, re.MULTILINE)
    assert [arm for arm, _ in rows] == ["32MB", "32MB", "4GB"]
    assert f"| {ABSENT} | 12\u202f345 | 7 | 48 |" in text
    page = render_html(context)
    assert page.count("on &lt;b&gt;") == 2
    assert json.loads(render_json(context))["variants"][0]["transactions"] == 12_345
    assert 'id="variants"' not in render_html(better)


def test_markdown_keeps_hostile_names_as_text(tmp_path: Path) -> None:
    text = render_markdown(synthetic_context(tmp_path, HOSTILE_SPEC))
    outside = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert "<img" not in outside
    assert "<script" not in outside
    assert "&lt;img" in outside


def test_markdown_lists_caveats(better: ReportContext) -> None:
    stolen = Caveat.of("steal", legacy("trial 3: 9 % *stolen*"))
    analysis = changed(better.analysis, warnings=(stolen,))
    text = render_markdown(
        replace(better, analysis=analysis, findings=find(analysis, better.facts))
    )
    assert r"- trial 3: 9 % \*stolen\*" in text


def test_what_does_not_speak_for_a_diagnosis_is_one_line(better: ReportContext) -> None:
    shown, first, second = (
        Evidence(legacy(name), legacy("9 %"), "<b>") for name in ("Held", "Low", "Lower")
    )
    finding = Finding(
        FindingKind.DIAGNOSIS,
        legacy("Spills"),
        legacy("Sorts spill"),
        evidence=(shown,),
        not_for_it=(first, second),
    )
    context = replace(better, findings=(*better.findings, finding))

    line = "Low: 9 % (&lt;b&gt;); Lower: 9 % (&lt;b&gt;)."
    assert f"**Does not speak for it:** {line}\n" in render_markdown(context)
    unbroken = line.replace(" %", "\u00a0%")
    assert f"<p><b>Does not speak for it:</b> {unbroken}</p>" in render_html(context)
    stored = json.loads(render_json(context))["findings"][-1]
    assert [one["metric"] for one in stored["not_for_it"]] == ["Low", "Lower"]


def test_markdown_fences_a_spec_that_has_fences(better: ReportContext) -> None:
    text = render_markdown(with_facts(better, spec_text="a = '''\n````\n'''"))
    assert "`````toml\na = '''\n````\n'''\n`````" in text


def test_analysis_json_holds_the_whole_analysis_and_its_findings(better: ReportContext) -> None:
    value = json.loads(render_json(better))
    assert value["schema"] == "pgassay.analysis/1"
    assert len(value["comparisons"]) == len(better.analysis.answer.comparisons)
    assert len(value["trials"]) == len(better.analysis.answer.trials)
    assert value["interval"] == "t"
    verdict = value["findings"][0]
    assert verdict["kind"] == "verdict"
    assert verdict["comparison"]["level"] == "4GB"


def test_analysis_json_has_no_nan_and_no_infinity(better: ReportContext) -> None:
    broken = tuple(
        replace(c, p_looks=math.inf, p_t=math.nan) for c in better.analysis.answer.comparisons
    )
    text = render_json(replace(better, analysis=changed(better.analysis, comparisons=broken)))
    assert "NaN" not in text
    assert "Infinity" not in text
    assert json.loads(text)["comparisons"][0]["p_looks"] is None


def test_p_values_have_three_decimals(better: ReportContext) -> None:
    p_values = (None, math.nan, 1.0, 0.03125, 1e-4)
    assert [probability(p) for p in p_values] == [ABSENT, ABSENT, "1.000", "0.031", "< 0.001"]
    (verdict,) = better.analysis.answer.verdicts()
    assert evidence(verdict) == "p = 0.031"
    bare = replace(verdict, p_sign_flip=None)
    assert evidence(replace(bare, p_looks=0.01)) == "p ≤ 0.01"
    assert evidence(bare) == ABSENT


def test_the_table_of_trials_follows_the_order_they_ran(better: ReportContext) -> None:
    trials = trial_table(better)
    assert trials.column("number") == tuple(map(str, range(1, 13)))
    assert set(trials.column("position")) == {"1", "2"}
    checkpoints = zip(trials.column("arm"), trials.column("checkpoints"), strict=True)
    assert {count for arm, count in checkpoints if arm == "max_wal_size = 32MB"} == {"3"}


def test_the_table_of_verdicts_has_a_row_for_every_step(tmp_path: Path) -> None:
    verdicts = verdict_table(synthetic_context(tmp_path, STEPS))
    loads = ("whole trial", "4 clients", "8 clients")
    assert verdicts.column("step") == tuple(load for load in loads for _ in range(2))
    assert set(verdicts.column("metric")) == {"Throughput", "p99 latency"}
