"""Latency by quantile: what all transactions together have, no further than they reach."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pgassay.analysis.curves.latency_curve import latency_curves
from pgassay.analysis.measures.courses.latencies import ALL, read_latencies
from pgassay.plan.model import Plan
from support.synthetic.designs import plan_of_spec
from support.synthetic.directories import SPEC, synthetic_run
from support.synthetic.latencies import scenario, trial


def plan_of() -> Plan:
    return plan_of_spec(SPEC)


def drawn(seed: int, count: int = 40_000) -> NDArray[np.float64]:
    return np.exp(np.random.default_rng(seed).normal(0.5, 0.8, count))


def test_the_curve_is_of_all_transactions_and_the_band_of_the_trials() -> None:
    own = [drawn(1), 1.2 * drawn(2), 0.9 * drawn(3)]
    longest = max(float(values.max()) for values in own)
    trials = [
        trial(n, "a1", {"pay": replace(scenario(values), longest_ms=float(values.max()))})
        for n, values in enumerate(own)
    ]
    (curve,) = latency_curves(plan_of(), trials)
    assert (curve.scenario, curve.arm, curve.of, curve.trials) == (ALL, "a1", "latency", 3)
    assert curve.transactions == 120_000
    assert curve.max_ms == pytest.approx(longest)
    together = np.concatenate(own)
    for share in (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999):
        assert curve.at(share) == pytest.approx(np.quantile(together, share), rel=0.03)
    at = curve.shares.index(0.99)
    each = [float(np.quantile(values, 0.99)) for values in own]
    assert curve.low_ms[at] == pytest.approx(min(each), rel=0.02)
    assert curve.high_ms[at] == pytest.approx(max(each), rel=0.02)
    assert list(curve.latency_ms) == sorted(curve.latency_ms)


def test_a_quantile_needs_ten_slower_transactions_together_and_in_each_trial_for_its_band() -> None:
    trials = [trial(n, "a1", {"pay": scenario(drawn(n, 600))}) for n in range(4)]
    (curve,) = latency_curves(plan_of(), trials)
    assert curve.at(0.99) is not None  # 24 of 2 400
    assert curve.at(0.999) is None
    assert max(curve.shares) <= 1 - 10 / 2400
    known = [share for share, low in zip(curve.shares, curve.low_ms, strict=True) if low]
    assert max(known) <= 1 - 10 / 600


def test_scenarios_have_curves_of_their_own_after_all_of_them_together() -> None:
    fast, slow = drawn(1, 2_000), 10 * drawn(2, 2_000)
    both = np.concatenate([fast, slow])
    found = {"fast": scenario(fast), "slow": scenario(slow), ALL: scenario(both)}
    trials = [trial(1, "a1", found), trial(1, "a2", found)]
    curves = latency_curves(plan_of(), trials)
    assert [(one.scenario, one.arm) for one in curves] == [
        (name, arm) for name in (ALL, "fast", "slow") for arm in ("a1", "a2")
    ]


def test_with_a_rate_the_curve_is_of_response_times(tmp_path: Path) -> None:
    rated = SPEC.replace("clients = 8", "clients = 8\nrate = 2000")
    run, _, plan = synthetic_run(tmp_path / "run", spec_text=rated, blocks=1)
    trials = [read_latencies(one) for one in run.trials()]
    curve = latency_curves(plan, trials)[0]
    assert curve.of == "response"
    (found,) = trials[0].scenarios.values()
    assert found.responses is not None
    median = curve.at(0.5)
    assert median is not None
    assert median == pytest.approx(2 * found.mean_ms, rel=0.1)
