"""The rules of vmstat and iostat, disks, shared buffers and dirty pages, on made-up hosts."""

from __future__ import annotations

import numpy as np
import pytest

from pgassay.analysis.classic.host_rules import dirty_pages, disk_types, rule_shares
from pgassay.analysis.classic.model import ClassicArm, ClassicCorrelation, RuleShare
from pgassay.analysis.classic.view import classic_view
from pgassay.analysis.measures.courses.even_series import EvenSeries
from pgassay.analysis.measures.courses.figures import figures
from pgassay.analysis.measures.model import ArmSignals, TrialSignals
from support.synthetic.environments import environment_of
from support.synthetic.even import Array, even

CORES = 2
STORAGE = {
    "data": {"mount": "/srv", "devices": ["sda1"], "disks": ["sda"]},
    "wal": {"mount": "/wal", "devices": ["sdb1"], "disks": ["sdb"]},
    "log": {"mount": "/srv", "devices": ["sda1"], "disks": ["sda"]},
}


def share_of(trials: list[EvenSeries], rule: str, disk: str = "") -> RuleShare:
    found = rule_shares([figures(one, 30.0) for one in trials], CORES, ["sda"])
    return next(one for one in found if (one.rule, one.disk) == (rule, disk))


def partly(value: float, share: float, otherwise: float) -> Array:
    """A share of 600 s at one value, the rest at another."""
    return np.where(np.arange(600) < 600 * share, value, otherwise)


@pytest.mark.parametrize(
    ("rule", "disk", "series"),
    [
        ("us + sy > 80 %", "", {"cpu_user": (600.0, 0.0)}),
        ("r > cores", "", {"procs_running": (3.5, 3.0)}),
        ("sy > 30 %", "", {"cpu_system": (100.0, 20.0)}),
        ("free < 5 % of RAM", "", {"mem_free_kb": (0.39e6, 0.4e6)}),
        ("available < 5 % of RAM (not of pg_expecto)", "", {"mem_available_kb": (0.39e6, 1e6)}),
        ("si > 0", "", {"pswpin": (0.1, 0.0)}),
        ("so > 0", "", {"pswpout": (0.1, 0.0)}),
        ("wa > 10 %", "", {"cpu_iowait": (30.0, 5.0)}),
        ("b > cores", "", {"procs_blocked": (2.1, 2.0)}),
        ("%util > 50 %", "sda", {"sda/busy_ms": (510.0, 500.0)}),
        ("r_await > 5 ms", "sda", {"sda/read_ms": (60.0, 50.0)}),
        ("w_await > 5 ms", "sda", {"sda/write_ms": (60.0, 50.0)}),
        ("aqu-sz > 1", "sda", {"sda/queued_ms": (1100.0, 1000.0)}),
    ],
)
@pytest.mark.parametrize(
    ("share", "band"), [(0.0, "OK"), (0.2, "OK"), (0.25, "WARNING"), (0.5, "WARNING"),
                        (0.55, "ALARM"), (1.0, "ALARM")],
)  # fmt: skip
def test_each_rule_fires_in_the_share_of_intervals_that_exceed_it(
    rule: str, disk: str, series: dict[str, tuple[float, float]], share: float, band: str
) -> None:
    trial = even({name: partly(high, share, low) for name, (high, low) in series.items()})
    found = share_of([trial], rule, disk)
    assert found.share_pct == pytest.approx(100 * share)
    assert found.band == band


def test_free_memory_is_that_of_a_group_with_a_limit() -> None:
    group = {"group_bytes": 127e6, "group_limit_bytes": 128e6, "group_inactive_bytes": 60e6}
    trial = even({name: partly(value, 1.0, value) for name, value in group.items()})
    memory = [one for one in rule_shares([figures(trial, 30.0)], CORES, []) if "< 5" in one.rule]
    assert [one.share_pct for one in memory] == [100.0, 0.0]
    assert all("group" in one.rule for one in memory)


def test_a_share_is_of_all_trials_and_says_how_far_they_lie_apart() -> None:
    trials = [even({"pswpin": partly(1.0, share, 0.0)}) for share in (0.0, 0.5, 1.0)]
    found = share_of(trials, "si > 0")
    assert (found.lowest_pct, found.share_pct, found.highest_pct) == (0.0, 50.0, 100.0)


def test_a_rule_without_its_counter_or_without_the_processors_is_not_measured() -> None:
    unread = share_of([even(without=["cpu_"])], "wa > 10 %")
    assert (unread.share_pct, unread.band) == (None, None)
    found = rule_shares([figures(even(), 30.0)], None, [])
    assert next(one for one in found if one.rule == "r > cores").share_pct is None


def correlation(second: str, r: float, tested: float, *, clear: bool) -> ClassicCorrelation:
    return ClassicCorrelation(
        "disk", "speed", second, r, None, abs(r) >= 0.5, tested, (0.0, 0.0), 0.0, 4, clear, None
    )


@pytest.mark.parametrize(
    ("iops", "moved", "load", "limit"),
    [
        (0.7, 0.7, "mixed", "IOPS and MB/s"),
        (0.7, 0.3, "OLTP", "IOPS"),
        (0.25, 0.7, "analytic or ETL", "MB/s"),
        (0.25, 0.25, "not bound by this disk", "none"),
        (-0.9, 0.1, "not bound by this disk", "none"),
        (0.3, 0.7, "undetermined", "undetermined"),
        (0.5, 0.5, "undetermined", "undetermined"),
    ],
)
def test_a_disk_limits_by_what_speed_is_correlated_with(
    iops: float, moved: float, load: str, limit: str
) -> None:
    pairs = [
        correlation("sda/iops", iops, 0.4, clear=True),
        correlation("sda/MB", moved, 0.4, clear=False),
    ]
    (found,) = disk_types(pairs, environment_of(host={"storage": STORAGE}).host.storage, ["sda"])
    assert (found.load, found.limit) == (load, limit)
    assert found.honest_limit == "IOPS", "the tested limit asks which of the two is clear"
    assert [str(one) for one in found.roles] == ["data on /srv", "log on /srv"]


