"""The host, the load and waits by arm: figures that are known beforehand, and their changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from pgassay.analysis.measures.asked import ArmAsked
from pgassay.analysis.measures.courses.even_series import EvenSeries
from pgassay.analysis.measures.model import StepMeasures, TrialMeasures, TrialSignals
from pgassay.analysis.sampled.by_load import load_profiles
from pgassay.analysis.sampled.host_figures import Knobs, knobs_of, sampled_of
from pgassay.analysis.sampled.model import HostFigure, WaitEvent
from pgassay.analysis.sampled.wait_events import wait_events
from pgassay.plan.model import Plan
from support.synthetic.designs import plan_of_levels, plan_of_spec
from support.synthetic.environments import environment_of
from support.synthetic.even import even

PLAN = plan_of_levels(least=6)
BASE, OTHER = (arm.id for arm in PLAN.arms)
KNOBS = knobs_of(PLAN, environment_of(host={"vm": {"vm.dirty_background_bytes": 1024 * 12_000}}))
RAMP = plan_of_spec("""
    [workload]
    use = "bank-mix"
    [load]
    clients = [5, 22]
    pools = "per_scenario"
""")


def host(plan: Plan, trials: Sequence[EvenSeries], knobs: Knobs) -> tuple[HostFigure, ...]:
    return sampled_of(plan, trials, knobs).host()


def series(values: Mapping[str, Mapping[str, float]]) -> list[EvenSeries]:
    """Six blocks; the values of each arm rise by a hundredth from block to block."""
    return [
        even(
            {name: value * (1 + block / 100) for name, value in own.items()}, number=block, arm=arm
        )
        for block in range(1, 7)
        for arm, own in values.items()
    ]


def figure(found: tuple[HostFigure, ...], name: str, device: str = "") -> HostFigure:
    return next(one for one in found if (one.name, one.device) == (name, device))


def test_a_wait_per_request_is_time_over_requests_and_its_change_is_of_whole_trials() -> None:
    busy = {"sda/writes": 100.0, "sda/write_ms": 250.0}
    slow = {"sda/writes": 100.0, "sda/write_ms": 500.0}
    found = host(PLAN, series({BASE: busy, OTHER: slow}), KNOBS)
    wait = figure(found, "w_await", "sda")
    assert [one.median for one in wait.spreads] == pytest.approx([2.5, 5.0])
    base, other = wait.figures
    assert (base.change_pct, base.change(wait.good)) == (None, "no clear change")
    assert other.change_pct == pytest.approx(100.0)

    rising = series({BASE: {"sda/write_ms": 10.0}, OTHER: {"sda/write_ms": 30.0}})
    wait = figure(host(PLAN, rising, KNOBS), "w_await", "sda")
    assert wait.differs
    assert wait.figures[1].change(wait.good) == "worse"
    assert wait.figures[1].change_pct == pytest.approx(200.0)


def test_means_do_not_contradict_the_change_where_some_trials_have_no_figure() -> None:
    slow = {"sda/writes": 100.0, "sda/write_ms": 1000.0}
    missing = ((OTHER, 1), (OTHER, 2), (BASE, 6))
    known = [
        even(
            slow if block in (1, 2, 6) else {"sda/writes": 100.0, "sda/write_ms": 250.0},
            number=block,
            arm=arm,
            without=["sda/write_ms"] if (arm, block) in missing else [],
        )
        for block in range(1, 7)
        for arm in (BASE, OTHER)
    ]
    base, other = figure(host(PLAN, known, KNOBS), "w_await", "sda").figures
    assert (base.trials, other.trials) == (3, 3)
    assert (base.mean, other.mean) == pytest.approx((2.5, 2.5))
    assert other.change_pct == pytest.approx(0.0)


def test_three_blocks_that_happen_to_agree_show_no_clear_change() -> None:
    rising = series({BASE: {"sda/write_ms": 10.0}, OTHER: {"sda/write_ms": 30.0}})
    few = host(PLAN, [one for one in rising if one.block <= 3], KNOBS)
    wait = figure(few, "w_await", "sda")
    assert wait.figures[1].change_pct == pytest.approx(200.0)
    assert not wait.differs


def test_a_range_is_of_intervals_and_a_figure_that_was_not_read_is_left_out() -> None:
    tasks = np.where(np.arange(600) < 100, 9.0, 4.0)
    trials = [even({"procs_blocked": tasks}, number=1, arm=arm) for arm in (BASE, OTHER)]
    found = host(PLAN, trials, KNOBS)
    blocked = figure(found, "b")
    assert [(one.smallest, one.median, one.largest) for one in blocked.spreads] == [
        (4.0, 4.0, 9.0)
    ] * 2
    unread = [even(number=1, arm=arm, without=["cpu", "sda"]) for arm in (BASE, OTHER)]
    names = {(one.name, one.device) for one in host(PLAN, unread, KNOBS)}
    assert ("b", "") in names
    assert not {("us", ""), ("IOPS", "sda")} & names


def test_the_slab_is_with_and_without_what_can_be_freed_and_reads_are_apart_from_writes() -> None:
    memory = {"mem_reclaimable_kb": 20480.0, "mem_unreclaimable_kb": 10240.0, "sda/reads": 7.0}
    found = host(PLAN, series({BASE: memory, OTHER: {}}), KNOBS)
    assert figure(found, "slab").spreads[0].median == pytest.approx(30 * 1.035)
    reads, writes, both = (figure(found, name, "sda") for name in ("r/s", "w/s", "IOPS"))
    assert reads.spreads[0].median + writes.spreads[0].median == pytest.approx(
        both.spreads[0].median
    )


def test_dirty_pages_are_of_the_limits_that_the_kernel_reports_else_of_those_that_are_set() -> None:
    kernel = {
        "pages_dirty": 100.0, "pages_writeback": 100.0,
        "dirty_background_limit": 1000.0, "dirty_limit": 2000.0,
    }  # fmt: skip
    found = host(PLAN, series({BASE: kernel, OTHER: {}}), KNOBS)
    background, limit = (figure(found, name) for name in ("%dirty_background", "%dirty"))
    assert [one.median for one in background.spreads] == pytest.approx([10.0, 50.0])
    assert [one.median for one in limit.spreads] == pytest.approx([10.0]), "no limit is known"


def test_types_of_waits_are_compared_and_corrected_apart_from_the_host() -> None:
    waiting = series({BASE: {"wait/IO": 1.0}, OTHER: {"wait/IO": 3.0}})
    found = sampled_of(PLAN, waiting, KNOBS).speed()
    assert [one.name for one in found][:2] == ["SPEED", "WAITINGS"]
    assert figure(found, "IO").figures[1].change_pct == pytest.approx(200.0)
    assert figure(found, "IO").differs
    assert not figure(found, "Lock").differs
    turns = [replace(one, turns=(("a1", 0, 300),)) for one in waiting]
    assert sampled_of(BOTH, turns, {"a1": {}}).speed() == ()


BOTH = plan_of_levels(("4MB", "8MB"), setting="work_mem", design='mode = "switchback"')


def test_arms_that_alternate_have_the_host_of_their_slices() -> None:
    reads = np.where(np.arange(600) % 20 < 10, 10.0, 40.0)
    turns = tuple((("a1", "a2")[at // 10 % 2], at + 3, at + 10) for at in range(0, 600, 10))
    trials = [replace(even({"sda/reads": reads}, number=n, arm="all"), turns=turns) for n in (1, 2)]
    found = figure(host(BOTH, trials, {"a1": {}, "a2": {}}), "IOPS", "sda")
    assert [one.mean for one in found.figures] == [20.0, 50.0]
    assert [one.trials for one in found.figures] == [2, 2]

    side_by_side = [even(arm="all")]
    assert host(BOTH, side_by_side, {"a1": {}, "a2": {}}) == ()
    assert wait_events(BOTH, [TrialSignals(1, 1, "all", 1.0, 1, {}, {"CPU": 1})]) == ()


def ramp_trial(plan: Plan, tps: tuple[float, float]) -> tuple[TrialMeasures, EvenSeries]:
    arm = plan.arms[0].id
    steps = tuple(
        StepMeasures(level, 0, 1, 1, {"tps": value})
        for level, value in zip((5.0, 22.0), tps, strict=True)
    )
    trial = TrialMeasures(1, 1, 1, arm, steps[0], steps, ())
    reads = np.where(np.arange(600) < 300, 10.0, 40.0)
    course = even({"sda/reads": reads}, arm=arm, steps=[(0, 300), (300, 600)])
    return trial, replace(course, levels=(5.0, 22.0))


def test_every_load_has_the_connections_that_its_pools_really_use() -> None:
    trial, course = ramp_trial(RAMP, (50.0, 80.0))
    arm = RAMP.arms[0].id
    weights = {"branch-lookup": 5.0, "updates": 4.0, "history-insert": 1.0, "steady": -2.0}
    asked = ArmAsked(arm, {}, dict.fromkeys(weights, ""), weights, has_pools=True)
    knobs = knobs_of(RAMP, environment_of())
    low, high = load_profiles(RAMP, [trial], [course], knobs, [asked])
    assert (low.connections, high.connections) == (8, 25)
    assert high.pools == {"branch-lookup": 11, "updates": 9, "history-insert": 3, "steady": 2}
    assert (low.values["tps"], high.values["tps"]) == (50.0, 80.0)
    assert (low.values["sda/IOPS"], high.values["sda/IOPS"]) == (20.0, 50.0)
    assert low.values["SPEED"] == pytest.approx(60 * 400 / 1000)

    shared = replace(asked, has_pools=False)
    assert [
        (one.connections, one.pools)
        for one in load_profiles(RAMP, [trial], [course], knobs, [shared])
    ] == [(5, {}), (22, {})]
    assert load_profiles(PLAN, [trial], [course], knobs, []) == (), "trials have one load"


def signals(number: int, arm: str, extend: float, samples: int) -> TrialSignals:
    values = {("sessions", "", "CPU"): 1.0, ("query", "7", "CPU"): 1.0}
    counts = {"CPU": 100, "Client:ClientRead": 50}
    if samples:
        values |= {("sessions", "", "IO:DataFileExtend"): extend}
        values |= {("query", "8", "IO:DataFileExtend"): extend}
        counts |= {"IO:DataFileExtend": samples}
    return TrialSignals(number, number, arm, 100.0, 1000, values, counts)


def event(found: tuple[WaitEvent, ...], name: str) -> WaitEvent:
    return next(one for one in found if one.event == name)


def test_an_event_has_sessions_and_samples_by_arm_and_the_statements_that_met_it() -> None:
    trials = [
        signals(block, arm, extend * (1 + block / 100), samples)
        for block in range(1, 7)
        for arm, extend, samples in ((BASE, 0.5, 50), (OTHER, 0.4, 40))
    ]
    found = wait_events(PLAN, trials)
    assert [one.event for one in found] == ["CPU", "IO:DataFileExtend"]
    extend = event(found, "IO:DataFileExtend")
    assert extend.samples == {BASE: 300, OTHER: 240}
    assert [query for query, _ in extend.statements] == ["8"]
    assert extend.figures[1].change_pct == pytest.approx(-20.0)
    assert extend.figures[1].clear


def test_an_event_that_an_arm_never_met_is_zero_there() -> None:
    trials = [
        signals(block, arm, 0.5 + block / 100, samples)
        for block in range(1, 7)
        for arm, samples in ((BASE, 50), (OTHER, 0))
    ]
    extend = event(wait_events(PLAN, trials), "IO:DataFileExtend")
    assert (extend.figures[1].mean, extend.samples[OTHER], extend.trials[OTHER]) == (0.0, 0, 0)
    assert extend.figures[1].change_pct == pytest.approx(-100.0)
