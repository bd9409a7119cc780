"""Fractions are those of the textbook, and say what they cannot tell apart.

Known answers: Box, Hunter & Hunter, Statistics for Experimenters (2005), table 6.22 and chapter 6.
"""

from __future__ import annotations

import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.plan.description import aliases, combinations_line
from pgassay.plan.factorial.aliases import alias_lines, aliases_of
from pgassay.plan.factorial.fraction import Fraction, smallest_fraction
from pgassay.plan.model import Plan
from support.refusals import refused
from support.synthetic.designs import plan_of_factors

TWO_LEVEL = ("jit", "fsync", "full_page_writes", "wal_compression", "autovacuum", "enable_sort")
LETTERS = "ABCDEFGHIJKLMNOP"


def plan_of(count: int, design: str, more: str = "") -> Plan:
    factors = dict.fromkeys(TWO_LEVEL[:count], ("on", "off"))
    return plan_of_factors(factors, more=more, design=design)


def spelt(fraction: Fraction) -> list[str]:
    return ["".join(LETTERS[i] for i in range(16) if w >> i & 1) for w in fraction.defining]


@pytest.mark.parametrize(
    ("factors", "runs", "resolution"),
    [
        # The table of the book: factors, runs, the highest resolution.
        (3, 4, 3), (4, 8, 4), (5, 8, 3), (5, 16, 5), (6, 8, 3), (6, 16, 4), (6, 32, 6), (7, 8, 3),
        (7, 16, 4), (7, 64, 7), (8, 16, 4), (8, 64, 5), (9, 16, 3), (9, 32, 4), (9, 128, 6),
        (10, 16, 3), (10, 32, 4), (10, 128, 5), (11, 16, 3), (11, 32, 4), (11, 128, 5),
    ],
)  # fmt: skip
def test_the_fraction_is_as_small_and_as_good_as_the_textbooks(
    factors: int, runs: int, resolution: int
) -> None:
    found = smallest_fraction(factors, min(resolution, 5))
    assert found is not None
    assert (2**found.base, found.resolution) == (runs, resolution)


def test_defining_relations_are_the_textbooks() -> None:
    half, quarter = smallest_fraction(3, 3), smallest_fraction(5, 3)
    assert half is not None
    assert quarter is not None
    assert spelt(half) == ["ABC"]
    assert spelt(quarter) == ["ABD", "ACE", "BCDE"]


@given(st.integers(3, 12), st.sampled_from([3, 4, 5]))
def test_a_fraction_is_balanced_holds_the_baseline_and_separates_main_effects(
    factors: int, resolution: int
) -> None:
    fraction = smallest_fraction(factors, resolution)
    if fraction is None:
        assert factors < resolution
        return
    runs = list(fraction.runs())
    assert runs[0] == (0,) * factors
    assert len(set(runs)) == len(runs) == 2**fraction.base < 2**factors
    assert fraction.resolution >= resolution
    # Strength resolution - 1: any so many factors run through all their combinations alike.
    for some in itertools.combinations(range(factors), min(fraction.resolution, 4) - 1):
        seen = [tuple(run[at] for at in some) for run in runs]
        assert all(seen.count(cell) == len(runs) >> len(some) for cell in set(seen))
        assert len(set(seen)) == 2 ** len(some)


def test_aliases_of_a_half_of_three_factors_are_known() -> None:
    plan = plan_of(3, 'combinations = "fraction"\nresolution = 3')
    assert plan.resolution == 3
    assert "plan/resolution-3" in [one.code for one in plan.notes]
    assert len(plan.arms) == 4
    a, b, c = TWO_LEVEL[:3]
    # The half that holds the baseline of all is I = −ABC.
    assert aliases(plan) == (f"{a} = −{b} × {c}", f"{b} = −{a} × {c}", f"{c} = −{a} × {b}")


