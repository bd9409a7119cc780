"""Levels are weighed by several criteria: what is clear is said, and noise makes no claim."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.measures.within_run import with_deviations
from pgassay.analysis.model import Analysis, RunFacts, StepMeasures, TrialMeasures
from pgassay.analysis.trade_offs.model import Criterion, LevelFigure, TradeOff
from pgassay.analysis.trade_offs.pairs import compared_pairs
from pgassay.findings.registry import find
from pgassay.notes import Note, Value
from pgassay.plan.model import Plan
from pgassay.report.sections.answer.trade_offs import trade_off_table
from support.synthetic.analyses import changed
from support.synthetic.designs import plan_of_spec

USUAL = {
    "tps": 5000.0,
    "latency_p99": 8.0,
    "tps_variation": 10.0,
    "disk_await_ms": 4.0,
    "memory_used_bytes": 4e9,
    "swapped_pages_per_s": 0.0,
    "wal_bytes_per_tx": 1000.0,
    "disk_written_bytes_per_tx": 3000.0,
}
THREE = ("50", "100", "150")
MEANS = {"50": 900.0, "100": 800.0, "150": 500.0}


def plan_of(levels: tuple[str, ...], blocks: int = 8) -> Plan:
    text = "[target]\nallow_host_changes = true\n"
    text += (
        f'[factors.host]\n"vm.vfs_cache_pressure" = {json.dumps([int(one) for one in levels])}\n'
    )
    text += f"[design]\nseed = 1\nmin_blocks = {blocks}\nmax_blocks = {blocks}\n"
    return plan_of_spec(text)


def analysis_of(
    changes: Mapping[str, Mapping[str, float]],
    *,
    noise: float = 0.01,
    spread: Mapping[str, float] | None = None,
    seed: int = 1,
    blocks: int = 8,
) -> Analysis:
    """Level → factors by which its metrics differ from the usual; the levels are its keys."""
    plan = plan_of(tuple(changes), blocks)
    source = np.random.default_rng(seed)
    trials = []
    for t in plan.trials:
        (level,) = plan.arm(t.arm).levels.values()
        values = {
            name: usual
            * changes[level].get(name, 1.0)
            * float(np.exp((spread or {}).get(level, noise) * source.standard_normal()))
            if name == "tps"
            else usual
            * changes[level].get(name, 1.0)
            * float(np.exp(noise * source.standard_normal()))
            for name, usual in USUAL.items()
        }
        whole = StepMeasures(None, 0, 1, 10_000, values)
        trials.append(TrialMeasures(t.number, t.block, t.position, t.arm, whole, (), ()))
    return Analysis(answer_of("?", plan, trials))


def weighed(analysis: Analysis) -> TradeOff:
    (one,) = analysis.answer.trade_offs
    return one


FACTOR = "vm.vfs_cache_pressure"


def claims(analysis: Analysis) -> list[Note]:
    return [
        f.claim
        for f in find(analysis, RunFacts())
        if f.title == Note("findings/answer/trade_offs/title")
    ]


def claim(form: str, **values: Value) -> Note:
    return Note(f"findings/answer/trade_offs/texts.{form}", values)


def choice(form: str, aim: str, *levels: str) -> Note:
    return claim(form, aims=(aim,), factor=FACTOR, levels=levels)


def test_a_level_that_is_faster_with_a_worse_tail_is_a_choice() -> None:
    analysis = analysis_of({"100": {}, "150": {"tps": 1.1, "latency_p99": 1.4}})
    one = weighed(analysis)
    assert one.disagree
    assert one.unbeaten == ("100", "150")
    assert one.beaten == ()
    said = claims(analysis)
    assert choice("choose", "throughput", "150") in said
    assert choice("choose", "a short tail of latency", "100") in said
    assert claim("unbeaten") in said
    table = trade_off_table(one, one.criteria)
    best = dict(zip(table.column("criterion"), table.column("best"), strict=True))
    assert best["Throughput"] == "150"
    assert best["99th percentile of latency"] == "100"
    assert best["Memory in use on the host"] == "–"


def test_the_seeds_choice_between_steadiness_and_the_disk() -> None:
    """vfs_cache_pressure 100 is the steadiest, with 150 disk requests are the shortest."""
    analysis = analysis_of(
        {
            "50": {"tps": 0.95, "tps_variation": 1.5, "disk_await_ms": 1.1},
            "100": {},
            "150": {"tps_variation": 1.6, "disk_await_ms": 0.7},
        },
        noise=0.01,
    )
    one = weighed(analysis)
    best = {criterion.name: criterion.best for criterion in one.criteria}
    assert best["steadiness_within"] == ("100",)
    assert best["disk_time"] == ("150",)
    assert best["speed"] == ("100", "150")
    assert one.disagree
    said = claims(analysis)
    assert choice("choose", "steady throughput within a trial", "100") in said
    assert choice("choose", "short disk requests", "150") in said
    assert choice("choose_some", "throughput", "100", "150") in said


def test_a_dominated_level_is_beaten_and_no_other_is() -> None:
    analysis = analysis_of({"50": {}, "100": {"tps": 0.9, "latency_p99": 1.3}, "150": {}})
    one = weighed(analysis)
    assert one.unbeaten == ("50", "150")
    assert {each.level for each in one.beaten} == {"100"}
    assert all(not each.open_in for each in one.beaten)
    (said,) = (one.values for one in claims(analysis) if one.code == claim("beaten").code)
    assert (said["level"], said["other"]) == (f"{FACTOR} = 100", "50")
    assert isinstance(said["worse"], tuple)
    assert {"throughput", "tail latency"} <= set(said["worse"])


def test_a_level_is_not_called_beaten_where_a_noisy_criterion_may_favour_it() -> None:
    analysis = analysis_of({"100": {}, "150": {"tps": 0.6}}, noise=0.12, blocks=6)
    one = weighed(analysis)
    (each,) = one.beaten
    assert (each.level, each.by) == ("150", "100")
    assert "disk_time" in each.open_in
    assert one.matters is False
    assert one.unbeaten == ("100", "150")
    assert claims(analysis) == [], "two levels of which one is better are no trade-off"


def test_a_level_that_only_looks_worst_is_not_advised() -> None:
    """50 looks worse than 100, which is clearly worse than 150, and is itself not clearly worse."""
    figures = [LevelFigure(level, mean, None, None, "baseline") for level, mean in MEANS.items()]
    own = Criterion(
        "wal", "WAL", "little WAL", "WAL", "wal_bytes_per_tx", tuple(figures), (), False
    )
    one = replace(own, best=("50", "150"))
    trade_off = TradeOff("vm.vfs_cache_pressure", THREE, (one,), (), THREE, False)
    analysis = changed(analysis_of({level: {} for level in THREE}), trade_offs=(trade_off,))
    assert claims(analysis)[0] == choice("avoid", "little WAL", "100")
    assert trade_off_table(trade_off, trade_off.criteria).column("best") == ("not 100",)


def test_two_levels_that_no_criterion_sets_apart_have_nothing_to_weigh() -> None:
    assert claims(analysis_of({"100": {}, "150": {"tps": 1.1}})) == []


def test_noise_alone_makes_hardly_a_claim() -> None:
    """Of three equal levels: one family of comparisons with the baseline, another of the rest."""
    made = 0
    runs = 100
    for seed in range(runs):
        one = weighed(analysis_of({level: {} for level in THREE}, noise=0.03, seed=seed))
        made += any(
            criterion.name not in ("speed", "tail_latency") and len(criterion.best) < 3
            for criterion in one.criteria
        )
        assert not one.disagree
    assert made <= 0.1 * runs
    analysis = analysis_of({level: {} for level in THREE}, noise=0.03, seed=3)
    assert claims(analysis) == [claim("nothing", factor=FACTOR)]


def test_a_level_with_less_spread_from_trial_to_trial_is_found() -> None:
    analysis = analysis_of(
        {"100": {}, "150": {"latency_p99": 1.5}}, spread={"100": 0.12, "150": 0.005}, blocks=16
    )
    best = {criterion.name: criterion.best for criterion in weighed(analysis).criteria}
    assert best["steadiness_between"] == ("150",)
    assert weighed(analysis).disagree


@pytest.mark.parametrize("blocks", [6, 8, 12])
def test_equal_spreads_are_hardly_ever_called_different(blocks: int) -> None:
    plan = plan_of(("100", "150"), blocks)
    clear = 0
    runs = 150
    for seed in range(runs):
        source = np.random.default_rng(seed)
        drift = np.cumsum(0.01 * source.standard_normal(blocks + 1))
        trials = []
        for t in plan.trials:
            tps = 5000 * float(np.exp(drift[t.block] + 0.03 * source.standard_normal()))
            whole = StepMeasures(None, 0, 1, 10_000, {"tps": tps})
            trials.append(TrialMeasures(t.number, t.block, t.position, t.arm, whole, (), ()))
        (own,) = (
            c
            for c in Analysis(answer_of("?", plan, trials)).answer.comparisons
            if c.metric == "tps_deviation"
        )
        clear += bool(own.clear)
    assert clear <= 0.08 * runs


def test_the_distance_from_the_median_needs_four_trials_of_each_arm() -> None:
    def trial(number: int, arm: str, tps: float) -> TrialMeasures:
        return TrialMeasures(
            number, number, 1, arm, StepMeasures(None, 0, 1, 1, {"tps": tps}), (), ()
        )

    few = [trial(n, arm, 100.0 + n) for n in range(3) for arm in ("a1", "a2")]
    assert all("tps_deviation" not in one.whole.values for one in with_deviations(few))
    many = [trial(n, arm, 100.0 * (1.1**n)) for n in range(5) for arm in ("a1", "a2")]
    away = [one.whole.values["tps_deviation"] for one in with_deviations(many)]
    assert away[::2] == pytest.approx([100 * np.log(1.1) * abs(n - 2) for n in range(5)])


def test_what_a_level_may_gain_has_the_same_interval_with_and_without_the_baseline() -> None:
    changes = {"50": {}, "100": {"wal_bytes_per_tx": 1.2}, "150": {"swapped_pages_per_s": 1.1}}
    analysis, plan = analysis_of(changes, noise=0.05), plan_of(tuple(changes))
    pairs = compared_pairs(
        plan, plan.factors[0], analysis.answer.trials, analysis.answer.comparisons
    )
    widths = {
        pair.first == "50": (pair.plain.ci95[1] - pair.plain.ci95[0]) / pair.plain.standard_error
        for pair in pairs
        if pair.comparison.metric == "wal_bytes_per_tx"
        and pair.plain.ci95
        and pair.plain.standard_error
    }
    assert set(widths) == {True, False}
    assert widths[True] == pytest.approx(widths[False])
    for pair in pairs:
        if pair.comparison.metric == "wal_bytes_per_tx":
            own, plain = pair.comparison.ci95, pair.plain.ci95
            assert own is not None
            assert plain is not None
            assert own[0] <= plain[0] < plain[1] <= own[1]