@pytest.mark.parametrize(
    ("iops", "moved", "expected"),
    [
        ((0.4, True), (0.4, True), "IOPS and MB/s"),
        ((0.4, False), (0.4, True), "MB/s"),
        ((-0.4, True), (0.4, False), "unclear"),
        ((0.4, False), (0.4, False), "unclear"),
    ],
)
def test_the_tested_limit_is_what_speed_clearly_rises_with(
    iops: tuple[float, bool], moved: tuple[float, bool], expected: str
) -> None:
    pairs = [
        correlation("sda/iops", 0.0, iops[0], clear=iops[1]),
        correlation("sda/MB", 0.0, moved[0], clear=moved[1]),
    ]
    (found,) = disk_types(pairs, {}, ["sda"])
    assert (found.honest_limit, found.roles) == (expected, ())


@pytest.mark.parametrize(
    ("vm", "background_pct", "limit_pct"),
    [
        # 60 MB are a hundredth of what is available.
        ({"vm.dirty_background_ratio": "10", "vm.dirty_ratio": "20"}, 10.0, 5.0),
        ({"vm.dirty_background_bytes": "122880000", "vm.dirty_ratio": "20"}, 50.0, 5.0),
        ({"vm.dirty_background_bytes": "0", "vm.dirty_background_ratio": "10"}, 10.0, None),
        ({}, None, None),
    ],
)
def test_dirty_pages_are_held_against_the_kernels_limits(
    vm: dict[str, str], background_pct: float | None, limit_pct: float | None
) -> None:
    found = dirty_pages([figures(even({"mem_dirty_kb": 60_000.0}), 30.0, vm)])
    assert (found.kb, found.largest_kb) == (60_000.0, 60_000.0)
    assert found.background_limit_pct == pytest.approx(background_pct)
    assert found.limit_pct == pytest.approx(limit_pct)


def test_an_arms_own_knobs_of_the_host_are_its_limits() -> None:
    host = {"vm": {"vm.dirty_ratio": "20", "vm.dirty_background_ratio": "10"}}
    trials = [even({"mem_dirty_kb": 60_000.0}, arm=arm) for arm in ("a1", "a2")]
    view = classic_view(
        ["a1", "a2"], trials, [], environment_of(host=host), {"a2": {"vm.dirty_ratio": "40"}}
    )
    assert view is not None
    assert [arm.dirty.limit_pct for arm in view.arms] == pytest.approx([5.0, 2.5])


def arm_of(trial: EvenSeries, statements: dict[str, float]) -> ClassicArm:
    values = {("statements", "1", name): value for name, value in statements.items()}
    signals = ArmSignals("a1", (TrialSignals(1, 1, "a1", 600.0, 60_000, values),))
    view = classic_view(
        ["a1"], [trial], [signals], environment_of(host={"cpus": CORES, "storage": STORAGE})
    )
    assert view is not None
    return view.arms[0]


@pytest.mark.parametrize(
    ("hit", "read", "label"),
    [
        (99.0, 1.0, "OK"),
        (98.9, 1.1, "INFO"),
        (90.0, 10.0, "INFO"),
        (85.0, 15.0, "WARNING"),
        (84.0, 16.0, "ALARM"),
    ],
)
def test_the_hit_ratio_has_its_bands(hit: float, read: float, label: str) -> None:
    found = arm_of(even({"hit": hit, "read": read}), {}).buffers
    assert found.hit_pct == pytest.approx(hit)
    assert found.label == label
    assert found.load is None, "no pg_stat_statements, no type of load"


@pytest.mark.parametrize(
    ("dirtied", "per_dirtied", "load"),
    [(5.0, 200.0, "OLAP"), (5.1, 196.08, "OLTP"), (0.0, None, "OLAP")],
)
def test_the_type_of_a_load_is_blocks_used_for_each_that_is_dirtied(
    dirtied: float, per_dirtied: float | None, load: str
) -> None:
    blocks = {"shared_blks_hit": 900.0, "shared_blks_read": 100.0, "shared_blks_dirtied": dirtied}
    found = arm_of(even(), blocks).buffers
    assert found.used_per_dirtied == pytest.approx(per_dirtied, abs=0.01)
    assert found.load == load


def test_speed_is_commits_and_rows_a_minute_and_beside_it_that_of_the_statements() -> None:
    arm = arm_of(even(), {"calls": 100.0, "rows": 300.0})
    speed = next(one for one in arm.figures if one.name == "speed")
    # 100 commits, 200 rows fetched, 100 changed a second.
    assert (speed.smallest, speed.median, speed.largest) == pytest.approx((24e3, 24e3, 24e3))
    assert arm.statements_per_minute == pytest.approx(24e3)


def test_without_a_host_and_without_statements_figures_are_not_measured() -> None:
    arm = arm_of(
        even(without=["cpu", "mem", "swap", "procs", "pg", "ps", "ctxt", "intr", "sda"]), {}
    )
    assert arm.statements_per_minute is None
    assert all(one.share_pct is None for one in arm.rules)
    assert arm.disks == ()
    assert arm.dirty.kb is None
    assert next(one for one in arm.figures if one.name == "r").median is None
    pair = next(one for one in arm.correlations if (one.first, one.second) == ("IO", "wa"))
    assert (pair.r, pair.label, pair.agreement) == (None, None, None)


def test_there_is_no_view_without_an_interval() -> None:
    assert classic_view(["a1"], [], [], environment_of()) is None
