"""Verdicts of whole trials are not wrong more often than they say: the small form of
`make validate`."""

from __future__ import annotations

import numpy as np
import pytest
from bench.tables import Aim, rate
from bench.validate.whole_trials.false_positives import (
    GROUP,
    MARGIN,
    PART,
    RULES,
    SEQUENTIAL,
    STARTING,
    Rule,
    conclude,
    judge,
    make_design,
    make_trials,
    tasks,
)
from bench.validate.whole_trials.trial_worlds import BASE, WORLDS, World, log_throughput
from scipy import stats

from pgassay.analysis.model import Verdict

pytestmark = pytest.mark.slow

# Seeded, so the same every time; the bound is what one honest part in ten thousand passes.
BOUND = stats.binom.ppf(1 - 1e-4, PART, 0.05)
EIGHT = RULES[1]
HARD = [world for world in WORLDS if world.levels in (2, 4) and world.name != BASE.name][::3]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_no_rule_is_wrong_more_often_than_it_says(rule: Rule) -> None:
    found = judge(BASE, [rule], (0.0, MARGIN), 0)
    none, margin = (found[BASE.name, rule.name, effect] for effect in (0.0, MARGIN))
    assert none["runs"] == PART
    assert none["different"] <= BOUND
    assert margin["same"] <= BOUND
    for tally in (none, margin):
        assert PART - tally["holds"] <= BOUND
    assert rule.least <= none["blocks"] / PART <= rule.most


@pytest.mark.parametrize("world", HARD, ids=lambda world: world.name)
def test_nor_in_other_worlds(world: World) -> None:
    found = judge(world, [EIGHT, SEQUENTIAL], (0.0,), 0)
    assert max(tally["different"] for tally in found.values()) <= BOUND


def test_an_effect_of_5_percent_is_found_early() -> None:
    found = judge(BASE, [SEQUENTIAL, GROUP], (0.05,), 0)
    for (_, rule, _), tally in found.items():
        assert tally["meaningful"] >= 0.95 * PART
        assert tally["blocks"] <= (8 if rule == SEQUENTIAL.name else 12) * PART


def test_a_run_asks_for_no_trial_after_its_end() -> None:
    plan = make_design(6, 24, 1)
    throughput = 0.001 * np.random.default_rng(1).standard_normal(48)
    trials = make_trials(plan, BASE, 0.3, throughput)
    assert conclude(plan, trials) == (Verdict.BETTER, 6)
    assert next(trials).block == 7  # one of them was looked at: it tells that block 6 is whole


def test_a_world_is_what_it_says() -> None:
    source = np.random.default_rng(2)
    steady = World("nothing but starts", start=0.02, drift_per_h=0.0, memory=0.0)
    values = log_throughput(steady, 4000, source)
    assert values.std() == pytest.approx(0.02, rel=0.05)
    # Of a memory of 0.95: √(0.03² · 39 / 600) is 0.76 %.
    inert = log_throughput(World("inert", start=0.0), 2000, source)
    assert inert.std() == pytest.approx(0.0076, rel=0.1)
    lost = log_throughput(World("lost", lost=0.1), 4000, source)
    assert np.isnan(lost).mean() == pytest.approx(0.1, abs=0.02)


def test_the_whole_form_has_as_many_experiments_as_it_says() -> None:
    every = tasks(1000)
    assert len(set(every)) == len(every)
    assert len(every) == 1000 // PART * (len(STARTING[0]) + len(WORLDS))


def test_a_rate_is_marked_as_missed_only_where_its_interval_excludes_the_aim() -> None:
    aim = Aim(3.6, 6.4)
    assert "missed" not in rate(50, 1000, aim)
    assert "missed" not in rate(75, 1000, aim)
    assert rate(100, 1000, aim).endswith("**missed**")
    assert rate(10, 1000, aim).endswith("**missed**")
    assert rate(0, 0) == "–"
