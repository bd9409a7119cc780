"""Counts of a few transactions decide nothing that they cannot tell; equal values are judged."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.secondary import scaled_interval
from pgassay.analysis.model import Analysis, Comparison, StepMeasures, TrialMeasures, Verdict
from pgassay.analysis.verdicts.run_caveats import run_caveats
from pgassay.notes import Note
from pgassay.plan import risks
from pgassay.plan.model import Plan
from pgassay.plan.steps import at_load
from pgassay.quantities import LoadUnit
from support.notes import values_in
from support.synthetic.designs import plan_of_levels

SECONDS = 60.0
ROOM = "analysis/verdicts/"


def part_of(count: int, duration_s: float | None, clients: float = 1.0) -> StepMeasures:
    values = {"tps": count / SECONDS}
    by_duration = None if duration_s is None else clients / duration_s
    return StepMeasures(
        None, 0, round(1e9 * SECONDS), count, values, clients=clients, tps_by_duration=by_duration
    )


def analysis_of(plan: Plan, first: list[StepMeasures], second: list[StepMeasures]) -> Analysis:
    """Block by block, the parts of both arms over and over."""
    own = {"a1": first, "a2": second}
    return Analysis(answer_of("?", plan, [
        TrialMeasures(t.number, t.block, t.position, t.arm, part, (), ())
        for t in plan.trials
        for part in [own[t.arm][(t.block - 1) % len(own[t.arm])]]
    ]))  # fmt: skip


def verdict_of(first: list[StepMeasures], second: list[StepMeasures]) -> Comparison:
    (found,) = analysis_of(plan_of_levels(), first, second).answer.verdicts()
    return found


def test_equal_counts_hide_no_difference_that_durations_show() -> None:
    found = verdict_of([part_of(12, 4.9)], [part_of(12, 4.8)])
    assert found.verdict is Verdict.UNDECIDED, "12 against 12, and yet 2.1 % faster"
    assert found.effect_pct == 0.0
    assert found.ci95_pct == pytest.approx((0.0, 100 * (4.9 / 4.8 - 1)), abs=1e-6)
    assert found.by_duration is not None
    assert found.by_duration.effect_pct == pytest.approx(100 * (4.9 / 4.8 - 1))


def test_equal_counts_of_equal_durations_are_equivalent() -> None:
    durations = [4.900, 4.905, 4.899, 4.903]
    parts = [part_of(12, one) for one in durations]
    assert verdict_of(parts, parts).verdict is Verdict.EQUIVALENT


@pytest.mark.parametrize("durations", [(3.0, 6.0), (None, None)])
@pytest.mark.parametrize("times", [1, 60])
def test_twice_as_many_in_every_trial_are_better(
    durations: tuple[float | None, float | None], times: int
) -> None:
    fast, slow = (None if one is None else one / times for one in durations)
    found = verdict_of([part_of(10 * times, slow)], [part_of(20 * times, fast)])
    assert found.verdict is Verdict.BETTER
    assert found.effect_pct == pytest.approx(100.0)


@pytest.mark.parametrize("clients", [0.0, 1.0, 4.0])
def test_without_durations_a_count_is_off_by_one_of_each_client_at_most(clients: float) -> None:
    each = max(1.0, clients)
    found = verdict_of([part_of(12, None, clients)], [part_of(12, None, clients)])
    assert found.verdict is Verdict.UNDECIDED
    reach = 2 * math.log1p(each / 12)
    assert found.ci95_pct == pytest.approx((100 * math.expm1(-reach), 100 * math.expm1(reach)))


def test_many_transactions_that_vary_are_judged_by_their_counts_alone() -> None:
    first = [part_of(6000 + n, 60 / (6000 + n)) for n in (0, 9, 4, 7)]
    second = [part_of(6600 + n, 60 / (6600 + n)) for n in (3, 5, 8, 1)]
    found = verdict_of(first, second)
    assert found.by_duration is None
    assert found.resolution == 0.0
    assert found.verdict is Verdict.BETTER


def test_rounding_gives_no_interval_and_no_p() -> None:
    """Values without a count that differ by the last digit."""
    near = (0.2, math.nextafter(0.2, 1.0), math.nextafter(0.2, 0.0))
    parts = [replace(part_of(0, None), values={"tps": one}) for one in near]
    found = verdict_of(parts, parts)
    assert found.ci95_pct is None
    assert found.p_t is None


def test_equal_quantiles_differ_by_a_bucket_at_most() -> None:
    part = replace(part_of(12, 4.9), values={"tps": 0.2, "latency_p99": 4900.0})
    (found,) = [
        one
        for one in analysis_of(plan_of_levels(), [part], [part]).answer.comparisons
        if one.metric == "latency_p99"
    ]
    assert found.verdict is Verdict.EQUIVALENT
    assert found.ci95_pct == pytest.approx((-0.8, 0.8), abs=0.01)


def test_any_other_level_of_error_has_an_interval_over_both_as_well() -> None:
    first = [part_of(12, 4.9), part_of(13, 4.7), part_of(12, 4.8)]
    second = [part_of(12, 4.6), part_of(13, 4.5), part_of(14, 4.4)]
    found = verdict_of(first, second)
    assert found.ci95_pct is not None
    wide, narrow = (scaled_interval(found, critical) for critical in (4.0, 1.0))
    assert wide is not None
    assert narrow is not None
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    assert found.by_duration is not None
    by_duration = math.log1p((found.by_duration.effect_pct or 0.0) / 100)
    assert narrow[0] < by_duration < narrow[1]


def test_a_run_of_a_dozen_transactions_says_why_it_is_undecided() -> None:
    analysis = analysis_of(plan_of_levels(), [part_of(12, 4.9)], [part_of(12, 4.8)])
    (caveat,) = [one for one in analysis.warnings if one.kind == "few-transactions"]
    said = values_in(caveat.note)[f"{ROOM}by-durations-of"]
    assert said == {
        "factor": analysis.answer.comparisons[0].factor,
        "level": analysis.answer.comparisons[0].level,
        "at": "",
        "effect": pytest.approx(2.1, abs=0.05),
    }


def test_one_caveat_names_all_loads() -> None:
    whole = verdict_of([part_of(12, 4.9)], [part_of(12, 4.8)])
    loads = [replace(whole, step=load) for load in (2.0, 8.0)]
    caveats = run_caveats(plan_of_levels(), (), loads, 0)
    (found,) = [one for one in caveats if one.kind == "few-transactions"]
    each = found.note.values["each"]
    assert isinstance(each, tuple)
    loads_named = [one.values["at"] for one in each if isinstance(one, Note)]
    assert loads_named == [at_load(load, LoadUnit.CLIENTS) for load in (2.0, 8.0)]


def test_the_risk_of_ending_undecided_is_no_caveat_of_a_run_that_decided() -> None:
    plan = replace(plan_of_levels(), notes=(Note(risks.NO_EQUIVALENCE),))
    one = verdict_of([part_of(12, 4.9)], [part_of(12, 4.8)])

    def codes(verdict: Verdict) -> list[str]:
        caveats = run_caveats(plan, (), [replace(one, verdict=verdict)], 0)
        return [each.note.code for each in caveats]

    assert risks.NO_EQUIVALENCE in codes(Verdict.UNDECIDED)
    assert risks.NO_EQUIVALENCE not in codes(Verdict.BETTER)
