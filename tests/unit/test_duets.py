"""Duets: what they are valid for, what a trial of one is, and that its verdicts may be trusted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from bench.duet_errors import count, make_design
from bench.switchback_errors import World, make_trials

from pgassay.analysis.analyse import analyse
from pgassay.analysis.measures import measure_trial
from pgassay.errors import SpecError
from pgassay.plan.described import mode_lines, restarts_line
from pgassay.plan.design import make_plan
from pgassay.plan.duets import background
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.plan.store import plan_from_json, plan_to_json
from pgassay.spec.parse import Spec, parse_spec
from pgassay.spec.settings import CATALOGUED, catalogue
from pgassay.target.protocol import ConnectionParameters
from pgassay.trials.grounds import grounds_of
from pgassay.trials.loads import engine_request
from pgassay.trials.processor_times import ProcessorTimes, of_all_servers, split_between
from pgassay.trials.side_by_side import reset_order
from support.synthetic import synthetic_run

VERSIONS = "[factors.target]\nversion = [16, 18]"
SESSION = "[factors.postgres]\nwork_mem = ['1MB', '4MB']"
RESTART = "[factors.postgres]\nmax_connections = [50, 100]"


def spec_of(
    factors: str = VERSIONS, *, load: str = "", design: str = "mode = 'auto'", target: str = ""
) -> Spec:
    text = f"{target}\n{factors}\n[load]\nclients = 3\nstep = '40s'\n{load}\n"
    return parse_spec(f"{text}[design]\nseed = 1\n{design}", source="x.toml", beside=Path())


def planned(factors: str = VERSIONS, *, load: str = "", design: str = "mode = 'auto'") -> Plan:
    return make_plan(spec_of(factors, load=load, design=design))


@pytest.mark.parametrize("factors", [VERSIONS, RESTART, f"{VERSIONS}\n{SESSION}"])
def test_the_planner_makes_a_duet_of_what_takes_a_start_and_says_why(factors: str) -> None:
    plan = planned(factors)
    assert plan.mode == "duet"
    assert {trial.arm for trial in plan.trials} == {ALL_ARMS}
    assert (plan.min_blocks, plan.max_blocks) == (6, 24)
    said = mode_lines(plan)
    assert said[0].startswith("duet: a factor takes a start of the server")
    assert "each on a server of its own" in said[1]
    assert said[2].startswith("not switchback: ")
    assert "every trial starts all servers" in restarts_line(plan, every_trial=True)
    assert any("first arm's server alone" in risk for risk in plan.warnings)


def test_what_needs_no_start_is_a_duet_only_where_asked_for() -> None:
    assert planned(SESSION).mode == "switchback"
    assert planned(SESSION, design="mode = 'duet'").mode == "duet"
    scale = "[factors.workload]\nscale = [1, 2]"
    assert planned(scale).mode == "blocks"
    memory = "[factors.postgres]\nshared_buffers = ['64MB', '128MB']"
    assert planned(memory).mode == "blocks"
    assert "a duet would do, where it is asked for" in mode_lines(planned(memory))[0]
    asked = planned(memory, design="mode = 'duet'")
    assert any("share the host's memory" in risk for risk in asked.warnings)
    left_out = planned(design="")
    assert left_out.mode == "blocks"
    assert "duet would do too" in mode_lines(left_out)[0]


@pytest.mark.parametrize(
    ("factors", "load", "why"),
    [
        (
            "[factors.postgres]\ncheckpoint_timeout = ['1min', '5min']",
            "",
            "checkpoints are written",
        ),
        ("[factors.postgres]\nautovacuum_max_workers = [3, 5]", "", "tables are vacuumed"),
        ("[factors.workload]\nscale = [1, 2]", "", "do not have the same load"),
        ("[factors.client]\nprotocol = ['simple', 'prepared']", "", "one kind of client"),
        (VERSIONS, "rate = 100", "come to no server in particular"),
        (VERSIONS, "[load.slices]\nvariants = [{name='a'}, {name='b'}]", "variants of its own"),
        ("[factors.target]\nbin = ['a', 'b', 'c', 'd', 'e']", "", "4 at most can take turns"),
    ],
)
def test_what_cannot_be_a_duet_is_refused_with_the_reason(
    factors: str, load: str, why: str
) -> None:
    assert why in planned(factors, load=load, design="").modes_refused["duet"]
    with pytest.raises(SpecError, match=r"design\.mode") as refused:
        planned(factors, load=load, design="mode = 'duet'")
    assert why in str(refused.value)


def test_an_existing_server_is_there_once() -> None:
    target = "[target]\ndsn = 'service=lab'\nallow_changes = true\n"
    with pytest.raises(SpecError, match="an existing server is there once"):
        make_plan(spec_of(SESSION, design="mode = 'duet'", target=target))


def test_every_background_setting_is_one_of_the_servers() -> None:
    names = set().union(*(catalogue(major) for major in CATALOGUED))
    assert [name for name in background() if "*" not in name and name not in names] == []


def test_a_stored_duet_reads_back_as_it_was() -> None:
    plan = planned()
    assert plan_from_json(json.loads(json.dumps(plan_to_json(plan)))) == plan
    assert plan.side_by_side


def test_every_arm_has_a_server_and_data_of_its_own_even_where_only_settings_differ() -> None:
    for factors in (VERSIONS, RESTART):
        spec = spec_of(factors)
        grounds = grounds_of(spec, make_plan(spec))
        assert grounds.side_by_side
        assert [ground.arm for ground in grounds.datasets] == ["a1", "a2"]
        assert grounds.of_arm[ALL_ARMS] == grounds.of_arm["a1"]


def test_the_engine_is_told_each_arms_server_and_no_setting_of_it() -> None:
    spec = spec_of(
        f"{SESSION}\n[factors.client.settings]\njit = ['on', 'off']", design="mode='duet'"
    )
    plan = make_plan(spec)
    request = engine_request(plan.trials[0], spec, plan)
    places = {arm.id: ConnectionParameters(f"/run/{arm.id}", 1, "u", "d") for arm in plan.arms}
    told = json.loads(
        type(request)(**{**request.__dict__, "servers": places}).configuration(places["a1"])
    )
    variants = told["slices"]["variants"]
    assert [one["connection"]["host"] for one in variants] == [
        f"/run/{arm.id}" for arm in plan.arms
    ]
    assert {tuple(one["sql"]) for one in variants} == {()}


def test_every_length_of_slices_goes_with_every_order_of_resets() -> None:
    for factors, arms in ((VERSIONS, 2), (f"{VERSIONS}\n{RESTART}", 4)):
        plan = planned(factors)
        trials = [trial for trial in plan.trials if trial.block <= 8]
        seen = {(trial.slice_s, reset_order(trial, plan)[-1].id) for trial in trials}
        assert len(seen) == 2 * arms


def test_a_trial_is_one_value_because_each_start_has_its_own_luck() -> None:
    plan = make_design(6, 6, 1)
    world = World("lucky starts", memory=0.0, between=0.01)
    (verdict,) = analyse("?", plan, make_trials(plan, world, np.random.default_rng(1))).verdicts()
    assert (verdict.blocks, verdict.rounds) == (6, None)
    assert len(verdict.block_effects_pct) == 6
    found = count(World("lucky starts", memory=0.9, between=0.01), 40, 4, 4)
    assert found.missed <= 7  # of 40, where 2 are to be expected


def test_one_servers_figures_are_no_cost_of_all_transactions(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", effects={"a2": 0.1})
    trial = next(iter(run.trials()))
    before = measure_trial(trial).whole.values
    path = run.path / "trials" / f"{trial.summary()['number']:04}" / "trial.json"
    summary = json.loads(path.read_text())
    path.write_text(json.dumps(summary | {"reset": {"arms": {}, "sampled": "a1"}}))
    after = measure_trial(next(iter(run.trials()))).whole.values
    assert before.keys() - after.keys() >= {"wal_bytes_per_tx", "checkpoints_per_min"}
    assert after["tps"] == before["tps"]


def test_the_work_of_a_server_beside_is_not_foreign() -> None:
    def times(user_s: float, server_s: float) -> ProcessorTimes:
        return ProcessorTimes(100.0 + user_s, 50.0, user_s, 0.0, server_s, server_s, 0.0, 0.0)

    before = of_all_servers([times(10.0, 3.0), times(10.0, 4.0)])
    after = of_all_servers([times(20.0, 8.0), times(20.0, 9.0)])
    split = split_between(before, after)
    assert split is not None
    assert split.server_s == 10.0
    assert split.foreign_user_s == 0.0
    assert of_all_servers([times(1.0, 1.0), None]) is None
