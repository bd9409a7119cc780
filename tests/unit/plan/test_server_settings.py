"""Which settings an experiment changes on the server, and whether it may."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgassay.plan.demands import demands_of
from pgassay.plan.design import make_plan
from pgassay.plan.model import ALL_ARMS, Plan
from pgassay.plan.server_settings import server_settings
from pgassay.plan.store import plan_from_json, plan_to_json
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec
from pgassay.trials.guards.invariants import conditions_of
from pgassay.trials.load.slices import slices_of
from support.refusals import refused

EXISTING = '[target]\ndsn = "host=h"\n'
ALLOWED = EXISTING + "allow_changes = true\n"
WORK_MEM = "[factors.postgres]\nwork_mem = ['4MB', '64MB']\n"
BY_RELOADS = "[factors.postgres]\nwal_sync_method = ['fdatasync', 'fsync']\n"
BOTH = BY_RELOADS + "work_mem = ['4MB', '64MB']\n"
HELD = "[settings.postgres]\njit = 'off'\n"


def drawn(text: str, mode: str = "switchback", **options: bool) -> tuple[Spec, Plan]:
    load = "[load]\nclients = 2\nstep = '40s'\n[design]\nseed = 1\n"
    spec = parse_spec(text + load, source="lab.toml", beside=Path(), mode=mode)
    return spec, make_plan(spec, **options)


@pytest.mark.parametrize("target", ["", '[target]\nbin = "/opt/pg/bin"\n', EXISTING])
@pytest.mark.parametrize("mode", ["switchback", "auto"])
def test_a_switchback_changes_a_session_setting_in_no_server(target: str, mode: str) -> None:
    spec, plan = drawn(target + WORK_MEM, mode)
    assert plan.mode == "switchback"
    assert server_settings(spec.file, plan.factors) == {}
    assert [(arm.settings, arm.session_settings) for arm in plan.arms] == [
        ({}, {"work_mem": "4MB"}),
        ({}, {"work_mem": "64MB"}),
    ]
    assert plan.arm(ALL_ARMS).settings == {}
    assert {demand.settings.get("work_mem") for demand in demands_of(spec, plan).values()} == {None}
    assert conditions_of(spec, plan.arm(ALL_ARMS)).settings == set()
    table, _ = slices_of(plan.trials[0], spec, plan)
    assert [one.settings for one in table.variants] == [{"work_mem": "4MB"}, {"work_mem": "64MB"}]


def test_what_alternates_by_reloads_or_is_held_stays_a_setting_of_the_server() -> None:
    spec, plan = drawn(ALLOWED + BOTH + HELD)
    assert server_settings(spec.file, plan.factors) == {
        "jit": ("off",),
        "wal_sync_method": ("fdatasync", "fsync"),
    }
    assert plan.arms[0].settings == {"wal_sync_method": "fdatasync"}
    assert plan.arms[0].session_settings == {"work_mem": "4MB"}


def test_in_blocks_every_setting_is_one_of_the_server() -> None:
    spec, plan = drawn(ALLOWED + BOTH, "blocks")
    assert set(server_settings(spec.file, plan.factors)) == {"wal_sync_method", "work_mem"}
    assert all(not arm.session_settings for arm in plan.arms)


def test_a_calibration_and_a_stored_plan_keep_a_settings_place() -> None:
    _, plan = drawn(EXISTING + WORK_MEM, calibrates=True)
    for one in (plan, plan_from_json(plan_to_json(plan))):
        assert [(arm.settings, arm.session_settings) for arm in one.arms] == [
            ({}, {"work_mem": "4MB"})
        ] * 2
        assert one.held_arms[1].session_settings == {"work_mem": "64MB"}


@pytest.mark.parametrize(
    ("text", "mode", "key"),
    [
        (WORK_MEM, "blocks", "factors.postgres.work_mem"),
        (
            WORK_MEM.replace("work_mem", "checkpoint_timeout").replace("MB", "min"),
            "auto",
            "factors.postgres.checkpoint_timeout",
        ),
        (BY_RELOADS, "switchback", "factors.postgres.wal_sync_method"),
        (BOTH, "auto", "factors.postgres.wal_sync_method"),
        (BOTH, "blocks", "factors.postgres.wal_sync_method"),
        (WORK_MEM + HELD, "switchback", "settings.postgres.jit"),
        (HELD, "blocks", "settings.postgres.jit"),
    ],
)
def test_a_change_of_an_existing_server_takes_permission_in_the_mode_that_was_chosen(
    text: str, mode: str, key: str
) -> None:
    # Only where the other mode would need no permission is it named.
    names_the_other = text == WORK_MEM
    code = "changes-without-permission" + ("-or-switchback" if names_the_other else "")
    with refused(code, key):
        drawn(EXISTING + text, mode)
    drawn(ALLOWED + text, mode)


def test_a_copy_of_an_existing_server_may_be_changed() -> None:
    drawn(EXISTING + WORK_MEM + HELD + "[reset]\nlevel = 'snapshot'\n", "blocks")
