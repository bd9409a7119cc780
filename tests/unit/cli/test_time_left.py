"""The time left is a range until trials have shown how long they take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgassay.cli.run.fleet_at_work import FleetAtWork
from pgassay.cli.run.time_left import Span, TimeLeft
from pgassay.plan.model import Plan
from support.synthetic.designs import plan_of_spec

SPEC = """
[factors.postgres]
work_mem = ["4MB", "8MB"]
[load]
step = "50s"
warmup = "10s"
[design]
min_blocks = {least}
max_blocks = {most}
"""


def plan_of(least: int, most: int) -> Plan:
    text = SPEC.format(least=least, most=most)
    return replace(plan_of_spec(text), trial_s=70.0)


def test_before_the_first_trial_the_time_of_resets_is_hardly_known() -> None:
    left = TimeLeft(plan_of(4, 4))
    assert left.each() == Span(60.0, 80.0)
    assert left.text(plan_of(4, 4).trials[0], 0, 0.0) == "8 to 11 min left"


def test_after_a_few_trials_it_is_known() -> None:
    plan = plan_of(4, 4)
    left = TimeLeft(plan)
    left.trial_took(100.0)
    assert left.each() == Span(70.0, 100.0)
    for seconds in (100.0, 94.0):
        left.trial_took(seconds)
    assert left.each() == Span(98.0, 98.0)
    assert left.text(plan.trials[4], 4, 30.0) == "6 min left"


def test_a_run_that_may_end_early_says_both_ends() -> None:
    plan = plan_of(4, 24)
    left, last = TimeLeft(plan), plan.last_block
    unknown = left.text(plan.trials[0], 0, 0.0)
    assert unknown == f"8 to {round(2 * last * 80 / 60)} min left (to block 4 at least, 24 at most)"
    for _ in range(3):
        left.trial_took(60.0)
    text = left.text(plan.trials[3], 3, 0.0)
    assert text == f"at least 5 min left (block 4), at most {2 * last - 3} min (block {last})"
    into_the_sixth = left.text(plan.trials[10], 10, 0.0)
    first = next(block for block in range(6, last + 1) if plan.may_stop_after(block))
    assert f"(block {first}), at most" in into_the_sixth
    at_its_end = left.text(plan.trials[7], 7, 60.0)
    assert at_its_end.startswith("block 4 may be the last, at most ")


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (20, 20.4, "20 s"),
        (20, 40, "20 to 40 s"),
        (80, 300, "80 s to 5 min"),
        (7500, 11100, "2 h 05 min to 3 h 05 min"),
    ],
)
def test_a_span_is_as_short_as_it_can_be(low: float, high: float, shown: str) -> None:
    assert str(Span(low, high)) == shown


def test_trials_of_arms_with_a_verdict_are_not_waited_for() -> None:
    text = SPEC.replace('"8MB"', '"8MB", "16MB", "32MB"').format(least=4, most=12)
    plan = replace(plan_of_spec(text), trial_s=60.0)
    following = replace(plan, dropped={"a2": 6, "a3": 6})
    left = TimeLeft(plan)
    for _ in range(3):
        left.trial_took(60.0)
    assert left.until(12, 24, 0.0) == Span(1440.0, 1440.0)
    left.replanned(following)
    assert left.until(12, 24, 0.0) == Span(720.0, 720.0), "six blocks of two trials"
    trial = following.block(8)[1]
    assert trial.number > 28, "numbers of trials that are not run are left out"
    assert left.before(trial) == 27


def test_a_fleet_shares_what_is_left() -> None:
    now = [0.0]
    fleet = FleetAtWork(plan_of(6, 6), lambda: now[0])
    assert fleet.described() == "0 blocks finished"
    fleet.running({"north": 1, "south": 2, "west": 3}, 0)
    assert fleet.described() == "blocks 1 to 3 of 6 on 3 servers"
    assert fleet.left() == "4 to 5 min left", "12 trials of 60 to 80 s, three at a time"
    for server, at in (("north", 60.0), ("south", 61.0), ("west", 119.0)):
        now[0] = at
        fleet.trial_ended(server)
    assert fleet.done == 3
    assert fleet.left() == "3 min left", "nine trials of 80 s, two of which are under way"
    fleet.running({"north": 4, "south": 2}, 1)
    assert (fleet.done, fleet.described()) == (3, "blocks 2 and 4 of 6 on 2 servers")
    fleet.trial_ended("west")
    assert fleet.done == 3, "it was lost meanwhile"
