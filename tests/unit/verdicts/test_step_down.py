"""Several verdicts share the error: each that is reached leaves its share to the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from bench.validate.looks import conclude
from bench.validate.whole_trials.adverse_conditions import World, noise, trials_of
from bench.validate.whole_trials.false_positives import Rule as Ending
from bench.validate.whole_trials.false_positives import plan_of

from pgassay.analysis.compare.model import IntervalKind
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.compare.step_down import Reached, step_down
from pgassay.analysis.judge import judge

THREE = Rule(IntervalKind.T, 0.02, 3)


def reached(
    differ: Mapping[str, int], inside: Mapping[str, int], before: Reached[str] | None = None
) -> dict[str, tuple[int, int]]:
    """Key → the numbers of verdicts that share its errors; it is reached at these or fewer."""

    def says(found: tuple[str, Rule]) -> tuple[bool, bool]:
        key, rule = found
        return (
            rule.simultaneous <= differ.get(key, 0),
            (rule.simultaneous_inside or rule.simultaneous) <= inside.get(key, 0),
        )

    found, after = step_down("abc", lambda key, rule: (key, rule), says, THREE, before or Reached())
    assert set(after.rules) == {key for key, one in found.items() if any(says(one))}
    return {key: (rule.simultaneous, rule.simultaneous_inside) for key, (_, rule) in found.items()}


def test_a_difference_leaves_its_share_to_differences_and_an_equivalence_to_equivalences() -> None:
    assert reached({}, {}) == {"a": (3, 3), "b": (3, 3), "c": (3, 3)}
    assert reached({"a": 3, "b": 2}, {}) == {"a": (3, 3), "b": (2, 3), "c": (1, 3)}
    assert reached({"a": 3}, {"b": 3, "c": 2}) == {"a": (3, 3), "b": (3, 3), "c": (2, 2)}
    assert reached({"a": 3}, {"a": 3}) == {"a": (3, 3), "b": (2, 2), "c": (2, 2)}


def test_one_step_too_many_is_not_taken() -> None:
    assert reached({"a": 2, "b": 2, "c": 2}, {}) == {"a": (3, 3), "b": (3, 3), "c": (3, 3)}


def test_what_was_reached_at_an_earlier_look_keeps_its_rule_and_is_never_taken_back() -> None:
    rule = Reached[str]().rule_now(THREE)
    before = Reached({"a": rule}, different=1)
    found, after = step_down("ab", lambda _, rule: rule, lambda _: (False, False), THREE, before)
    assert found["a"] is rule
    assert found["b"].simultaneous == 2
    assert after == before


@pytest.mark.parametrize("effect", [0.0, 0.02])
def test_the_looks_of_a_run_are_repeated_from_its_trials(effect: float) -> None:
    """What a run has reached look by look is found again by an analysis of all its trials."""
    ending = Ending("6 to 24", 6, 24)
    shares = set()
    for seed in range(6):
        plan = plan_of(ending, seed, 4)
        values = noise(World("normal"), plan, np.random.default_rng(seed))
        at_end, block = conclude(plan, trials_of(plan, values, effect))
        last = {one.arm: one.block for one in at_end.trials}
        dropped = {arm: until for arm, until in last.items() if until < block}
        whole = judge(replace(plan, dropped=dropped), at_end.trials).verdicts
        assert [v.verdict for v in whole.verdicts()] == [v.verdict for v in at_end.verdicts()]
        assert whole.reached == at_end.reached
        rules = whole.reached.rules.values()
        shares |= {(rule.simultaneous, rule.simultaneous_inside) for rule in rules}
    assert len(shares) > 1
