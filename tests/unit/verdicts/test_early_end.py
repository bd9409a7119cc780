"""The effect of a run that ended early, adjusted for having ended where it looked large."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from bench.validate.looks import conclude
from bench.validate.whole_trials.adverse_conditions import World, noise, trials_of
from bench.validate.whole_trials.false_positives import Rule, plan_of

from pgassay.analysis.compare.early_end import adjusted_for_early_end
from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.gates.grammar import parse_gates
from pgassay.analysis.judge import judge
from pgassay.analysis.model import Analysis, RunFacts, Verdict
from pgassay.findings.answer.verdicts import early_end, find
from pgassay.notes import Note
from support.synthetic.analyses import changed

SEQUENTIAL = Rule("6 to 24", 6, 24)


def ended(seed: int, effect: float, rule: Rule = SEQUENTIAL, levels: int = 2) -> Analysis:
    plan = plan_of(rule, seed, levels)
    values = noise(World("normal"), plan, np.random.default_rng(seed))
    analysis, block = conclude(plan, trials_of(plan, values, effect))
    last = {trial.arm: trial.block for trial in analysis.trials}
    dropped = {arm: at for arm, at in last.items() if at < block}
    found = judge(replace(plan, dropped=dropped), analysis.trials).verdicts
    assert [v.verdict for v in found.verdicts()] == [v.verdict for v in analysis.verdicts()]
    return Analysis(found)


def test_the_adjusted_effect_is_less_inflated() -> None:
    found = [ended(seed, 0.02) for seed in range(60)]
    early = [
        v
        for a in found
        if (v := a.answer.verdicts()[0]).verdict is Verdict.BETTER and a.answer.blocks < 24
    ]
    assert len(early) > 40
    effects = [v.effect_pct or 0.0 for v in early]
    adjusted = [v.effect_adjusted_pct or 0.0 for v in early]
    assert all(0.0 < after < before for after, before in zip(adjusted, effects, strict=True))
    assert 2.0 < np.mean(adjusted) < np.mean(effects)


def test_a_large_effect_is_hardly_adjusted() -> None:
    (verdict,) = ended(1, 0.2).answer.verdicts()
    assert verdict.effect_pct is not None
    assert verdict.effect_adjusted_pct is not None
    assert abs(verdict.effect_adjusted_pct - verdict.effect_pct) < 0.05 * verdict.effect_pct


def test_a_dropped_level_is_adjusted_as_the_only_one_is() -> None:
    """Each by the share of the error that its verdict had."""
    verdict, other = ended(3, 0.03, levels=3).answer.verdicts()
    assert (verdict.verdict, verdict.shared_by) == (Verdict.BETTER, 2)
    assert verdict.blocks < other.blocks
    assert verdict.effect_pct is not None
    assert verdict.effect_adjusted_pct is not None
    assert 0.0 < verdict.effect_adjusted_pct < verdict.effect_pct
    plan = plan_of(SEQUENTIAL, 1, 3)
    alone = replace(plan, factors=(replace(plan.factors[0], levels=plan.factors[0].levels[:2]),))
    one = replace(verdict, shared_by=1, effect_adjusted_pct=None)
    (as_only,) = adjusted_for_early_end([one], alone, rule_of(alone))
    (as_shared,) = adjusted_for_early_end([one], plan, rule_of(plan))
    assert as_only.effect_adjusted_pct == as_shared.effect_adjusted_pct
    gated = replace(plan, gates=parse_gates(["throughput>-2%"]))
    assert not gated.drops_arms
    (kept,) = adjusted_for_early_end([one], gated, rule_of(gated))
    assert kept.effect_adjusted_pct is None


def test_only_verdicts_at_which_trials_ended_are_adjusted() -> None:
    fixed = ended(1, 0.05, Rule("8", 8, 8))
    assert fixed.answer.verdicts()[0].verdict is Verdict.BETTER
    assert fixed.answer.verdicts()[0].effect_adjusted_pct is None
    same = next(a for seed in range(20) if (a := ended(seed, 0.0)).answer.blocks < 24)
    assert same.answer.verdicts()[0].effect_adjusted_pct is None


def test_the_answer_gives_the_adjusted_effect_last_where_it_differs_visibly() -> None:
    analysis = ended(3, 0.05)
    (verdict,) = analysis.answer.verdicts()
    assert verdict.verdict is Verdict.BETTER
    visible = replace(verdict, effect_pct=3.1, effect_adjusted_pct=2.64)
    (answer,) = find(changed(analysis, comparisons=(visible,)), RunFacts())
    said = early_end(visible)
    assert said == Note.of("findings/answer/verdicts/early.any", adjusted=2.64)
    assert answer.text.endswith(f"blocks). {said}")
    assert early_end(replace(verdict, effect_pct=3.1, effect_adjusted_pct=3.08)) is None
    assert early_end(replace(visible, verdict=Verdict.UNDECIDED)) is None
