"""Duets: when they are valid, what is stored of a trial, and the error rates of verdicts."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.validate.alternating import duet_runs
from bench.validate.alternating.duet_errors import Row, count, make_design
from bench.validate.alternating.switchback_errors import Counts, World, make_trials
from bench.validate.looks import conclude

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.measures.trial import measure_trial
from pgassay.analysis.model import Analysis
from pgassay.notes import Note
from pgassay.plan.description import EXCHANGE, mode_lines, order_of, restarts_line
from pgassay.plan.design import make_plan
from pgassay.plan.duet import background, built_apart
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.plan.store import plan_from_json, plan_to_json, same_design
from pgassay.server.copied.origin import copies_of
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec
from pgassay.spec.settings.catalogue import CATALOGUED, catalogue
from pgassay.trials.load.trial_load import engine_request
from pgassay.trials.run.reset_servers import reset_order
from pgassay.trials.run.testbeds import testbeds_of
from support.notes import codes_in
from support.refusals import refused
from support.synthetic.directories import synthetic_run

VERSIONS = "[factors.target]\nversion = [16, 18]"
SESSION = "[factors.postgres]\nwork_mem = ['1MB', '4MB']"
RESTART = "[factors.postgres]\nmax_connections = [50, 100]"
THREE = "[factors.postgres]\nmax_connections = [50, 100, 200]"


def spec_of(
    factors: str = VERSIONS,
    *,
    load: str = "",
    design: str = "mode = 'auto'",
    target: str = "",
    seed: int = 1,
) -> Spec:
    text = f"{target}\n{factors}\n[load]\nclients = 3\nstep = '40s'\n{load}\n"
    return parse_spec(f"{text}[design]\nseed = {seed}\n{design}", source="x.toml", beside=Path())


def codes_of(plan: Plan) -> list[str]:
    return [one.code for one in plan.notes]


def planned(factors: str = VERSIONS, *, load: str = "", design: str = "mode = 'auto'") -> Plan:
    return make_plan(spec_of(factors, load=load, design=design))


@pytest.mark.parametrize("factors", [VERSIONS, RESTART, f"{VERSIONS}\n{SESSION}"])
def test_auto_chooses_a_duet_for_factors_that_take_a_restart_and_says_why(factors: str) -> None:
    plan = planned(factors)
    assert plan.mode == "duet"
    assert {trial.arm for trial in plan.trials} == {ALL_ARMS}
    assert (plan.min_blocks, plan.max_blocks) == (6, 24)
    lines = mode_lines(plan)
    assert codes_in(plan.mode_reason) == ["plan/takes-restart"]
    assert lines[0] == f"duet: {plan.mode_reason}"
    assert plan.side_by_side
    assert f" {len(plan.arms)} " in lines[1]
    assert lines[3].startswith("not switchback: ")
    # Every trial starts the servers of all arms.
    assert restarts_line(plan, every_trial=True).split()[0] == str(len(plan.arms))
    assert "plan/first-server-stored" in codes_of(plan)


def test_factors_that_take_no_restart_are_a_duet_only_if_the_file_asks_for_it() -> None:
    assert planned(SESSION).mode == "switchback"
    assert planned(SESSION, design="mode = 'duet'").mode == "duet"
    scale = "[factors.workload]\nscale = [1, 2]"
    assert planned(scale).mode == "blocks"
    memory = "[factors.postgres]\nshared_buffers = ['64MB', '128MB']"
    assert planned(memory).mode == "blocks"
    assert 'mode = "duet" is valid' in mode_lines(planned(memory))[0]
    asked = planned(memory, design="mode = 'duet'")
    assert "plan/shared-memory" in codes_of(asked)
    left_out = planned(design="")
    assert left_out.mode == "blocks"
    assert "duet is valid too" in mode_lines(left_out)[0]


@pytest.mark.parametrize(
    ("factors", "load", "why"),
    [
        (
            "[factors.postgres]\ncheckpoint_timeout = ['1min', '5min']",
            "",
            "plan/written-over-minutes",
        ),
        (
            "[factors.postgres]\nautovacuum_max_workers = [3, 5]",
            "",
            "plan/autovacuum-at-thresholds",
        ),
        ("[factors.workload]\nscale = [1, 2]", "", "spec/factors/not-the-same-load"),
        (
            "[factors.client]\nprotocol = ['simple', 'prepared']",
            "",
            "spec/factors/one-kind-of-client",
        ),
        (VERSIONS, "rate = 100", "plan/rate-for-all"),
        (
            VERSIONS,
            "[load.slices]\nvariants = [{name='a'}, {name='b'}]",
            "plan/has-slices",
        ),
        ("[factors.target]\nbin = ['a', 'b', 'c', 'd', 'e']", "", "plan/many-arms"),
    ],
)
def test_an_invalid_duet_is_refused_with_the_reason(factors: str, load: str, why: str) -> None:
    found = planned(factors, load=load, design="").modes_refused["duet"]
    assert why in codes_in(found)
    with refused("mode-not-valid", "design.mode", why=found):
        planned(factors, load=load, design="mode = 'duet'")


def test_a_duet_on_an_existing_server_takes_copies_of_it() -> None:
    target = "[target]\ndsn = 'service=lab'\nallow_changes = true\n"
    with refused("mode-not-valid", "design.mode", why=Note("plan/own-server")):
        make_plan(spec_of(SESSION, design="mode = 'duet'", target=target))
    copied = f"{target}[reset]\nlevel = 'snapshot'\n"
    assert make_plan(spec_of(SESSION, design="mode = 'duet'", target=copied)).side_by_side


def test_every_setting_in_background_toml_exists() -> None:
    names = set().union(*(catalogue(major) for major in CATALOGUED))
    assert [name for name in background() if "*" not in name and name not in names] == []


def test_a_stored_duet_reads_back_unchanged() -> None:
    plan = planned()
    assert plan_from_json(json.loads(json.dumps(plan_to_json(plan)))) == plan
    assert plan.side_by_side


def test_every_arm_of_a_duet_has_its_own_server_and_data_even_if_only_settings_differ() -> None:
    for factors in (VERSIONS, RESTART):
        spec = spec_of(factors)
        testbeds = testbeds_of(spec, make_plan(spec))
        assert testbeds.side_by_side
        assert [testbed.arm for testbed in testbeds.datasets] == ["a1", "a2"]
        assert testbeds.of_arm[ALL_ARMS] == testbeds.of_arm["a1"]


@pytest.mark.parametrize(
    ("factors", "arms"), [(RESTART, 2), (THREE, 3), (f"{VERSIONS}\n{RESTART}", 4)]
)
def test_every_arm_of_a_duet_is_in_every_directory_equally_often(factors: str, arms: int) -> None:
    plan = planned(factors)
    ids = [arm.id for arm in plan.arms]
    numbers = [*range(1, arms + 1)]
    for trial in plan.trials:
        assert sorted(trial.directories) == sorted(ids)
        assert sorted(trial.directories.values()) == numbers
    for first in range(0, len(plan.trials) - arms + 1, arms):
        found = [plan.trials[first + block].directories for block in range(arms)]
        assert all(sorted(one[arm] for one in found) == numbers for arm in ids), "in each round"
    for first in range(0, len(plan.trials) - 2 * arms + 1, 2 * arms):
        met = {
            (arm, number, trial.slice_s)
            for trial in plan.trials[first : first + 2 * arms]
            for arm, number in trial.directories.items()
        }
        assert len(met) == 2 * arms**2, "with each length of slices, or it would be carry-over"


def test_directories_are_drawn_by_the_seed_and_kept_by_repeats_and_by_the_stored_plan() -> None:
    plan, again = planned(), planned()
    assert [one.directories for one in plan.trials] == [one.directories for one in again.trials]
    first = Counter(make_plan(spec_of(seed=seed)).trials[0].directories["a1"] for seed in range(60))
    assert min(first[1], first[2]) > 15
    repeat = plan.again(plan.trials[2], 2)
    assert repeat.directories == plan.trials[2].directories
    stored = plan_from_json(json.loads(json.dumps(plan_to_json(plan))))
    assert same_design(stored, plan)
    others = (replace(one, directories=plan.trials[3].directories) for one in plan.trials)
    assert not same_design(replace(stored, trials=tuple(others)), plan)
    aa = make_plan(spec_of(f"{VERSIONS}\n{RESTART}"), calibrates=True)
    assert {*aa.trials[0].directories} == {"a1", "a2"}, "of the two labels, not of four arms"


def test_plan_shows_the_directories_and_says_where_arms_keep_theirs() -> None:
    plan = planned()
    assert plan.exchanges_directories
    assert str(EXCHANGE) in mode_lines(plan)
    where = ", ".join(f"{arm} in {at}" for arm, at in plan.trials[0].directories.items())
    assert f"directories: {where}" in order_of(plan, 1)
    kept = make_plan(spec_of(RESTART, target="[reset]\nlevel = 'restart'"))
    assert not kept.exchanges_directories
    assert "plan/own-directories" in codes_of(kept)
    assert "plan/own-directories" not in codes_of(plan)
    assert "directories" not in order_of(kept, 1)
    for mode in ("blocks", "switchback"):
        assert not planned(SESSION, design=f"mode = '{mode}'").exchanges_directories


def test_servers_whose_data_are_built_apart_are_named() -> None:
    assert list(built_apart([["16", "16"]])) == []
    (note,) = built_apart([["A", "A", "B"], ["C"]])
    assert (note.code, note.values) == ("plan/built-apart", {"named": "A, B / C"})


def test_servers_side_by_side_share_one_frozen_copy_on_disk() -> None:
    assert copies_of(1, 0) == 2
    assert copies_of(3, 2) == 9  # each its own frozen copy, and the backup
    assert copies_of(3, 2, side_by_side=True) == 7


def test_the_engine_gets_each_arms_server_and_none_of_its_settings() -> None:
    spec = spec_of(
        f"{SESSION}\n[factors.client.settings]\njit = ['on', 'off']", design="mode='duet'"
    )
    plan = make_plan(spec)
    request = engine_request(plan.trials[0], spec, plan)
    places = {arm.id: ConnectionParameters(f"/run/{arm.id}", 1, "u", "d") for arm in plan.arms}
    sent = json.loads(
        type(request)(**{**request.__dict__, "servers": places}).configuration(places["a1"])
    )
    variants = sent["slices"]["variants"]
    assert [one["connection"]["host"] for one in variants] == [
        f"/run/{arm.id}" for arm in plan.arms
    ]
    assert {tuple(one["sql"]) for one in variants} == {()}


def test_every_length_of_slices_is_combined_with_every_order_of_resets() -> None:
    for factors, arms in ((VERSIONS, 2), (f"{VERSIONS}\n{RESTART}", 4)):
        plan = planned(factors)
        trials = [trial for trial in plan.trials if trial.block <= 8]
        seen = {(trial.slice_s, reset_order(trial, plan)[-1].id) for trial in trials}
        assert len(seen) == 2 * arms


def test_a_trial_of_a_duet_is_one_value_because_server_starts_differ() -> None:
    plan = make_design(6, 6, 1)
    world = World("lucky starts", memory=0.0, between=0.01)
    (verdict,) = Analysis(
        answer_of("?", plan, make_trials(plan, world, np.random.default_rng(1)))
    ).answer.verdicts()
    assert (verdict.blocks, verdict.rounds) == (6, None)
    assert len(verdict.block_effects_pct) == 6
    found = count(Row(4, 4, duet_runs.World(starts=0.01)), 40)
    assert found.missed <= 7  # of 40, where 2 are to be expected


def test_exchanged_directories_cancel_where_kept_ones_look_like_an_effect() -> None:
    kept, exchanged = (
        count(Row(6, 6, duet_runs.World(starts=0.005, directories=0.02, exchanged=does)), 40)
        for does in (False, True)
    )
    assert kept.different >= 25
    assert exchanged.different <= 2
    assert exchanged.withdrawn <= 5, "it does not look like carry-over"


@pytest.mark.parametrize(("least", "most", "arms"), [(4, 4, 2), (6, 12, 2), (6, 8, 3)])
def test_quick_simulations_end_as_the_whole_analysis_does(least: int, most: int, arms: int) -> None:
    design = duet_runs.Design(make_design(least, most, 3, arms))
    source = np.random.default_rng(arms + most)
    for effect in (0.0, 0.02):
        world = duet_runs.World(effect=effect, starts=0.01, directories=0.01)
        runs = design.simulate(world, 6, source)
        for run in range(6):
            values = np.stack([runs.whole[run], runs.early[run], runs.late[run]], axis=-1)
            analysis, block = conclude(design.plan, design.measures(values))
            expected = Counts.of(World("", effect=effect), analysis, block)
            assert design.conclude(runs, run).counts(effect) == expected


def test_costs_per_transaction_are_not_computed_from_one_server_of_a_duet(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", effects={"a2": 0.1})
    trial = next(iter(run.trials()))
    before = measure_trial(trial).whole.values
    path = run.path / "trials" / f"{trial.summary().number:04}" / "trial.json"
    summary = json.loads(path.read_text())
    path.write_text(json.dumps(summary | {"reset": {"arms": {}, "sampled": "a1"}}))
    after = measure_trial(next(iter(run.trials()))).whole.values
    assert before.keys() - after.keys() >= {"wal_bytes_per_tx", "checkpoints_per_min"}
    assert after["tps"] == before["tps"]