def test_aliases_of_a_quarter_of_five_factors_are_the_textbooks() -> None:
    plan = plan_of(5, 'combinations = "fraction"\nresolution = 3')
    names = dict(zip(TWO_LEVEL, "ABCDE", strict=False))
    found = {
        "".join(names[n] for n in effect): {"".join(names[n] for n in o.effect) for o in others}
        for effect, others in aliases_of(plan.factors, plan.arms).items()
    }
    # I = ABD = ACE = BCDE, up to two factors.
    assert found == {
        "A": {"BD", "CE"}, "B": {"AD"}, "C": {"AE"}, "D": {"AB"}, "E": {"AC"},
        "BC": {"DE"}, "DE": {"BC"}, "BE": {"CD"}, "CD": {"BE"},
        "AB": {"D"}, "AC": {"E"}, "AD": {"B"}, "AE": {"C"}, "BD": {"A", "CE"}, "CE": {"A", "BD"},
    }  # fmt: skip


def test_a_fraction_of_resolution_five_has_no_alias_up_to_two_factors() -> None:
    plan = plan_of(5, 'combinations = "fraction"\nresolution = 5')
    assert len(plan.arms) == 16
    assert aliases(plan) == ()
    assert "is estimated separately" in combinations_line(plan)


def test_an_alias_holds_for_any_response() -> None:
    plan = plan_of(4, 'combinations = "fraction"')
    for effect, others in aliases_of(plan.factors, plan.arms).items():
        for other in others:
            assert column(plan, effect) == [other.sign * x for x in column(plan, other.effect)]


def column(plan: Plan, effect: tuple[str, ...]) -> list[int]:
    base = {factor.name: factor.baseline for factor in plan.factors}
    return [
        math.prod(-1 if arm.levels[name] == base[name] else 1 for name in effect)
        for arm in plan.arms
    ]


def test_a_factor_of_three_levels_is_crossed_with_the_fraction() -> None:
    plan = plan_of(3, 'combinations = "fraction"\nresolution = 3', "work_mem = [4096, 8192, 16384]")
    assert len(plan.arms) == 12
    assert all(
        sum(arm.levels["work_mem"] == level for arm in plan.arms) == 4
        for level in ("4096", "8192", "16384")
    )
    assert plan.arms[0].levels == {**dict.fromkeys(TWO_LEVEL[:3], "on"), "work_mem": "4096"}
    assert not any("work_mem" in line for line in alias_lines(plan.factors, plan.arms))


def test_one_at_a_time_is_the_baseline_and_each_change() -> None:
    plan = plan_of(2, 'combinations = "one-at-a-time"', "work_mem = ['4MB', '8MB', '16MB']")
    baseline = plan.arms[0].levels
    changes = [
        [name for name in baseline if arm.levels[name] != baseline[name]] for arm in plan.arms[1:]
    ]
    assert changes == [["jit"], ["fsync"], ["work_mem"], ["work_mem"]]


@pytest.mark.parametrize(
    ("count", "design", "more", "code", "values"),
    [
        (2, 'combinations = "fraction"', "", "no-fraction", {"factors": 2}),
        (3, 'combinations = "fraction"', "", "no-fraction-of-resolution", {"lower": 3}),
        (4, 'combinations = "fraction"\nresolution = 5', "", "no-fraction-of-resolution",
         {"factors": 4}),
        (1, 'combinations = "fraction"', "work_mem = ['4MB', '8MB', '16MB']", "no-fraction",
         {"more": " (work_mem have more)", "factors": 1}),
        (3, 'combinations = "fraction"\nresolution = 3',
         f"work_mem = {json.dumps(list(range(64, 200)))}", "too-many-arms", {"most": 256}),
        (0, 'combinations = "one-at-a-time"',
         f"work_mem = {json.dumps(list(range(64, 400)))}", "too-many-arms", {"most": 256}),
    ],
)  # fmt: skip
def test_an_impossible_fraction_is_refused_by_code_and_values(
    count: int, design: str, more: str, code: str, values: dict[str, object]
) -> None:
    with refused(code, "design.combinations", **values):
        plan_of(count, design, more)


def test_a_resolution_is_one_of_a_fraction() -> None:
    with refused("resolution-without-fraction"):
        plan_of(2, "resolution = 3")
