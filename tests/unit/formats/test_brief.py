"""The brief has every fact within its limit, says what it left out, and tells no secret."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.analysis.model import Caveat
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.model import Confidence, Evidence, Finding, FindingKind
from pgassay.findings.registry import find
from pgassay.findings.wording import as_sentences
from pgassay.language import in_language
from pgassay.notes import legacy
from pgassay.report.brief.fitting import fit, texts
from pgassay.report.brief.render import render_brief
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Fold, Group, Heading
from pgassay.report.document.text import plain_text
from pgassay.report.sections.record import method
from pgassay.report.summaries.headline import primary_metric
from pgassay.workflows.reporting import trace_context
from support.blocks import every
from support.synthetic.analyses import changed
from support.synthetic.hostile import hostile_context
from support.synthetic.report_contexts import (
    NO_FACTORS,
    STEPS,
    TWO_FACTORS,
    synthetic_context,
    with_facts,
)
from support.synthetic.traces import synthetic_trace
from unit.report.test_report_observation import context as observed_context

LIMIT = 20_000
WORD = "geheim7Wort"


def parts_of(text: str) -> dict[str, str]:
    """Title up to its bracket → the part's text."""
    found = re.split(r"\n\n([A-Z][A-Z ]+)(?: \([^\n]*\))?\n", text)
    return dict(zip(found[1::2], found[2::2], strict=True))


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    return synthetic_context(tmp_path_factory.mktemp("run"), STEPS, effects={"a2": 0.2})


def test_it_answers_with_figures_in_both_units_and_says_what_the_words_mean(
    context: ReportContext,
) -> None:
    text = render_brief(context)
    assert len(text.encode()) <= LIMIT
    parts = parts_of(text)
    assert parts["QUESTION"] == context.question
    figures, verdict, following, *_ = parts["ANSWER"].splitlines()
    assert re.fullmatch(r"\d+ → \d+ tps \(max_wal_size: 32MB → 4GB\)", figures)
    assert verdict.startswith("better: ")
    assert following.startswith("next = ")
    metric, *table = parts["FIGURES"].splitlines()
    assert metric == ": ".join(primary_metric(context))
    titles, (level,), *rows = (line.split(" | ") for line in table)
    assert level == "max_wal_size = 4GB against 32MB:"
    first, *others = (dict(zip(titles, row, strict=True)) for row in rows)
    assert first["Endpoint"] == "Throughput"
    assert all(one["Endpoint"] and one["Load"] for one in others)
    for column, pattern in (
        *(("Baseline", r"\d+ tps"), ("Level", r"\d+ tps"), ("Difference", r"\+\d+ tps")),
        *(("Change", r"\+[\d.]+ %"), ("95 % interval", r"\+[\d.]+ % to \+[\d.]+ %")),
        *(("Blocks", "6"), ("Evidence", r"p = 0\.031"), ("Verdict", "better")),
    ):
        assert re.fullmatch(pattern, first[column])
    assert "8 clients" in {one["Load"] for one in others}
    assert "within +-2 %" in parts["WHAT THE WORDS MEAN"]
    repeated = f"pgassay run {context.run_name}/spec.toml --seed 7\n"
    assert parts["HOW TO REPEAT IT"].startswith(repeated)
    assert {"CAVEATS", "WHY", "MEANS OF THE ARMS", "DESIGN", "SETTINGS", "ENVIRONMENT"} <= set(
        parts
    )
    assert "left out" not in text.removeprefix(text.partition("\n")[0])
    assert not set(text) & {"\u202f", "\u00a0", "\u2212"}


def test_findings_say_how_sure_they_are_and_what_would_test_them(context: ReportContext) -> None:
    found = Finding(
        FindingKind.DIAGNOSIS,
        legacy("Lock queue"),
        legacy("Sessions wait for one another."),
        confidence=Confidence.HYPOTHESIS,
        evidence=(Evidence(legacy("waits"), legacy("3.1 sessions"), "a1"),),
        confirm=legacy("Look at pg_locks."),
        refute=legacy("No waits there."),
    )
    text = render_brief(replace(context, findings=(*context.findings, found)))
    assert "- [hypothesis] Lock queue: Sessions wait for one another." in text
    assert "\n  evidence: waits: 3.1 sessions (a1)\n  confirm: Look at pg_locks.\n" in text


def test_caveats_come_by_what_they_could_change(context: ReportContext) -> None:
    doubts = tuple(Caveat.of("trial", legacy(f"caveat {at}")) for at in range(2))
    analysis = changed(context.analysis, warnings=(*context.analysis.warnings, *doubts))
    doubtful = replace(context, analysis=analysis, findings=find(analysis, context.facts))
    text = parts_of(render_brief(doubtful))
    ranks = [line for line in text["CAVEATS"].splitlines() if not line.startswith("- ")]
    groups = every(method.caveats.blocks(doubtful), Group)
    assert [group.style for group in groups] == ["caveat verdict", "caveat size"]
    titles = [plain_text(one.text) for one in every(groups, Heading)]
    folded = [plain_text(one.summary) for one in every(method.caveats.blocks(doubtful), Fold)]
    assert ranks == [f"{title}:" for title in (*titles, *folded)]


