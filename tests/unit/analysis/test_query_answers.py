"""Queries whose numbers of rows differ are named, and not told apart where they vary anyhow."""

from __future__ import annotations

from dataclasses import replace

from pgassay.analysis.measures.model import TrialQueries
from pgassay.analysis.queries.answers import answer_caveats, answers_differ
from pgassay.plan.whole_loads import QuerySet
from support.synthetic.designs import plan_of_levels

PLAN = replace(
    plan_of_levels(least=6, design="mode = 'blocks'"),
    queries=QuerySet(5, 2, parameters=("by-card", "limit")),
)


def test_rows_that_differ_between_arms_and_rows_that_vary_are_two_caveats() -> None:
    found = []
    for trial in PLAN.trials:
        changed = int(trial.arm != "a1")
        rows = {
            "same": {1: (7,), 2: (7,)},
            "rewritten": {1: (10 + 2 * changed,), 2: (10 + 2 * changed,)},
            "dice": {1: (10,), 2: (11 + changed,)},
            "by-card": {1: (3,), 2: (4,)},
            "limit": {1: (3,), 2: (4 + changed,)},
        }
        found.append(TrialQueries(trial.number, trial.block, trial.arm, {}, rows=rows))
    limit, rewritten, vary = answer_caveats(PLAN, found)
    labels = [arm.label for arm in PLAN.arms]
    assert rewritten.text.startswith(
        f"rewritten returned 10 rows with {labels[0]}, 12 rows with {labels[1]}: the answers differ"
    )
    assert limit.text.startswith("limit returned 4 rows with")
    assert "dice (10 to 12)" in vary.text
    assert "by-card" not in vary.text
    names = ("same", "rewritten", "dice", "by-card", "limit")
    assert {one for one in names if answers_differ(PLAN, found, one)} == {"rewritten", "limit"}


def test_rows_that_are_others_are_told_where_they_are_the_same_in_each_arm() -> None:
    found = []
    for trial in PLAN.trials:
        changed = trial.arm != "a1"
        answers = {"same": "1", "rewritten": "2" if changed else "1", "ties": str(trial.number)}
        rows = {key: {1: (7,)} for key in answers}
        found.append(
            TrialQueries(trial.number, trial.block, trial.arm, {}, rows=rows, answers=answers)
        )
    (told,) = answer_caveats(PLAN, found)
    assert answers_differ(PLAN, found, "rewritten")
    assert told.text.startswith("rewritten returned other rows in one arm than in another")
    assert not list(answer_caveats(PLAN, found[:2])), "one trial of each arm does not tell"
