"""The simulated looks of a run give what the run itself gives, which knows no analysis before."""

from __future__ import annotations

import numpy as np
import pytest
from bench.validate.looks import conclude
from bench.validate.switchback_errors import World, each_trial, make_design

from pgassay.analysis.analyse import analyse


@pytest.mark.parametrize("lasts_s", [0.0, 1.0])
def test_an_analysis_after_another_is_that_of_all_looks(lasts_s: float) -> None:
    world = World("made up", effect=0.1, lasts_s=lasts_s)
    found = set()
    for seed in range(4):
        plan = make_design(4, 8, 16, seed)
        trials = list(each_trial(plan, world, np.random.default_rng(seed)))
        analysis, block = conclude(plan, trials)
        whole = analyse("?", plan, [trial for trial in trials if trial.block <= block])
        assert analysis == whole
        found |= {test.found_after for test in whole.carry_over}
    assert len(found) > 1 or not lasts_s