def test_however_much_there_is_every_part_has_its_share_and_says_what_is_left_out(
    tmp_path: Path,
) -> None:
    of_runs = [one for one in texts()["part"] if one["name"] not in ("summary", "points")]
    text = fit("head", {one["name"]: ["a line of some length"] * 900 for one in of_runs})
    assert len(text.encode()) <= LIMIT
    assert text.count(texts()["left_out"].rpartition("}")[2]) == len(of_runs)
    long = fit("head", {one["name"]: ["word " * 9000] for one in of_runs})
    assert len(long.encode()) <= LIMIT
    assert long.count("… (cut)") == len(of_runs)


def test_what_one_part_does_not_need_others_have() -> None:
    text = fit("head", {"question": ["q"], "findings": ["a finding"] * 2000})
    assert LIMIT - 100 < len(text.encode()) <= LIMIT


def test_no_secret_is_in_it(context: ReportContext) -> None:
    spec = context.spec_text + f'\n[target]\ndsn = "postgresql://bench:{WORD}@db1/bench"\n'
    settings = {"app.api_key": WORD, "archive_command": f"scp -pw {WORD}", "fsync": "on"}
    environment = {
        **context.environment.given,
        "server": {
            "version": "PostgreSQL 18.4",
            "settings": settings,
            "every_setting": {name: {"value": value} for name, value in settings.items()},
        },
        "host": {"PGPASSWORD": WORD, "note": f"host=db1 password={WORD} dbname=x"},
        "target": f"host=db1 password={WORD}",
    }
    text = render_brief(with_facts(context, spec_text=spec, environment=environment))
    assert WORD not in text
    assert "app.api_key = (set)" in text
    assert "postgresql://bench:***@db1/bench" in text


def test_a_sentence_that_two_findings_share_is_there_once(context: ReportContext) -> None:
    queues = legacy("It queues.")
    first = as_sentences(legacy("It has 2.5 ms."), queues)
    second = as_sentences(queues, legacy("It waits."))
    both = (
        Finding(FindingKind.DIAGNOSIS, legacy("t"), first, confidence=None),
        Finding(FindingKind.OBSERVATION, legacy("t"), second, rule="modes"),
    )
    found = parts_of(render_brief(replace(context, findings=both)))["FINDINGS"]
    assert found == "- [not rated] t: It has 2.5 ms. It queues.\n- [described] It waits."


def test_a_setting_is_there_once_with_its_arms_or_the_experiment(context: ReportContext) -> None:
    found = parts_of(render_brief(context))["SETTINGS"]
    assert found.count("max_wal_size") == 2
    assert found.startswith("a1: max_wal_size = 32MB\na2: max_wal_size = 4GB\n")


def test_a_single_arm_several_factors_and_hostile_names_have_one(tmp_path: Path) -> None:
    one = render_brief(synthetic_context(tmp_path / "one", NO_FACTORS))
    number = r"[\d,. ]+"
    interval = rf"\(95 % CI {number} to {number}\)"
    answer = parts_of(one)["ANSWER"]
    assert re.match(rf"measured: Throughput {number} tps {interval}, ", answer)
    assert re.search(rf"{METRICS['latency_p99'].title} {number} ms {interval}; ", answer)
    two = parts_of(render_brief(synthetic_context(tmp_path / "two", TWO_FACTORS)))
    assert "interaction: " in two["ANSWER"]
    assert "undecided: neither" not in one
    assert "Order of arms" not in one
    assert "all 4 combinations" in two["DESIGN"]
    hostile = render_brief(hostile_context(tmp_path / "hostile"))
    assert len(hostile.encode()) <= LIMIT
    assert not set(hostile) & {"\u202e", "\x00", "\x07", "\r", "\u2028"}


def test_observations_and_traces_have_one_without_a_verdict(tmp_path: Path) -> None:
    observed = parts_of(render_brief(observed_context()))
    waits = [line.split(" | ")[:2] for line in observed["WAITS"].splitlines()]
    assert ["Lock:tuple", "1.500"] in waits
    assert ["CPU", "0.500"] in waits
    statement = observed["STATEMENTS"].splitlines()[1]
    assert "0.3 s | 10 | 30.000 ms" in statement
    assert statement.endswith(" | SELECT '<b>' FROM t")
    assert observed["WHAT THE WORDS MEAN"].startswith("Nothing was varied")
    traced = render_brief(trace_context(synthetic_trace(tmp_path / "trace")))
    titles, point = (line.split(" | ") for line in parts_of(traced)["WHAT WAS TIMED"].splitlines())
    timed = dict(zip(titles, point, strict=True))
    assert (timed["Point"], timed["Times"], timed["Total"]) == ("LWLock WALWrite", "25000", "15 s")
    assert len(traced.encode()) <= LIMIT


def test_titles_and_cells_are_in_the_language_of_the_brief(tmp_path: Path) -> None:
    with in_language("ru"):
        text = render_brief(synthetic_context(tmp_path, STEPS))
    titles = ("Primary metric", "Throughput", "Endpoint", "Mean of the trials", "CPU queue")
    assert [title for title in titles if title in text] == []
