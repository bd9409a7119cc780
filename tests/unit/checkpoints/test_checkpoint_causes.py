"""The time lost after checkpoints is split by wait and by cause, in trials whose cause is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pgassay.analysis.curves.checkpoints.causes import checkpoint_causes
from pgassay.analysis.curves.checkpoints.model import CheckpointCauses
from pgassay.analysis.curves.checkpoints.profiles import checkpoint_rows
from support.synthetic.courses import plan_with
from support.synthetic.dips import Cause, trial_with_dips, trials_of_plan


def causes_of(cause: Cause, blocks: int = 6, **options: float) -> CheckpointCauses:
    plan = plan_with(levels=("off",), blocks=blocks)
    (found,) = checkpoint_causes(plan, trials_of_plan(plan, [cause], **options))
    return found


def shares(found: CheckpointCauses) -> dict[str, float]:
    return {one.name: one.share_pct or 0.0 for one in found.causes}


def seen(found: CheckpointCauses) -> set[str]:
    return {one.name for one in found.signs if one.seen == one.trials}


@pytest.mark.parametrize(
    ("cause", "share", "signs"),
    [
        ("images", {"images": 100.0}, {"images_jump", "images_decay", "images_cost"}),
        (
            "writeback",
            {"writeback": 100.0},
            {"writeback_flat", "writeback_checkpointer", "writeback_disk", "writeback_pressure"},
        ),
    ],
)
def test_the_lost_time_is_given_to_the_cause_that_made_it(
    cause: Cause, share: dict[str, float], signs: set[str]
) -> None:
    found = causes_of(cause)
    expected = {"images": 0.0, "writeback": 0.0, "wal_locks": 0.0, "rest": 0.0, **share}
    assert shares(found) == pytest.approx(expected, abs=8.0)
    assert signs <= seen(found)


def test_two_causes_share_the_lost_time_as_they_made_it() -> None:
    found = causes_of("both", noise=0.01)
    # Transactions in the window after a checkpoint, each with the extra time of its second.
    course = trial_with_dips("both", noise=0.0)
    inside = slice(30, 60)
    of_images = course.signals["full_page_images"][inside] / 0.8 * 6.0
    of_writeback = course.signals["checkpointer_io"][inside] * course.transactions[inside] * 6.0
    truth = 100.0 * of_images.sum() / (of_images.sum() + of_writeback.sum())
    assert shares(found)["images"] == pytest.approx(truth, abs=6.0)
    assert shares(found)["writeback"] == pytest.approx(100.0 - truth, abs=6.0)


def test_waits_and_causes_both_sum_to_the_whole() -> None:
    found = causes_of("both")
    for parts in (found.groups, found.causes):
        total = sum(one.extra_s.value for one in parts)
        assert total == pytest.approx(found.whole.extra_s.value)


def test_without_a_loss_no_share_is_given() -> None:
    found = causes_of("none")
    assert {one.share_pct for one in (*found.groups, *found.causes)} == {None}
    assert not seen(found) & {"images_jump", "images_cost", "writeback_checkpointer"}


def test_intervals_hold_the_true_share_in_nearly_all_simulated_runs() -> None:
    plan = plan_with(levels=("off",), blocks=4)
    held = 0
    for run in range(40):
        courses = [
            replace(trial_with_dips("images", 100 * run + one.number, noise=0.1), block=one.block)
            for one in plan.trials
        ]
        (found,) = checkpoint_causes(plan, courses)
        whole = found.whole.extra_s
        assert whole.low is not None
        low, high = found.causes[0].share_ci95_pct or (np.nan, np.nan)
        held += low <= 100.0 <= high
    assert held >= 34


def test_sessions_that_were_not_sampled_have_no_causes() -> None:
    plan = plan_with(levels=("off",))
    courses = [replace(one, signals={}) for one in trials_of_plan(plan, ["images"])]
    assert checkpoint_causes(plan, courses) == ()


def test_each_checkpoint_is_described_with_its_own_dip() -> None:
    first, second = checkpoint_rows([trial_with_dips("images", noise=0.0)])
    own = first.checkpoint
    assert (first.trial, first.arm, own.started_s, own.cause) == (1, "a1", 30.0, "time")
    assert (own.buffers, own.write_s, own.sync_s, own.distance_kb) == (20000, 12.0, 0.5, 99000)
    assert first.depth_pct == pytest.approx(46.0, abs=5.0)
    assert first.recovered_s == pytest.approx(15.0, abs=4.0)
    assert first.lost_transactions == pytest.approx(second.lost_transactions, rel=0.2)
    assert (first.followed_s, second.followed_s) == (30.0, 30.0)


def test_checkpoints_too_close_together_have_no_dip_of_their_own() -> None:
    course = trial_with_dips("images")
    crowded = [replace(course.checkpoints[0], started_s=at) for at in (30.0, 31.0, 32.0)]
    rows = checkpoint_rows([replace(course, checkpoints=tuple(crowded))])
    assert [row.depth_pct is None for row in rows] == [True, True, True]
