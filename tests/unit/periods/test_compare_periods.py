"""Two periods: what differs by more than usual is found, and what is usual is not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.validate.within_trials.observations import EVENTS, HOUR_NS, START_NS, STATEMENT, recorded

from pgassay.analysis.observation.periods.compare import Period, compare_periods
from pgassay.analysis.observation.periods.model import PeriodsAnalysis, SettingChange
from pgassay.analysis.observation.periods.settings import changed_within
from pgassay.analysis.observation.slices import Slices
from pgassay.findings.observation.periods import limits, overall, sentence_of
from pgassay.findings.observation.suspects import proposal_of
from pgassay.language import in_language
from pgassay.plan.design import make_plan
from pgassay.report.brief.prompt import render_prompt
from pgassay.report.brief.render import render_brief
from pgassay.report.context import PeriodsContext
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.objects.periods import render_periods_json
from pgassay.report.objects.schemas import json_schema
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.forms.observation import ChangedSetting
from pgassay.spec.parse import parse_spec
from support.json_schema import mistakes
from support.refusals import refused
from support.runs.json_page import documented
from support.synthetic.hostile import MARKUP

RULE = "findings/observation/periods/"
TEXT = "SELECT * FROM ledger WHERE account_id = $1"
SCAN = {
    ("statements", STATEMENT, "exec_time_ms"): 50.0,
    ("statements", STATEMENT, "shared_blks_hit"): 300.0,
}


def period(slices: Slices, begin_h: float, length_h: float = 1.0) -> Period:
    begin = START_NS + round(begin_h * HOUR_NS)
    return Period(f"{begin_h:g} h", begin, begin + round(length_h * HOUR_NS), slices)


def compared(slices: Slices, first_h: float, second_h: float) -> PeriodsAnalysis:
    texts = {STATEMENT: TEXT}
    return compare_periods(period(slices, first_h), period(slices, second_h), texts)


@pytest.fixture(scope="module")
def scanned() -> PeriodsAnalysis:
    """Of two weeks, in the last hours of which a statement reads whole tables."""
    hours = 14 * 24
    slices = recorded(hours, 1, times=SCAN, from_ns=START_NS + (hours - 2) * HOUR_NS)
    return compared(slices, hours - 26, hours - 2)


def test_the_statement_that_lost_its_index_is_first(scanned: PeriodsAnalysis) -> None:
    assert (scanned.source, scanned.pairs) == ("days", 11)
    first, second, *_ = scanned.unusual
    assert (first.figure.name, first.figure.thing) == ("blocks-per-call", STATEMENT)
    assert (second.figure.name, second.figure.thing) == ("ms-per-call", STATEMENT)
    assert first.second / first.first == pytest.approx(300.0)
    assert first.change_pct == pytest.approx(29_900.0)
    order = [abs(one.times_usual or 0.0) for one in scanned.unusual]
    assert order == sorted(order, reverse=True)
    assert min(order) > 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hours", "width_s", "first_h", "second_h", "source"),
    [
        (14 * 24, 60.0, 14 * 24 - 29, 14 * 24 - 5, "days"),
        (48, 60.0, 40, 42, "hours"),
        (2, 10.0, 0, 1, "within"),
    ],
)
def test_where_nothing_differs_few_figures_are_called_unusual(
    hours: float, width_s: float, first_h: float, second_h: float, source: str
) -> None:
    called = figures = 0
    for seed in range(20):
        found = compared(recorded(hours, seed, width_s=width_s), first_h, second_h)
        assert found.source == source
        called += len(found.unusual)
        figures += len(found.differences)
    assert called / figures <= 0.05


def test_courses_are_of_the_speed_and_of_what_changed_most(scanned: PeriodsAnalysis) -> None:
    names = [one.figure.name for one in scanned.courses]
    assert names == ["tps", "sessions", "blocks-per-call"]
    first, second = scanned.courses[-1].values
    assert len(first) == len(second) == 60
    assert {round(value or 0.0) for value in first} == {8}
    assert {round(value or 0.0) for value in second} == {2400}
    assert scanned.courses[-1].seconds[0][:2] == (0.0, 60.0)


def test_a_busier_hour_is_no_change_where_it_is_busier_each_day() -> None:
    hours = 14 * 24
    # Six o'clock has the top of the day's wave, midnight its middle.
    found = compared(recorded(hours, 2), hours - 24, hours - 18)
    (tps,) = found.of("tps")
    assert tps.second > 1.25 * tps.first
    assert found.source == "days"
    assert tps.usual is not None
    assert tps.usual.centre > 0.25
    assert not tps.is_unusual


def test_a_burst_in_one_stretch_is_no_change_of_level() -> None:
    slices = recorded(2, 3, width_s=10.0)
    burst = np.zeros(len(slices))
    burst[500] = 400.0
    found = compared(slices.having(("sessions", "", "Lock:tuple"), burst), 0, 1)
    (lock,) = (one for one in found.differences if one.figure.thing == "Lock:tuple")
    assert lock.second > 1.0
    assert lock.change_pct is None
    assert abs(lock.times_usual or 0.0) <= 1.0


def test_a_wait_that_was_not_there_before_is_found() -> None:
    slices = recorded(2, 4, width_s=10.0)
    later = np.arange(len(slices)) >= len(slices) // 2
    noise = np.random.default_rng(0).normal(0.0, 0.2, len(slices))
    locks = np.where(later, 6.0 + noise, 0.0)
    found = compared(slices.having(("sessions", "", "Lock:transactionid"), locks), 0, 1)
    assert found.source == "within"
    assert found.unusual[0].figure.thing == "Lock:transactionid"
    assert sentence_of(found.unusual[0], found).values["clause"].code == f"{RULE}answer.changed"  # type: ignore[union-attr]
    assert next(note.code for note in limits(found)) == f"{RULE}never.within"
    proposal = proposal_of(found, {})
    assert proposal is not None
    assert proposal.name == "lock-queue"


def test_a_period_that_was_not_recorded_or_is_short_is_refused() -> None:
    slices = recorded(2, 5)
    with refused("period-not-recorded"):
        compared(slices, 0, 5)
    with refused("period-too-short", slices=3, least=6):
        compare_periods(period(slices, 0), period(slices, 1, 0.05))


def test_an_experiment_tests_the_first_suspect(scanned: PeriodsAnalysis) -> None:
    proposal = proposal_of(scanned, {})
    assert proposal is not None
    assert proposal.name == "plan"
    plan = make_plan(parse_spec(proposal.spec, source="next.toml", beside=Path()))
    assert [factor.name for factor in plan.factors] == ["index"]
    assert TEXT in proposal.spec


def test_a_setting_that_was_changed_is_the_first_suspect(scanned: PeriodsAnalysis) -> None:
    changes = (
        SettingChange("server_version", "18.5", "18.6"),
        SettingChange("random_page_cost", "4", "1.1"),
    )
    proposal = proposal_of(replace(scanned, settings=changes), {})
    assert proposal is not None
    plan = make_plan(parse_spec(proposal.spec, source="next.toml", beside=Path()))
    assert plan.factors[0].levels == ("4", "1.1")


@pytest.mark.parametrize(
    ("signal", "name"),
    [
        (("cluster", "", "temp_bytes"), "temporary-files"),
        (("sessions", "", "IO:WalSync"), "wal-flush"),
        (("checkpoints", "", "requested"), "checkpoints"),
        (("wal_position", "", "insert_bytes"), "wal"),
        (("database", "", "sessions"), "connections"),
        (("cluster", "", "blks_read"), "reads"),
    ],
)
def test_each_suspect_has_an_experiment_that_can_be_planned(
    signal: tuple[str, str, str], name: str
) -> None:
    slices = recorded(2, 6, width_s=10.0)
    later = np.arange(len(slices)) >= len(slices) // 2
    slices = slices.having(signal, np.where(later, 1e7, 10.0))
    present = {"work_mem": "4MB", "max_wal_size": "1GB", "shared_buffers": "128MB"}
    proposal = proposal_of(compared(slices, 0, 1), present)
    assert proposal is not None
    assert proposal.name == name
    make_plan(parse_spec(proposal.spec, source="next.toml", beside=Path()))


def test_as_usual_there_is_no_suspect() -> None:
    found = compared(recorded(2, 7, width_s=10.0), 0, 1)
    assert found.unusual == ()
    assert proposal_of(found, {}) is None
    assert overall(found).values["clause"].code == f"{RULE}answer.none"  # type: ignore[union-attr]


def context_of(analysis: PeriodsAnalysis) -> PeriodsContext:
    return PeriodsContext(analysis, EnvironmentFile(), "1.0")


def test_every_format_has_the_first_change_and_no_markup_of_a_statement(
    scanned: PeriodsAnalysis,
) -> None:
    hostile = context_of(replace(scanned, texts={STATEMENT: f"SELECT {MARKUP}"}))
    page = render_html(hostile)
    assert MARKUP not in page
    context = context_of(scanned)
    for text in (render_html(context), render_markdown(context), render_brief(context)):
        assert "ledger" in text
    assert "ledger" in render_prompt(context)
    with in_language("ru"):
        render_html(context)


def test_the_keys_are_the_documented_ones(scanned: PeriodsAnalysis) -> None:
    found = json.loads(render_periods_json(context_of(scanned)))
    schema = found["schema"]
    assert set(found) == documented("the periods", schema)
    assert set(found["differences"][0]) == documented("`differences[]` of periods", schema)
    unusual = [one["unusual"] for one in found["differences"]]
    assert unusual == sorted(unusual, reverse=True)
    assert {one["of"] for one in found["differences"]} >= set(EVENTS)
    whole = json_schema("periods")
    assert set(whole["properties"]) == set(found)
    assert list(mistakes(found, whole, whole)) == []


def test_settings_changed_in_the_time_of_both_periods_are_listed_unless_changed_back() -> None:
    def change(at_ns: int, name: str, first: str, second: str) -> ChangedSetting:
        return ChangedSetting(at_ns=at_ns, name=name, first=first, second=second)

    changes = [
        change(5, "jit", "on", "off"),
        change(20, "work_mem", "4096kB", "8192kB"),
        change(30, "jit", "off", "on"),
        change(40, "work_mem", "8192kB", "65536kB"),
        change(50, "jit", "on", "off"),
        change(99, "fsync", "on", "off"),
    ]
    assert list(changed_within(changes, (10, 60))) == [SettingChange("work_mem", "4MB", "64MB", 40)]
    assert [one.name for one in changed_within(changes, (0, 40))] == ["work_mem"]
    assert not list(changed_within(changes, (60, 98)))
