"""The simulated looks of a run give what the run itself gives, which knows no look before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench.validate.alternating.switchback_errors import World, each_trial, make_design
from bench.validate.looks import conclude

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.judge import verdicts
from pgassay.analysis.model import Analysis

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("lasts_s", [0.0, 1.0])
def test_a_look_after_another_is_that_of_all_looks_and_of_the_whole_analysis(
    lasts_s: float,
) -> None:
    world = World("made up", effect=0.1, lasts_s=lasts_s)
    found = set()
    for seed in range(4):
        plan = make_design(4, 8, 16, seed)
        trials = list(each_trial(plan, world, np.random.default_rng(seed)))
        at_end, block = conclude(plan, trials)
        until_then = [trial for trial in trials if trial.block <= block]
        assert at_end == verdicts(plan, until_then)
        whole = Analysis(answer_of("?", plan, until_then))
        unadjusted = (replace(one, effect_adjusted_pct=None) for one in whole.answer.verdicts())
        assert at_end.verdicts() == tuple(unadjusted)
        assert at_end.carry_over == whole.answer.carry_over
        found |= {test.found_after for test in whole.answer.carry_over}
    assert len(found) > 1 or not lasts_s
