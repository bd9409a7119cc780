"""When a run may end: looks fixed beforehand, after every block, or only after the last."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.estimate import estimate
from pgassay.analysis.compare.rule import Rule, rule_of
from pgassay.analysis.judge import answered
from pgassay.analysis.model import Analysis, IntervalKind
from pgassay.analysis.statistics import sequential
from pgassay.analysis.statistics.sequential import bounds, critical_t_at, spent
from pgassay.errors import SpecError
from pgassay.plan.model import Plan
from pgassay.plan.store import plan_from_json, plan_to_json, same_design
from support.synthetic.designs import plan_of_spec
from support.synthetic.kept import FOLDER
from support.synthetic.trials import trials_of

LOOKS = (6, 12, 18, 24)


def design(lines: str) -> Plan:
    text = f"[factors.postgres]\nfsync = ['on', 'off']\n[design]\nseed = 1\n{lines}\n"
    return plan_of_spec(text)


def obrien_fleming(fraction: float, alpha: float) -> float:
    """The spending function that the published bounds are of."""
    return float(4.0 * special.ndtr(special.ndtri(alpha / 4.0) / math.sqrt(fraction)))


@pytest.mark.parametrize(
    ("fractions", "published"),
    [
        # Lan and DeMets' programme, two-sided 5 %, the spending of O'Brien and Fleming's type.
        ((0.2, 0.4, 0.6, 0.8, 1.0), (4.8769, 3.3569, 2.6803, 2.2898, 2.0310)),
        ((0.5, 1.0), (2.9626, 1.9686)),
        ((1 / 3, 2 / 3, 1.0), (3.7103, 2.5114, 1.9930)),
        ((1.0,), (1.9600,)),
    ],
)
def test_the_normal_bounds_are_the_published_ones(
    fractions: tuple[float, ...], published: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequential, "spent", obrien_fleming)
    found = bounds.__wrapped__(fractions, 0.05)  # what is kept is of another spending function
    assert found == pytest.approx(published, abs=2e-4)


def test_all_of_the_error_is_spent_at_the_end() -> None:
    assert spent(1.0, 0.05) == pytest.approx(0.05)
    assert spent(0.25, 0.05) == pytest.approx(0.05 / 8)


def test_the_first_look_has_students_own_bound() -> None:
    expected = -special.stdtrit(5, spent(0.25, 0.05) / 2)
    assert critical_t_at(6, 0.05, LOOKS) == pytest.approx(expected)


@pytest.mark.parametrize("looks", [LOOKS, (3, 6, 9, 12), (2, 3, 4, 5, 6), (8, 16)])
def test_identical_arms_are_called_different_in_5_percent_also_with_few_blocks(
    looks: tuple[int, ...],
) -> None:
    rows = np.random.default_rng(5).standard_normal((40_000, looks[-1]))
    crossed = np.zeros(len(rows), dtype=bool)
    for n in looks:
        t = rows[:, :n].mean(axis=1) / (rows[:, :n].std(axis=1, ddof=1) / math.sqrt(n))
        crossed |= np.abs(t) > critical_t_at(n, 0.05, looks)
    assert 0.046 < crossed.mean() < 0.054


def test_bounds_do_not_depend_on_later_looks_and_all_come_of_one_simulation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(FOLDER)  # so that nothing comes from another test's simulation
    looks = (5, 7, 11, 13)
    for cached in (critical_t_at, sequential._criticals, sequential._simulated):
        cached.cache_clear()  # another test may have asked for the same looks
    simulations = sequential._simulated.cache_info().misses
    together = [critical_t_at(n, alpha, looks) for alpha in (0.05, 0.10) for n in looks]
    assert sequential._simulated.cache_info().misses == simulations + 1
    alone = [
        sequential._criticals(looks[: at + 1], looks[-1], alpha)[-1]
        for alpha in (0.05, 0.10)
        for at in range(len(looks))
    ]
    assert together == alone


def test_an_interrupted_run_is_judged_as_at_a_look() -> None:
    at_12, at_14, at_18 = (critical_t_at(n, 0.05, LOOKS) for n in (12, 14, 18))
    assert at_12 > at_14 > at_18
    assert math.isinf(critical_t_at(1, 0.05, LOOKS))


def test_a_group_sequential_run_ends_only_at_a_look() -> None:
    plan = design("stopping = 'group-sequential'\nlooks = [4, 8]")
    trials = trials_of(plan, effect=0.3, noise=0.01)
    ended = [b for b in range(1, 9) if answered(plan, b, [t for t in trials if t.block <= b])]
    assert ended == [4, 8]


def test_the_interval_names_the_stopping_rule() -> None:
    plan = design("stopping = 'group-sequential'\nlooks = [4, 8]")
    analysis = Analysis(answer_of("?", plan, trials_of(plan, effect=0.3, noise=0.01)))
    assert analysis.answer.interval is IntervalKind.GROUP


def test_a_run_of_many_blocks_may_end_after_some_of_them() -> None:
    plan = design("max_blocks = 100")
    assert plan.looks == plan.all_looks == (6, *range(8, 101, 2))
    assert plan.stops == "sequential"
    assert [block for block in range(1, 13) if plan.may_stop_after(block)] == [6, 8, 10, 12]
    assert rule_of(plan).looks == plan.all_looks
    assert design("max_blocks = 53").looks == ()
    assert design("max_blocks = 53").all_looks == tuple(range(6, 54))
    assert len(design("min_blocks = 2\nmax_blocks = 1000").all_looks) <= 48


def test_a_long_run_of_an_older_version_ends_after_any_block_and_can_be_resumed() -> None:
    plan = design("max_blocks = 100")
    old = replace(plan, looks=())
    assert old.may_stop_after(13)
    assert rule_of(old) == rule_of(plan)
    assert same_design(old, plan)
    assert not same_design(old, design("max_blocks = 98"))


def test_looks_are_stored_in_the_plan() -> None:
    plan = design("stopping = 'group-sequential'")
    assert plan.looks == (6, 12, 18, 24)
    assert plan_from_json(plan_to_json(plan)) == plan


def test_a_fixed_number_of_blocks_can_be_asked_for_by_name() -> None:
    plan = design("stopping = 'fixed'")
    assert (plan.min_blocks, plan.max_blocks, plan.stops) == (12, 12, "fixed")
    assert rule_of(plan).interval is IntervalKind.T
    assert design("stopping = 'fixed'\nmin_blocks = 8").max_blocks == 8


def test_a_plan_without_a_stored_stopping_rule_keeps_its_rule() -> None:
    stored = plan_to_json(design("min_blocks = 8\nmax_blocks = 8"))
    del stored["stopping"], stored["looks"]
    assert plan_from_json(stored).stops == "fixed"


@pytest.mark.parametrize(
    ("lines", "reported"),
    [
        ("looks = [4, 8]", 'stopping = "group-sequential"'),
        ("stopping = 'group-sequential'\nlooks = [8, 4]", "must rise"),
        ("stopping = 'group-sequential'\nlooks = [4, 8]\nmax_blocks = 12", "drop these two"),
        ("stopping = 'group-sequential'\nlooks = [4]", "looks"),
        ("stopping = 'group-sequential'\nmin_blocks = 6\nmax_blocks = 6", "several looks"),
        ("stopping = 'fixed'\nmin_blocks = 6\nmax_blocks = 12", "one number of blocks"),
        ("stopping = 'never'", "stopping"),
    ],
)
def test_a_design_that_contradicts_itself_is_refused(lines: str, reported: str) -> None:
    with pytest.raises(SpecError, match=reported.replace("[", r"\[")):
        design(lines)


@pytest.mark.parametrize("kind", list(IntervalKind))
def test_the_reported_number_of_blocks_decides_if_mean_and_spread_stay(
    kind: IntervalKind,
) -> None:
    looks = {IntervalKind.GROUP: LOOKS, IntervalKind.BOUNDED: tuple(range(6, 25))}.get(kind, ())
    rule = Rule(kind, 0.02, 1, looks)
    seen = np.array([-0.005, 0.035, 0.0, 0.03, -0.01, 0.04])
    margins = rule.margins(1.0, ratio=True)
    more = estimate(seen, margins, rule).blocks_to_decide
    assert more
    for blocks in (6 + more, 6 + more - 1):
        pattern = np.resize([1.0, -1.0], blocks)
        pattern = (pattern - pattern.mean()) / pattern.std(ddof=1)
        repeated = seen.mean() + seen.std(ddof=1) * pattern
        found = estimate(repeated, margins, rule)
        if rule.may_decide(blocks):
            assert (found.differs or found.inside) == (blocks == 6 + more)


def linear_search(seen: np.ndarray[tuple[int], np.dtype[np.float64]], rule: Rule) -> int | None:
    """The first block at which the rule decides if mean and spread stay, block by block."""
    n, mean, spread = len(seen), float(seen.mean()), float(seen.std(ddof=1))
    low, high = rule.margins(1.0, ratio=True)
    for stop in rule.stops_after(n):
        width = spread / math.sqrt(stop)
        if rule.critical(stop, stop, 0.05) * width < abs(mean):
            return stop - n
        if rule.critical(stop, stop, 0.10) * width < min(high - mean, mean - low):
            return stop - n
    return None


@settings(max_examples=150, deadline=None)
@given(
    rule=st.sampled_from(
        [
            (IntervalKind.T, ()),
            *((IntervalKind.GROUP, looks) for looks in (LOOKS, (4, 8), (5, 7, 11, 13))),
        ]
    ),
    simultaneous=st.integers(1, 5),
    blocks=st.integers(4, 30),
    mean=st.floats(-0.06, 0.06),
    spread=st.floats(0.001, 0.15),
)
def test_the_number_of_more_blocks_is_that_of_a_search_block_by_block(
    rule: tuple[IntervalKind, tuple[int, ...]],
    simultaneous: int,
    blocks: int,
    mean: float,
    spread: float,
) -> None:
    # Bisection finds the first only if a rule that decides at one block decides at all later ones.
    kind, looks = rule
    judged = Rule(kind, 0.02, simultaneous, looks)
    pattern = np.resize([1.0, -1.0], blocks)
    seen = mean + spread * (pattern - pattern.mean()) / pattern.std(ddof=1)
    found = estimate(seen, judged.margins(1.0, ratio=True), judged)
    expected = 0 if found.differs or found.inside else linear_search(seen, judged)
    assert found.blocks_to_decide == expected


def test_about_6_of_10_undecided_runs_are_decided_by_the_reported_number() -> None:
    source = np.random.default_rng(2)
    rule = Rule(IntervalKind.T, 0.02, 1)
    margins = rule.margins(1.0, ratio=True)
    decided: list[bool] = []
    while len(decided) < 300:
        truth, spread = source.uniform(-0.04, 0.04), source.uniform(0.01, 0.06)
        seen = truth + spread * source.standard_normal(6)
        more = estimate(seen, margins, rule).blocks_to_decide
        if more:
            longer = np.r_[seen, truth + spread * source.standard_normal(more)]
            found = estimate(longer, margins, rule)
            decided.append(found.differs or found.inside)
    assert 0.5 < np.mean(decided) < 0.7
