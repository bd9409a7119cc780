"""The executions of a short query are spread over a trial, and each stretch of them is warm."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from pgassay.spec.workload.folder import Scenario
from pgassay.trials.load.query_set.runner import ArmQueries, Execution, run_session
from pgassay.trials.load.query_set.session import Executed
from pgassay.trials.load.query_set.texts import sent

REPEATS = {"short": 500, "middling": 25, "long": 3}


class Session:
    """Executes nothing."""

    is_lost, pid = False, 1

    def execute(self, *_text: Any, **_given: Any) -> Executed:
        return Executed(0, 1, 1, first=b"[]")


def executions(seed: str) -> list[Execution]:
    texts = {name: sent(Scenario(name, f"{name}.sql", "SELECT 1", 1.0)) for name in REPEATS}
    arms = [ArmQueries("a1", texts), ArmQueries("a2", texts)]
    found: list[Execution] = []
    session: Any = Session()

    def report(one: Execution) -> bool:
        found.append(one)
        return True

    run_session(
        session, arms, repeats=REPEATS, is_warm=True, rows={}, seed=seed, answers=(),
        explains_output=True,
        report=report,
    )  # fmt: skip
    return found


def test_a_short_query_has_passes_that_each_begin_with_what_does_not_count() -> None:
    found = executions("7/0")
    for arm in ("a1", "a2"):
        for name, count in REPEATS.items():
            own = [one.repeat for one in found if (one.query, one.arm) == (name, arm)]
            assert [one for one in own if one] == list(range(1, count + 1))
    stretches = [(name, list(own)) for name, own in groupby(found, key=lambda one: one.query)]
    assert all(not one.repeat for _, own in stretches for one in own[:2])
    assert len([name for name, _ in stretches if name == "long"]) == 1
    assert sum(not one.repeat for one in found if one.query == "short") == 2 * 10
    assert sum(one.is_explained for one in found) == 2 * len(REPEATS)
    assert found == executions("7/0"), "the arms of a block have the same order"
    assert found != executions("8/0")
