"""What a report says of modes, and of the mean that hides them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.analysis.curves.modes.model import LatencyMode, LatencyModes, ModeContrast, ModeWait
from pgassay.analysis.measures.model import ArmSignals, TrialSignals
from pgassay.analysis.statistics.values import Estimate
from pgassay.findings.model import Confidence, Finding, FindingKind
from pgassay.findings.registry import find
from pgassay.notes import Note
from pgassay.report.context import ReportContext
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from support.notes import codes_in, values_in
from support.synthetic.analyses import changed
from support.synthetic.report_contexts import synthetic_context

ALWAYS = Estimate(100.0, None, None)
FAST = LatencyMode(
    Estimate(1.0, 0.9, 1.1), None, Estimate(80, 78, 82), Estimate(40, 38, 42), None
)  # fmt: skip
SLOW = LatencyMode(
    Estimate(4.0, 3.9, 4.1), Estimate(2.0, 1.9, 2.1), Estimate(20, 18, 22), Estimate(60, 58, 62),
    Estimate(8, 5, 11), (ModeWait("LWLock:WALWrite", Estimate(60, 50, 70), 20.0),),
)  # fmt: skip
TWO = LatencyModes(
    "a1", "payment", None, 6, 60_000, Estimate(2.0, 1.9, 2.1), Estimate(3.0, 2.0, 4.0),
    (FAST, SLOW), 0.1, ((0.5, 0.1), (1.0, 10.0), (2.0, 0.5), (4.0, 2.0), (8.0, 0.1)), None,
)  # fmt: skip
ONE = replace(TWO, arm="a2", modes=(replace(FAST, share_pct=ALWAYS, time_pct=ALWAYS),))
FEWER = ModeContrast(
    "max_wal_size", "32MB", "4GB", "payment", "a1", 2.0, 6, 20.0, 5.0, Estimate(-15, -18, -12)
)
RULE, QUEUES = "findings/behaviour/modes", "findings/behaviour/mode_queues"
TITLE = "Modes of latency"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    return synthetic_context(tmp_path_factory.mktemp("run"))


def shown(plain: ReportContext, *modes: LatencyModes, **more: object) -> ReportContext:
    analysis = changed(plain.analysis, latency_modes=modes, **more)
    return replace(plain, analysis=analysis, findings=find(analysis, plain.facts))


def claims(context: ReportContext) -> list[Note | str]:
    return [one.claim for one in context.findings if one.rule == "modes"]


def diagnosis_of(context: ReportContext) -> Finding:
    (found,) = context.of_kind(FindingKind.DIAGNOSIS)
    return found


def test_a_slow_mode_is_told_with_its_share_its_time_its_wait_and_what_the_mean_hides(
    plain: ReportContext,
) -> None:
    found = shown(plain, TWO, ONE)
    (claim,) = claims(found)
    assert codes_in(claim)[1:] == [
        *(f"{RULE}/{code}" for code in ("many", "named", "fastest")),
        *("findings/latency", f"{RULE}/slower", "findings/latency", "findings/latency"),
        *(f"{RULE}/interval", f"{RULE}/mean", "findings/latency"),
        *(f"{RULE}/stands_out", "findings/latency", f"{RULE}/checkpoint"),
    ]
    assert found.sentences("modes") == (
        "Latency of payment (max_wal_size = 32MB) has 2 modes, the same in 6 trials: around 1.00 ms"
        " (80 % of the transactions, 40 % of their time) and around 4.00 ms, from 2.00 ms on (20 %,"
        " 95 % CI 18 to 22, of the transactions, 60 % of their time). The mean, 2.00 ms, is a"
        " latency that hardly any of them has: 3.0 % take within a tenth of it. Sessions sampled in"
        " a transaction that was already older than 2.00 ms were in LWLock:WALWrite in 60 % (50 to"
        " 70 %) of the samples, in other transactions in 20 %. While a checkpoint ran, 8.0 points"
        " more of the transactions were in it (5.0 to 11); this is an association.",
    )


def test_a_wait_as_frequent_in_other_transactions_is_not_said_to_stand_out(
    plain: ReportContext,
) -> None:
    wait = ModeWait("Client:ClientRead", Estimate(60, 50, 70), 58.0)
    slow = replace(SLOW, waits=(wait,), at_checkpoints_points=Estimate(1, -3, 5))
    (claim,) = claims(shown(plain, replace(TWO, modes=(FAST, slow)), ONE))
    assert {f"{RULE}/no_wait", f"{RULE}/client"} < set(codes_in(claim))
    assert f"{RULE}/checkpoint" not in codes_in(claim)


def test_modes_without_a_clear_difference_are_supported_and_a_clear_one_is_confirmed(
    plain: ReportContext,
) -> None:
    alone = diagnosis_of(shown(plain, TWO, ONE))
    assert alone.title == Note.of(f"{RULE}/diagnosis.title", scenario="payment", count=2)
    assert alone.confidence is Confidence.SUPPORTED
    assert values_in(alone.confirm)[f"{RULE}/diagnosis.confirm"]["share"] == 20
    changed = diagnosis_of(shown(plain, TWO, ONE, mode_contrasts=(FEWER,)))
    title = values_in(changed.title)[f"{RULE}/diagnosis.changed"]
    assert (title["subject"], title["direction"]) == ("max_wal_size = 4GB", "fewer")
    assert changed.confidence is Confidence.CONFIRMED
    said = values_in(changed.claim)
    assert f"{RULE}/diagnosis.scope" in said
    contrast = said[f"{RULE}/contrast"]
    assert [contrast[name] for name in ("level_pct", "baseline_pct", "points")] == [5, 20, -15]
    unclear = replace(FEWER, points=Estimate(-15, -31, 1))
    assert diagnosis_of(shown(plain, TWO, ONE, mode_contrasts=(unclear,))).title == alone.title


@pytest.mark.parametrize(
    ("second_peak_ms", "says"), [(4.2, f"{QUEUES}/same"), (40.0, f"{QUEUES}/other")]
)
def test_sessions_queued_for_a_processor_make_the_scheduler_likely(
    plain: ReportContext, second_peak_ms: float, says: str
) -> None:
    """0.5 sessions queued, 1 000 transactions a second of 2 ms: a quarter of their time."""

    def queued(ns_per_s: float) -> tuple[ArmSignals, ...]:
        values = {("processes", "client backend", "queue_ns"): ns_per_s}
        numbers = [one.number for one in plain.analysis.answer.trials if one.arm == "a1"]
        trials = tuple(TrialSignals(n, n, "a1", 10.0, 10_000, values) for n in numbers)
        return (ArmSignals("a1", trials),)

    trials = tuple(
        replace(one, whole=replace(one.whole, values={"latency_mean": 2.0}))
        for one in plain.analysis.answer.trials
    )
    other = replace(
        TWO, arm="a2", modes=(FAST, replace(SLOW, peak_ms=Estimate(second_peak_ms, None, None)))
    )
    found = shown(plain, TWO, other, trials=trials, signals=queued(0.5e9))
    assert values_in(claims(found)[-1])[f"{QUEUES}/queued"]["share"] == pytest.approx(25.0)
    diagnosis = diagnosis_of(found)
    assert says in codes_in(diagnosis.claim)
    assert f"{QUEUES}/confirm" in codes_in(diagnosis.confirm)
    few = shown(plain, TWO, other, trials=trials, signals=queued(0.1e9))
    codes = {*codes_in(tuple(claims(few))), *codes_in(diagnosis_of(few).confirm)}
    assert not any(code.startswith(QUEUES) for code in codes)


def test_a_slow_mode_that_holds_little_time_is_in_the_table_only(plain: ReportContext) -> None:
    rare = replace(SLOW, share_pct=Estimate(1, 0.9, 1.1), time_pct=Estimate(4, 3, 5))
    context = shown(plain, replace(TWO, modes=(FAST, rare)), ONE)
    assert context.sentences("modes") == ()
    assert not context.of_kind(FindingKind.DIAGNOSIS)
    assert "4.00 ms (3.90 to 4.10)" in render_html(context)


def test_single_modes_are_said_in_one_sentence(plain: ReportContext) -> None:
    assert claims(shown(plain, replace(ONE, arm="a1"), ONE)) == [Note(f"{RULE}/one")]


def test_scenarios_of_too_few_transactions_show_no_section(plain: ReportContext) -> None:
    refused = replace(
        ONE, refused=Note("analysis/curves/few-transactions", {"each": 40.0, "least": 100})
    )
    context = shown(plain, refused, replace(ONE, scenario=""))
    assert TITLE not in render_html(context)
    assert not context.sentences("modes")


def test_the_page_draws_the_densities_and_lists_modes_mixture_and_differences(
    plain: ReportContext, tmp_path: Path
) -> None:
    everything = replace(TWO, scenario="", modes=(replace(FAST, scenarios=(("payment", 70.0),)),))
    context = shown(plain, TWO, ONE, everything, mode_contrasts=(FEWER,))
    page, text = render_html(context), render_markdown(context)
    assert 'data-chart="modes"' in page
    assert "payment 70 %" in page
    assert "−18 to −12" in page
    assert "| payment | max_wal_size = 32MB | 4.00 ms (3.90 to 4.10) |" in text
    assert TITLE in text
