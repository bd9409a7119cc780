"""The effect of a run that ended early, adjusted for having ended where it looked large."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from bench.validate.looks import conclude
from bench.validate.whole_trials.false_positives import Rule, plan_of
from bench.validate.whole_trials.nasty_worlds import World, noise, trials_of

from pgassay.analysis.judge import judge
from pgassay.analysis.model import Analysis, Verdict
from pgassay.findings.answer.verdicts import early_end, find

SEQUENTIAL = Rule("6 to 24", 6, 24)


def ended(seed: int, effect: float, rule: Rule = SEQUENTIAL, levels: int = 2) -> Analysis:
    plan = plan_of(rule, seed, levels)
    values = noise(World("normal"), plan, np.random.default_rng(seed))
    analysis, block = conclude(plan, trials_of(plan, values, effect))
    trials = [one for one in trials_of(plan, values, effect) if one.block <= block]
    found = judge(plan, trials).verdicts
    assert [v.verdict for v in found.verdicts()] == [v.verdict for v in analysis.verdicts()]
    return found


def test_the_adjusted_effect_is_less_inflated() -> None:
    found = [ended(seed, 0.02) for seed in range(60)]
    early = [v for a in found if (v := a.verdicts()[0]).verdict is Verdict.BETTER and a.blocks < 24]
    assert len(early) > 40
    effects = [v.effect_pct or 0.0 for v in early]
    adjusted = [v.effect_adjusted_pct or 0.0 for v in early]
    assert all(0.0 < after < before for after, before in zip(adjusted, effects, strict=True))
    assert 2.0 < np.mean(adjusted) < np.mean(effects)


def test_a_large_effect_is_hardly_adjusted() -> None:
    (verdict,) = ended(1, 0.2).verdicts()
    assert verdict.effect_pct is not None
    assert verdict.effect_adjusted_pct is not None
    assert abs(verdict.effect_adjusted_pct - verdict.effect_pct) < 0.05 * verdict.effect_pct


def test_only_a_run_that_ended_early_on_its_only_verdict_is_adjusted() -> None:
    fixed = ended(1, 0.05, Rule("8", 8, 8))
    assert fixed.verdicts()[0].verdict is Verdict.BETTER
    assert fixed.verdicts()[0].effect_adjusted_pct is None
    same = next(a for seed in range(20) if (a := ended(seed, 0.0)).blocks < 24)
    assert same.verdicts()[0].effect_adjusted_pct is None
    assert all(v.effect_adjusted_pct is None for v in ended(1, 0.05, levels=3).verdicts())


def test_the_answer_gives_the_adjusted_effect_last_where_it_differs_visibly() -> None:
    analysis = ended(3, 0.05)
    (verdict,) = analysis.verdicts()
    assert verdict.verdict is Verdict.BETTER
    visible = replace(verdict, effect_pct=3.1, effect_adjusted_pct=2.64)
    (answer,) = find(replace(analysis, comparisons=(visible,)))
    assert answer.text.endswith("blocks). " + early_end(visible).strip())
    assert early_end(visible).endswith("adjusted for that it is about 2.6 %.")
    assert early_end(replace(verdict, effect_pct=3.1, effect_adjusted_pct=3.08)) == ""
    assert early_end(replace(visible, verdict=Verdict.UNDECIDED)) == ""
