"""The plan is a randomised complete block design, the same for the same seed."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.notes import Note
from pgassay.plan.model import Plan
from pgassay.plan.risks import NO_CHECKPOINTS
from pgassay.plan.store import plan_from_json, plan_to_json
from support.synthetic.designs import plan_of_factors, plan_of_spec

LEVELS = {
    "max_wal_size": ["1GB", "2GB", "3GB", "4GB"],
    "commit_delay": ["0", "10", "20"],
    "full_page_writes": ["on", "off"],
}


def plan_of(factors: dict[str, int], *, seed: int, blocks: int = 6, more: str = "") -> Plan:
    levels = {name: LEVELS[name][:count] for name, count in factors.items()}
    return plan_of_factors(levels, seed=seed, least=blocks, design=more)


designs = st.fixed_dictionaries(
    {}, optional={name: st.integers(2, len(levels)) for name, levels in LEVELS.items()}
)


@given(designs, st.integers(0, 2**62), st.integers(2, 30))
def test_every_arm_is_once_in_every_block(factors: dict[str, int], seed: int, blocks: int) -> None:
    plan = plan_of(factors, seed=seed, blocks=blocks)
    every = sorted(arm.id for arm in plan.arms)
    for block in range(1, blocks + 1):
        trials = plan.block(block)
        assert sorted(trial.arm for trial in trials) == every
        assert [trial.position for trial in trials] == list(range(1, len(every) + 1))
    assert [trial.number for trial in plan.trials] == list(range(1, len(plan.trials) + 1))


@given(designs, st.integers(0, 2**62))
def test_the_same_seed_gives_the_same_plan_and_survives_storage(
    factors: dict[str, int], seed: int
) -> None:
    plan = plan_of(factors, seed=seed)
    assert plan == plan_of(factors, seed=seed)
    assert plan_from_json(json.loads(json.dumps(plan_to_json(plan)))) == plan


def test_shuffled_steps_have_one_order_per_block() -> None:
    more = "[load]\nclients = '1..9 lin 9'\norder = 'shuffled'"
    plan = plan_of({"max_wal_size": 2}, seed=4, blocks=20, more=more)
    orders = [tuple(s.clients for s in plan.steps_in(block)[1:]) for block in range(1, 21)]
    assert all(sorted(order) == list(range(1, 10)) for order in orders)
    assert len(set(orders)) == 20
    assert plan.steps_in(3) == plan.steps_in(3)
    assert plan.steps_in(3)[0].clients == orders[2][0], "the warm-up is at the first step's level"
    assert (
        plan_from_json(json.loads(json.dumps(plan_to_json(plan)))).steps_in(3)[1:]
        == (plan.steps_in(3)[1:])
    )
    ordered = plan_of({"max_wal_size": 2}, seed=4, more="[load]\nclients = [3, 1]")
    assert ordered.steps_in(1) == ordered.steps


def test_every_block_has_a_new_random_order() -> None:
    plan = plan_of({"max_wal_size": 2}, seed=3, blocks=200)
    first = [plan.block(block)[0].arm for block in range(1, 201)]
    assert 70 < first.count("a1") < 130
    assert any(a == b for a, b in itertools.pairwise(first))


def test_a_seed_gives_the_same_order_in_every_version() -> None:
    plan = plan_of({"max_wal_size": 3}, seed=1, blocks=2)
    assert [trial.arm for trial in plan.trials] == ["a3", "a2", "a1", "a2", "a1", "a3"]


def test_arms_of_a_block_share_their_loads_seed_and_blocks_do_not() -> None:
    plan = plan_of({}, seed=5, blocks=3)
    assert len({plan.trial_seed(block) for block in (1, 2, 3)}) == 3


@pytest.mark.parametrize(
    ("more", "risk"),
    [
        ("[load]\nstep = '2s'", "plan/short-steps"),
        ("[load]\nclients = [2, 4]", "plan/ordered-steps"),
        ("[load]\nclients = [2, 4]\norder = 'shuffled'", ""),
        ("[settings.postgres]\ncheckpoint_timeout = '5min'", NO_CHECKPOINTS),
        ("[settings.postgres]\ncheckpoint_timeout = '1min'", ""),
        ("", ""),
    ],
)
def test_risks_are_reported_only_where_there_are_any(more: str, risk: str) -> None:
    found = [one.code for one in plan_of({"max_wal_size": 2}, seed=1, more=more).notes]
    assert (risk in found) if risk else found == []


def test_a_checkpoint_interval_that_does_not_fit_the_trial_is_a_risk() -> None:
    text = "[factors.postgres]\ncheckpoint_timeout = ['1min', '15min']\n[load]\nstep = '{}'"
    risks = [plan_of_spec(text.format(step)).notes for step in ("10min", "15min")]
    (risk,) = risks[0]
    assert (risk.code, risk.values["lengths_s"]) == ("plan/checkpoint-phase", (900,))
    assert risk.values["fitting"] == Note("plan/whole-cycles", {"common": 900})
    assert risks[1] == ()


@pytest.mark.parametrize(
    ("levels", "step", "fitting"),
    [
        # The steps together are whole cycles; each of them is a third of one.
        (("5min", "30min"), "10min", Note("plan/whole-cycles", {"common": 1800})),
        (("5min", "30min"), "30min", None),
        (("4min", "6min"), "6min", Note("plan/whole-cycles", {"common": 720})),
        (("7min", "11min"), "10min", Note("plan/several-cycles", {"several": 1980, "cycles": 3})),
        (("7min", "11min"), "33min", None),
    ],
)
def test_each_step_that_is_compared_must_fit_the_checkpoint_interval(
    levels: tuple[str, ...], step: str, fitting: Note | None
) -> None:
    text = f"""
        [factors.postgres]
        checkpoint_timeout = {json.dumps(levels)}
        [load]
        clients = [5, 8, 12]
        order = "shuffled"
        step = "{step}"
    """
    risks = plan_of_spec(text).notes
    found = [one.values["fitting"] for one in risks if one.code == "plan/checkpoint-phase"]
    assert found == ([fitting] if fitting else [])


def test_a_plan_of_fewer_than_four_blocks_says_that_it_gives_no_verdict() -> None:
    (note,) = plan_of({"max_wal_size": 2}, seed=1, blocks=3).notes
    assert note == Note("plan/no-verdict", {"max_blocks": 3, "enough": 6})
    four = plan_of({"max_wal_size": 2}, seed=1, blocks=4).notes
    assert "plan/no-verdict" not in [one.code for one in four]
