"""The simulated worlds are what they say, and verdicts hold in them."""

from __future__ import annotations

import numpy as np
import pytest
from bench.validate.whole_trials.adverse_conditions import LEVELS, PART, RULES, WORLDS, do, noise
from bench.validate.whole_trials.false_positives import plan_of

pytestmark = pytest.mark.slow

DRIFT, FIRST = (next(at for at, w in enumerate(WORLDS) if w.name.startswith(start))
                for start in ("drift", "a block's first"))  # fmt: skip


@pytest.mark.parametrize("world", [DRIFT, FIRST])
@pytest.mark.parametrize("levels", range(len(LEVELS)))
def test_neither_drift_nor_a_slow_first_trial_makes_identical_arms_differ(
    world: int, levels: int
) -> None:
    found = do(((world, levels, 0, 0.0), 0))
    assert found["different"] <= 0.11 * PART
    assert found["holds"] >= 0.89 * PART


@pytest.mark.parametrize("world", [DRIFT, FIRST])
def test_nor_do_they_hide_an_effect(world: int) -> None:
    assert do(((world, 0, 1, 0.02), 0))["different"] >= 0.95 * PART


def test_a_world_does_what_it_says() -> None:
    plan = plan_of(RULES[-1], 1, 2)
    source = np.random.default_rng(1)
    drift = noise(WORLDS[DRIFT], plan, source)
    assert np.diff(drift).mean() == pytest.approx(0.02, abs=0.001)
    first = noise(WORLDS[FIRST], plan, source)
    ran_first = np.array([trial.position == 1 for trial in plan.trials])
    assert first[~ran_first].mean() - first[ran_first].mean() == pytest.approx(0.03, abs=0.003)
