"""Which mode a plan chooses, and why others are not valid."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from pgassay.notes import Note
from pgassay.plan.description import mode_lines, order_of
from pgassay.plan.design import make_plan
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.plan.modes import carries_over, reloaded, written_knobs
from pgassay.plan.switchback import rounds_of
from pgassay.spec.parse import parse_spec
from pgassay.spec.settings.catalogue import CATALOGUED, catalogue
from pgassay.trials.load.slices import slices_of
from support.notes import codes_in
from support.refusals import refused
from support.synthetic.designs import plan_of_spec

SPEC = """
[factors.{factor}]
{levels}
[load]
clients = 2
step = "{step}"
{load}
[design]
seed = 1
{design}
"""


def planned(
    levels: str = "work_mem = ['1MB', '4MB']",
    *,
    factor: str = "postgres",
    load: str = "",
    step: str = "20s",
    design: str = "mode = 'auto'",
    mode: str | None = None,
    target: str = "",
) -> Plan:
    text = target + SPEC.format(factor=factor, levels=levels, load=load, step=step, design=design)
    return make_plan(parse_spec(text, source="x.toml", beside=Path(), mode=mode))


def test_auto_chooses_a_switchback_for_a_session_setting() -> None:
    plan = planned()
    assert plan.mode == "switchback"
    assert {trial.arm for trial in plan.trials} == {ALL_ARMS}
    assert (plan.min_blocks, plan.max_blocks) == (4, 24)
    assert codes_in(plan.mode_reason) == ["plan/easy"]
    assert mode_lines(plan)[0] == f"switchback: {plan.mode_reason}"


def test_the_default_mode_is_blocks_and_the_plan_names_a_quicker_one() -> None:
    plan = planned(design="")
    assert plan.mode == "blocks"
    assert codes_in(plan.mode_reason) == ["plan/blocks-or-switchback"]
    assert mode_lines(plan)[0] == f"blocks: {plan.mode_reason}"


def test_mode_on_the_command_line_overrules_the_file() -> None:
    assert planned(mode="blocks").mode == "blocks"
    assert planned(design="", mode="switchback").mode == "switchback"


@pytest.mark.parametrize(
    ("factor", "levels", "why"),
    [
        ("postgres", "checkpoint_timeout = ['1min', '5min']", "plan/minutes-apart"),
        ("postgres", "autovacuum_naptime = ['1min', '5min']", "plan/dead-rows"),
        ("postgres", "shared_buffers = ['64MB', '128MB']", "plan/cache-fills"),
        ("postgres", "max_slot_wal_keep_size = [-1, '1GB']", "spec/load/of-the-server"),
        ("postgres", "fsync = ['on', 'off']", "plan/pages-synced"),
        ("postgres", "'pg_stat_statements.max' = [1000, 5000]", "plan/only-the-server-knows"),
        (
            "client.settings",
            "'auto_explain.log_timing' = [true, false]",
            "plan/only-the-server-knows",
        ),
        ("client", "protocol = ['simple', 'prepared']", "spec/factors/one-protocol"),
        ("client", "transport = ['epoll', 'io_uring']", "spec/factors/agreed-at-connection"),
        ("client", "think_time = ['0', '1ms']", "spec/factors/one-per-load"),
        ("workload", "scale = [1, 2]", "spec/factors/other-data"),
    ],
)
def test_an_invalid_switchback_becomes_blocks_in_auto_and_is_refused_if_asked_for(
    factor: str, levels: str, why: str
) -> None:
    plan = planned(levels, factor=factor)
    assert plan.mode == "blocks"
    found = plan.modes_refused["switchback"]
    assert why in codes_in(found)
    with refused("mode-not-valid", "design.mode", why=found):
        planned(levels, factor=factor, design="mode = 'switchback'")


@pytest.mark.parametrize(
    ("load", "why"),
    [
        ("rate = 100", None),
        ("pools = 'per_scenario'", None),
        ("[load.slices]\nvariants = [{name = 'a'}, {name = 'b'}]", "plan/has-slices"),
    ],
)
def test_a_load_that_cannot_alternate_refuses_a_switchback(load: str, why: str | None) -> None:
    refused = planned(load=load).modes_refused.get("switchback")
    assert codes_in(refused) == [why] * (why is not None)


def test_a_step_too_short_for_eight_rounds_is_refused_with_the_length_that_fits() -> None:
    plan = planned(design="mode = 'auto'\nslice = '2s'")
    assert plan.modes_refused["switchback"].values["needed_s"] == 32
    # Half of 400 ms is too short, so every second trial has slices of 800 ms.
    levels = "work_mem = ['1MB', '2MB', '4MB', '8MB']"
    plan = planned(levels, design="mode = 'auto'\nslice = '400ms'")
    assert plan.modes_refused["switchback"].values["needed_s"] == 25.6


def test_several_steps_are_compared_in_blocks() -> None:
    text = SPEC.format(
        factor="postgres",
        levels="work_mem = ['1MB', '4MB']",
        load="",
        step="20s",
        design="mode = 'auto'",
    ).replace("clients = 2", "clients = [2, 4]")
    plan = plan_of_spec(text)
    assert plan.modes_refused["switchback"] == Note("plan/several-steps")


def test_the_first_four_trials_have_short_slices_and_later_ones_five_long_rounds() -> None:
    lengths = [trial.slice_s for trial in planned().trials]
    assert lengths == [1.0, 0.5, 1.0, 0.5] + [2.0] * 20
    minutes = planned(step="2min", design="mode = 'switchback'")
    assert minutes.trials[-1].slice_s == 8.0, "longer slices only add the host's drift"
    shortest = planned(design="mode = 'auto'\nslice = '250ms'")
    assert [trial.slice_s for trial in shortest.trials][:2] == [0.25, 0.5]


@pytest.mark.parametrize("design", ["slice = '1.1s'", "max_blocks = 11"])
def test_trials_keep_their_slices_where_longer_ones_would_show_no_equivalence(design: str) -> None:
    lengths = {trial.slice_s for trial in planned(design=f"mode = 'switchback'\n{design}").trials}
    assert len(lengths) == 2


def test_a_switchback_that_could_not_show_equivalence_says_what_it_takes() -> None:
    def found(step: str, design: str = "") -> list[dict[str, object]]:
        plan = planned(step=step, design=f"mode = 'switchback'\n{design}")
        return [dict(one.values) for one in plan.notes if one.code == "plan/no-equivalence"]

    assert found("60s") == []
    (short,) = found("30s")
    assert (short["step_s"], short["wanted"]) == (60, 24)
    (few,) = found("60s", "max_blocks = 12")
    assert (few["most"], few["longest"]) == (12, 6)


def test_every_round_has_each_arm_once_in_a_new_random_order() -> None:
    plan = planned("work_mem = ['1MB', '4MB', '8MB']", design="mode='switchback'\nslice='500ms'")
    first, second = (rounds_of(plan, trial) for trial in plan.trials[:2])
    assert (len(first), len(second)) == (13, 26)
    assert all(sorted(arms) == ["a1", "a2", "a3"] for arms in (*first, *second))
    assert len(set(second)) > 3
    assert rounds_of(plan, plan.trials[0]) == first
    assert "| … (13 rounds of 0.5 s slices)" in order_of(plan, 1)


@pytest.mark.parametrize(
    ("numbers", "blocks", "stops"),
    [
        ("max_blocks = 5", (4, 5), "sequential"),
        ("max_blocks = 3", (3, 3), "fixed"),
        ("min_blocks = 6", (6, 24), "sequential"),
        ("min_blocks = 30", (30, 60), "sequential"),
        ("min_blocks = 8\nmax_blocks = 8", (8, 8), "fixed"),
    ],
)
def test_one_number_of_blocks_is_completed_by_the_switchbacks_default(
    numbers: str, blocks: tuple[int, int], stops: str
) -> None:
    plan = planned(design=f"mode = 'auto'\n{numbers}")
    assert (plan.min_blocks, plan.max_blocks) == blocks
    assert plan.stops == stops


def test_fewer_blocks_than_the_default_minimum_are_refused() -> None:
    with refused("too-few-blocks", "design.max_blocks", most=5):
        planned(design="max_blocks = 5")


def test_few_trials_are_a_risk() -> None:
    plan = planned(design="mode = 'switchback'\nmin_blocks = 2\nmax_blocks = 2")
    assert "plan/few-trials" in [one.code for one in plan.notes]


@pytest.mark.parametrize(
    ("numbers", "weak"),
    [
        ("min_blocks = 6\nmax_blocks = 6", True),
        ("min_blocks = 11\nmax_blocks = 11", True),
        ("stopping = 'fixed'\nmin_blocks = 6\nmax_blocks = 6", True),
        ("min_blocks = 12\nmax_blocks = 12", False),
        ("min_blocks = 4\nmax_blocks = 12", False),
        ("", False),
    ],
)
def test_a_fixed_number_of_trials_too_small_for_carry_over_is_a_risk(
    numbers: str, weak: bool
) -> None:
    plan = planned(design=f"mode = 'switchback'\n{numbers}")
    found = [one for one in plan.notes if one.code == "plan/weak-on-carry-over"]
    assert len(found) == weak
    blocks = planned(design=f"mode = 'blocks'\n{numbers}")
    assert "plan/weak-on-carry-over" not in [one.code for one in blocks.notes]


def test_a_slice_length_without_a_mode_that_alternates_is_refused() -> None:
    with refused("slice-without-switchback"):
        planned(design="slice = '2s'")


def test_every_setting_in_carry_over_toml_exists() -> None:
    names = set().union(*(catalogue(major) for major in CATALOGUED))
    plain = [name for name in carries_over() if "*" not in name]
    assert [name for name in plain if name not in names] == []


def test_each_arm_of_a_switchback_runs_only_its_own_script(tmp_path: Path) -> None:
    (tmp_path / "fast.sql").write_text("SELECT 1;")
    text = SPEC.format(
        factor="scenarios",
        levels="payment = ['', 'fast.sql']",
        load="",
        step="20s",
        design="mode = 'auto'",
    )
    spec = parse_spec(text, source="x.toml", beside=tmp_path)
    plan = make_plan(spec)
    table, scenarios = slices_of(plan.trials[0], spec, plan)
    assert plan.mode == "switchback"
    names = [set(variant.scenarios or ()) for variant in table.variants]
    assert names[0] ^ names[1] == {"payment (1)", "payment (2)"}
    assert names[0] & names[1] == {"transfer", "balance"}
    assert {one.name: one.script for one in scenarios}["payment (2)"] == "SELECT 1;"


def test_settings_in_reloads_toml_alternate_by_reloads_and_not_in_sessions() -> None:
    levels = "wal_sync_method = ['fdatasync', 'fsync']\nwork_mem = ['1MB', '2MB']"
    design = "mode = 'auto'\nslice = '500ms'"
    plan = planned(levels, design=design)
    assert plan.mode == "switchback"
    assert plan.mode_reason == Note("plan/easy-or-reloaded")
    spec = parse_spec(
        SPEC.format(factor="postgres", levels=levels, load="", step="20s", design=design),
        source="x.toml",
        beside=Path(),
    )
    table, _ = slices_of(plan.trials[0], spec, plan)
    # wal_sync_method is a setting of the whole server, so reloading.py sets it.
    assert {name for one in table.variants for name in one.settings} == {"work_mem"}


def test_reloads_are_refused_if_settings_are_changed_for_a_role_only() -> None:
    target = "[target]\ndsn = 'host=x'\nallow_changes = true\nsettings_at = 'role'\n"
    plan = planned("wal_sync_method = ['fdatasync', 'fsync']", target=target)
    assert "plan/settings-at-server" in codes_in(plan.modes_refused["switchback"])


HOST = "[target]\nallow_host_changes = true\n"


def test_a_knob_that_the_kernel_reads_whenever_it_acts_may_alternate() -> None:
    for name in written_knobs():
        levels = "['none', 'bfq']" if name == "block.scheduler" else "[10, 20]"
        if name.endswith("_bytes"):
            levels = "[8192, 16384]"
        plan = planned(f"'{name}' = {levels}", factor="host", target=HOST)
        assert plan.mode == "switchback"


def test_a_knob_that_is_read_when_files_are_opened_is_compared_in_whole_trials() -> None:
    plan = planned("'block.read_ahead_kb' = [128, 4096]", factor="host", target=HOST)
    assert "spec/factors/knob-before-start" in codes_in(plan.modes_refused["switchback"])


def test_settings_in_reloads_toml_take_a_reload_and_do_not_carry_over() -> None:
    for name in reloaded():
        assert {catalogue(version)[name]["context"] for version in CATALOGUED} == {"sighup"}
        assert not any(fnmatchcase(name, pattern) for pattern in carries_over())
