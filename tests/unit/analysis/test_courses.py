"""The course of a trial: change points, trends, warm-up, checkpoints, on known and real series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from bench.validate.within_trials.courses import Array, course_of
from scipy import optimize, stats

from pgassay.analysis.curves.checkpoints.effect import checkpoint_effects
from pgassay.analysis.curves.model import CheckpointEffect, Steadiness, StepSteadiness
from pgassay.analysis.curves.steadiness import mser5, steadiness_caveats, step_courses
from pgassay.analysis.statistics import trend
from pgassay.analysis.statistics.change_points import (
    change_points,
    long_run_variance,
    two_parts,
    without_spikes,
)
from pgassay.notes import Note
from support.synthetic.courses import noise_of, plan_with, recorded_tps

SECONDS = np.arange(300)


CHANGED = Note("analysis/curves/drifted", {"over_step_pct": 9.0})


def source() -> np.random.Generator:
    return np.random.default_rng(1)


def judged(tps: Array, **options: Sequence[float]) -> StepSteadiness:
    (found,) = step_courses([course_of(tps, checkpoints_s=options.get("checkpoints_s", ()))], 0.02)
    return found


def effect_of(trials: Sequence[Array], starts: Sequence[float]) -> CheckpointEffect:
    courses = [course_of(t, number=i + 1, checkpoints_s=starts) for i, t in enumerate(trials)]
    (found,), _ = checkpoint_effects(plan_with(levels=("off",)), courses)
    return found


def dipping(depth: float, starts: Sequence[float], n: int = 120) -> Array:
    """Down by `depth` for four seconds after each start, made good at once."""
    found = np.full(n, 1000.0)
    for start in starts:
        found[int(start) : int(start) + 4] *= 1 - depth
    return found


def test_the_long_run_variance_of_an_autoregression_is_found_with_and_without_a_shift() -> None:
    noise = noise_of(source(), 20_000, 0.5)
    assert long_run_variance(noise) == pytest.approx(3.0, rel=0.15)
    shifted = noise + 5 * (np.arange(20_000) > 9000)
    assert long_run_variance(shifted) == pytest.approx(3.0, rel=0.2)


def test_the_fit_of_two_parts_is_that_of_scipy() -> None:
    source, lags = np.random.default_rng(8), np.arange(1, 21)
    for correlation in (0.0, 0.4, 0.9, 0.98):
        shape = np.asarray(1.0 - correlation**lags, np.float64)
        values = np.abs(source.normal(size=20)) + source.normal() * lags / 10.0
        root = 1.0 / np.sqrt(lags)
        design = np.column_stack([shape, np.ones(20)]) * root[:, None]
        _, misfit = optimize.nnls(design, values * root)
        square, slow, fast = two_parts(shape, values, 1.0 / lags)
        assert math.sqrt(square) == pytest.approx(misfit)
        assert min(slow, fast) >= 0.0


def test_a_shift_is_found_at_its_place_and_autocorrelation_is_no_shift() -> None:
    noise = 3 * noise_of(source(), 300, 0.8)
    assert change_points(1000 + noise) == []
    (place,) = change_points(1000 + noise + 20 * (SECONDS >= 170))
    assert place == pytest.approx(170, abs=3)


def test_stationary_series_rarely_show_a_change() -> None:
    draw = source()
    for correlation in (0.0, 0.9):
        found = sum(bool(change_points(noise_of(draw, 300, correlation))) for _ in range(60))
        assert stats.binomtest(found, 60, 0.1, alternative="greater").pvalue > 0.01


def test_a_single_stall_is_no_new_level() -> None:
    noise = 1000 + source().standard_normal(300)
    noise[150] = 0.0
    assert change_points(noise) == []
    assert without_spikes(noise)[150] == pytest.approx(1000, abs=10)
    assert change_points(np.ones(300)) == []
    assert change_points(np.arange(5.0)) == []


def test_the_slope_is_that_of_scipy() -> None:
    values = 5 + 0.3 * np.arange(40) + source().standard_normal(40)
    known = stats.theilslopes(values)
    found = trend.drift(values)
    assert found is not None
    assert found.total == pytest.approx(40 * known.slope)
    assert found.low < 40 * 0.3 < found.high
    assert trend.drift(np.ones(40)) is None
    spike = np.full(200, 5000.1)
    spike[70] = 12.0
    assert trend.drift(spike) is None
    assert trend.drift(np.arange(5.0)) is None


def test_reversing_a_series_reverses_its_slope() -> None:
    values = 5 + 0.3 * np.arange(60) + source().standard_normal(60)
    there, back = trend.drift(values), trend.drift(values[::-1])
    assert there is not None
    assert back is not None
    assert there.total == pytest.approx(-back.total)
    scaled = trend.drift(10 * values)
    assert scaled is not None
    assert (scaled.low, scaled.high) == pytest.approx((10 * there.low, 10 * there.high))


def test_a_steady_trial_is_steady_and_one_that_falls_late_is_not() -> None:
    noise = np.exp(0.02 * noise_of(source(), 300, 0.5))
    assert judged(1000 * noise).course is Steadiness.STEADY
    fallen = judged(1000 * noise * np.where(SECONDS >= 200, 0.85, 1.0))
    assert fallen.course is Steadiness.UNSTEADY
    assert fallen.cause is not None
    assert fallen.cause.code == "analysis/curves/shifted"
    assert fallen.cause.values["change_pct"] == pytest.approx(-15.0, abs=5.0)
    assert fallen.shifts[-1].at_s == pytest.approx(200, abs=5)


def test_a_warm_up_is_reported_with_its_length() -> None:
    noise = np.exp(0.02 * noise_of(source(), 300, 0.5))
    cold = judged(1000 * noise * (1 - 0.4 * np.exp(-SECONDS / 12)))
    assert cold.course is Steadiness.WARMING
    assert 15 <= cold.warmup_s <= 80
    assert mser5(np.where(SECONDS < 50, 0.0, 1000.0) + noise) == 50


def test_dips_at_every_checkpoint_do_not_make_a_trial_unsteady() -> None:
    starts = [20.0, 80.0, 140.0, 200.0, 260.0]
    shape = np.ones(300)
    for start in starts:
        shape[int(start) : int(start) + 25] = 0.7
    tps = 1000 * shape * np.exp(0.02 * noise_of(source(), 300, 0.5))
    with_cycle = judged(tps, checkpoints_s=starts)
    assert with_cycle.course is Steadiness.STEADY
    assert with_cycle.phase_removed


@pytest.mark.parametrize("cycles", [2, 3, 5])
def test_a_drift_under_checkpoints_keeps_its_size_and_is_no_step_of_theirs(cycles: int) -> None:
    starts = np.arange(cycles + 1) * 590 / cycles
    shape = 1 - 0.3 * np.isin(np.arange(600), np.floor(starts[:, None] + np.arange(20)))
    line = 1 - 0.15 * np.arange(600) / 600
    tps = 1000 * shape * line * np.exp(0.005 * noise_of(source(), 600, 0.3))
    found = judged(tps, checkpoints_s=starts.tolist())
    assert found.phase_removed
    assert found.course is Steadiness.UNSTEADY
    assert found.trend is not None
    assert found.trend.over_step_pct == pytest.approx(-16, abs=1.5)


@pytest.mark.parametrize("tps", [np.full(300, 1000.0), np.zeros(300), np.ones(12)])
def test_a_short_or_constant_trial_is_unknown_with_a_reason(tps: Array) -> None:
    found = judged(tps)
    assert found.course is Steadiness.UNKNOWN
    assert found.why


def test_recorded_series_are_judged_as_a_reader_of_their_charts_would() -> None:
    # Writing: for eight seconds a sixth slower than before and after, which no warm-up explains.
    tps = recorded_tps("simple-update")
    assert tps[30:38].mean() < 0.9 * min(tps[20:30].mean(), tps[38:48].mean())
    writing = judged(tps)
    assert writing.course is Steadiness.UNSTEADY
    assert {28 <= shift.at_s <= 40 and abs(shift.change_pct) > 10 for shift in writing.shifts} >= {
        True
    }
    # Read-only: from 105 000 tps to 113 000 and, from the middle on, down to 94 000. So slow a
    # movement may be inertia: nothing is claimed, and the trend's interval holds what one sees.
    reading = judged(recorded_tps("select-only"))
    assert reading.course is Steadiness.STEADY
    assert reading.trend is not None
    assert reading.trend.ci95_pct is not None
    low, high = reading.trend.ci95_pct
    assert low < 100.0 * (94 / 113 - 1.0) < 0.0 < high


def test_unsteady_trials_give_a_caveat_only_beyond_chance() -> None:
    def steps(courses: Sequence[Steadiness]) -> list[StepSteadiness]:
        return [
            StepSteadiness(i + 1, "a1", 8.0, c, CHANGED, 31.5, (), None, phase_removed=False)
            for i, c in enumerate(courses)
        ]

    plan = plan_with()
    few = steps([Steadiness.UNSTEADY] + [Steadiness.STEADY] * 11)
    assert steadiness_caveats(plan, few) == []
    (many,) = steadiness_caveats(plan, steps([Steadiness.UNSTEADY] * 6 + [Steadiness.STEADY] * 6))
    assert many.kind == "no-steady-state"
    assert many.note.code == "analysis/curves/no-steady-state"
    assert [many.note.values[name] for name in ("number", "of", "trial", "why")] == [
        6, 12, 1, CHANGED,
    ]  # fmt: skip
    (cold,) = steadiness_caveats(plan, steps([Steadiness.WARMING] * 6 + [Steadiness.UNKNOWN] * 6))
    assert cold.kind == "warm-up"
    assert cold.note.values["longest"] == 32


def test_an_arm_that_never_settles_is_named_among_arms_that_do() -> None:
    plan = plan_with(levels=["off", "pglz", "on"])

    def steps(unsteady: Mapping[str, int]) -> list[StepSteadiness]:
        return [
            StepSteadiness(
                i + 1, arm.id, 8.0,
                Steadiness.UNSTEADY if i < unsteady.get(arm.id, 0) else Steadiness.STEADY,
                CHANGED, 0.0, (), None, phase_removed=False,
            )
            for arm in plan.arms
            for i in range(6)
        ]  # fmt: skip

    (told,) = steadiness_caveats(plan, steps({plan.arms[1].id: 6}))
    of_arm = Note("analysis/curves/of-arm", {"label": "wal_compression = pglz"})
    assert [told.note.values[name] for name in ("number", "of", "of_arm")] == [6, 6, of_arm]
    assert steadiness_caveats(plan, steps({plan.arms[1].id: 1})) == []
    (told,) = steadiness_caveats(plan, steps({arm.id: 6 for arm in plan.arms}))
    assert [told.note.values[name] for name in ("number", "of", "of_arm")] == [18, 18, ""]


def test_a_known_dip_is_measured_with_its_cost() -> None:
    starts = [20.0, 50.0, 80.0]
    draw = source()
    trials = [dipping(0.3, starts) * np.exp(0.01 * draw.standard_normal(120)) for _ in range(6)]
    found = effect_of(trials, starts)
    assert found.refused is None
    assert found.checkpoints == 18
    assert found.depth_pct is not None
    assert found.depth_pct.value == pytest.approx(30, abs=1.5)
    assert found.lost_transactions is not None
    assert found.lost_transactions.low is not None
    assert found.lost_transactions.high is not None
    assert found.lost_transactions.low < 4 * 300 < found.lost_transactions.high
    assert found.recovery_s is not None
    assert found.recovery_s.value == pytest.approx(5, abs=1)
    assert found.duration_s is not None
    assert found.duration_s.value == pytest.approx(4, abs=1)
    assert found.band95_pct[found.offset_s.index(1.5)][1] < -20  # type: ignore[index]


def test_full_page_images_after_a_checkpoint_are_counted_beyond_those_before() -> None:
    starts, draw = [20.0, 50.0, 80.0], source()
    pages = np.full(120, 50.0)
    for start in starts:
        pages[int(start) : int(start) + 10] += 400.0
    courses = [
        course_of(
            dipping(0.3, starts),
            number=number,
            checkpoints_s=starts,
            series={"wal wal_fpi": pages * np.exp(0.01 * draw.standard_normal(120))},
        )
        for number in range(1, 7)
    ]
    (found,), _ = checkpoint_effects(plan_with(levels=("off",)), courses)
    assert found.full_page_images is not None
    assert found.full_page_images.value == pytest.approx(4000, rel=0.02)
    assert found.full_page_images.low is not None
    unseen = [replace(courses[0], names=("another",)), *courses[1:]]
    (found,), _ = checkpoint_effects(plan_with(levels=("off",)), unseen)
    assert found.full_page_images is None


def test_scale_and_order_of_trials_do_not_matter() -> None:
    starts = [20.0, 50.0, 80.0]
    draw = source()
    trials = [dipping(0.3, starts) * np.exp(0.02 * draw.standard_normal(120)) for _ in range(6)]
    found = effect_of(trials, starts)
    turned = effect_of([10 * t for t in trials[::-1]], starts)
    assert found.depth_pct is not None
    assert turned.depth_pct is not None
    assert turned.depth_pct.value == pytest.approx(found.depth_pct.value)
    assert turned.profile_pct == pytest.approx(found.profile_pct)
    assert turned.lost_transactions is not None
    assert found.lost_transactions is not None
    assert turned.lost_transactions.value == pytest.approx(10 * found.lost_transactions.value)


def test_noise_has_no_dip() -> None:
    draw = source()
    trials = [1000 * np.exp(0.05 * noise_of(draw, 120, 0.8)) for _ in range(8)]
    found = effect_of(trials, [20.0, 50.0, 80.0])
    assert found.depth_pct is not None
    assert abs(found.depth_pct.value) < 5
    assert found.dip_at_s is None
    assert found.recovery_s is None


def test_too_frequent_checkpoints_and_too_few_trials_are_refused_with_a_reason() -> None:
    trials = [np.full(120, 1000.0) + i for i in range(6)]
    fast = effect_of(trials, [float(at) for at in range(0, 120, 3)])
    assert fast.refused == Note("analysis/curves/close-checkpoints", {"seconds": 3.0})
    few = effect_of(trials[:2], [20.0, 50.0, 80.0])
    assert few.refused is not None
    assert few.refused.values["fewest"] == 3
    late = effect_of(trials, [119.0])
    assert late.refused is not None
    assert (late.refused.values["number"], late.refused.values["of"]) == (0, 6)


def test_a_release_of_ruptures_with_another_layout_finds_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    series = 1000 + 3 * noise_of(source(), 300, 0.8) + 20 * (SECONDS >= 170)
    found = change_points(series)
    monkeypatch.setattr("pgassay.analysis.statistics.change_points._kernel", lambda: None)
    change_points_anew = getattr(change_points, "__wrapped__", change_points)
    assert change_points_anew(series) == found != []


def test_the_window_after_the_only_checkpoint_of_each_trial_is_what_trials_have_room_for() -> None:
    draw = source()
    noise = 0.01 * draw.standard_normal((6, 41))
    trials = [dipping(0.3, [27.0], n=41) * np.exp(own) for own in noise]
    found = effect_of(trials, [27.0])
    assert found.refused is None
    assert found.after_s == 14
    assert found.depth_pct is not None
    assert found.depth_pct.value == pytest.approx(30, abs=1.5)


def test_arms_are_compared_over_blocks() -> None:
    starts = [20.0, 50.0, 80.0]
    draw = source()
    courses = [
        course_of(
            dipping(depth, starts) * np.exp(0.01 * draw.standard_normal(120)),
            number=block,
            arm=arm,
            checkpoints_s=starts,
        )
        for block in range(1, 7)
        for arm, depth in (("a1", 0.1), ("a2", 0.4))
    ]
    _, (contrast,) = checkpoint_effects(plan_with(), courses)
    assert contrast.blocks == 6
    assert contrast.depth_points.value == pytest.approx(30, abs=2)
    assert contrast.lost_transactions.low is not None
    assert contrast.lost_transactions.high is not None
    assert contrast.lost_transactions.low < 1200 < contrast.lost_transactions.high
    assert not math.isnan(contrast.depth_points.value)


def test_arms_whose_checkpoints_come_more_often_are_compared_over_one_window() -> None:
    """What comes 40 s after a checkpoint, where the next one is long over, is no difference."""
    draw = source()

    def trial(cycle: int) -> Array:
        found = dipping(0.5, range(40, 260, cycle), n=300)
        for start in range(80, 260, cycle) if cycle > 60 else ():
            found[start : start + 10] *= 0.7
        return found * np.exp(0.005 * draw.standard_normal(300))

    courses = [
        course_of(
            trial(cycle),
            number=block,
            arm=arm,
            checkpoints_s=[float(s) for s in range(40, 260, cycle)],
        )
        for block in range(1, 9)
        for arm, cycle in (("a1", 20), ("a2", 100))
    ]
    _, (contrast,) = checkpoint_effects(plan_with(), courses)
    low, high = contrast.lost_transactions.low, contrast.lost_transactions.high
    assert low is not None
    assert high is not None
    assert low < 60
    assert high > -60


def test_a_checkpoint_that_comes_early_is_no_part_of_the_one_before() -> None:
    draw = source()
    found = []
    for block in range(1, 9):
        starts = np.floor(np.cumsum(30 * (1 + 0.2 * draw.uniform(-1, 1, 12)))) + 20.0
        tps = dipping(0.5, starts.tolist(), n=460) * np.exp(0.005 * draw.standard_normal(460))
        found.append(course_of(tps, number=block, checkpoints_s=starts.tolist()))
    (effect,), _ = checkpoint_effects(plan_with(levels=("off",)), found)
    lost = effect.lost_transactions
    assert lost is not None
    assert lost.value == pytest.approx(2000, rel=0.05)


def test_one_checkpoint_in_a_short_trial_is_refused_for_the_trials_length() -> None:
    effect = effect_of([np.full(9, 1000.0) + i for i in range(6)], [4.0])
    assert effect.refused == Note("analysis/curves/short-trials")


def test_an_arm_without_checkpoints_does_not_hide_the_contrast_of_the_others() -> None:
    starts = [20.0, 50.0, 80.0]
    courses = [
        course_of(
            dipping(depth, starts if depth else []) * (1 + block / 1000),
            number=block,
            arm=arm,
            checkpoints_s=starts if depth else [],
        )
        for block in range(1, 7)
        for arm, depth in (("a1", 0.2), ("a2", 0.4), ("a3", 0.0))
    ]
    _, contrasts = checkpoint_effects(plan_with(levels=("off", "on", "pglz")), courses)
    assert [contrast.level for contrast in contrasts] == ["on"]


def test_a_trial_without_transactions_has_no_profile() -> None:
    trials = [np.zeros(120)] * 3 + [dipping(0.3, [20.0, 50.0, 80.0])] * 2
    found = effect_of(trials, [20.0, 50.0, 80.0])
    assert found.refused is not None
    assert found.trials == 2
