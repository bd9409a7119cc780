"""The statements of a replayed trace: each compared with itself, over blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from pgassay.analysis.compare.model import Verdict
from pgassay.analysis.queries.replayed import replayed_statements
from pgassay.samples.forms.trial import TrialFile
from support.synthetic.designs import plan_of_levels

PLAN = plan_of_levels(least=6)
BASE, OTHER = (arm.id for arm in PLAN.arms)
STEP = {
    "index": 0, "clients": 1, "measured": True, "start_ns": 0, "end_ns": 10**9,
    "transactions": 10, "failed": 0, "tps": 10.0, "client_cpu_s": 0.1,
}  # fmt: skip
FACTS = {
    "schema": "pgassay.trial/1", "position": 1, "levels": {}, "checkpoints_from": "log",
    "warnings": [],
}  # fmt: skip
CALLS = (1000, 100, 10)
CHANGED = (1.0, 0.8, 1.3)
"""Of each statement: its time at the level, of that at the baseline."""


def trials(*, is_replay: bool = True, **of_one: Any) -> list[TrialFile]:
    """Six blocks; the first statement fails as it did at the source. `of_one` are figures of the
    last statement in the last trial."""
    noise = np.random.default_rng(1)
    loads: list[tuple[int, str, list[dict[str, Any]]]] = [
        (
            block,
            arm,
            [
                {
                    "number": number,
                    "word": "SELECT",
                    "count": calls,
                    "failed": int(number == 0),
                    "mean_ms": (changed if arm == OTHER else 1.0)
                    * math.exp(noise.normal(0.0, 0.005)),
                }
                for number, (calls, changed) in enumerate(zip(CALLS, CHANGED, strict=True))
            ],
        )
        for block in range(1, 7)
        for arm in (BASE, OTHER)
    ]
    loads[-1][2][-1].update(of_one)
    return [
        TrialFile.read(
            {
                **FACTS,
                "number": number,
                "block": block,
                "arm": arm,
                "load": {"steps": [STEP], "replay": {"statements": own} if is_replay else None},
            }
        )
        for number, (block, arm, own) in enumerate(loads, 1)
    ]


def test_each_statement_is_compared_with_itself_and_what_costs_most_time_stands_first() -> None:
    found = replayed_statements(PLAN, trials())
    assert found is not None
    effects = {one.query: one for one in found.effects}
    assert next(one.query for one in found.effects) == "1 SELECT"
    assert {name: one.verdict for name, one in effects.items()} == {
        "0 SELECT": Verdict.EQUIVALENT,
        "1 SELECT": Verdict.BETTER,
        "2 SELECT": Verdict.WORSE,
    }
    assert effects["1 SELECT"].change_pct == pytest.approx(-20.0, abs=1.0)
    assert effects["1 SELECT"].gained_ms == pytest.approx(0.2 * CALLS[1], rel=0.1)


@pytest.mark.parametrize("of_one", [{"failed": 3}, {"number": 7}])
def test_a_statement_that_ended_otherwise_or_is_unknown_in_a_trial_is_not_compared(
    of_one: Mapping[str, Any],
) -> None:
    found = replayed_statements(PLAN, trials(**of_one))
    assert found is not None
    assert {one.query for one in found.effects if one.ci95_pct} == {"0 SELECT", "1 SELECT"}


def test_another_load_has_no_statements_of_a_trace() -> None:
    assert replayed_statements(PLAN, trials(is_replay=False)) is None
