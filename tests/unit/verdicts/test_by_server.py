"""Blocks of one experiment on several servers: what servers share cancels, what differs is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.model import ByServer, Dependence
from pgassay.analysis.judge import answered
from pgassay.analysis.measures.within_run import RUN_AGAIN, of_one_server
from pgassay.analysis.model import Analysis, RunFacts, TrialMeasures
from pgassay.analysis.verdicts.drift import unlike_server_caveats
from pgassay.findings.registry import find
from pgassay.notes import Note
from pgassay.plan.model import Plan
from support.notes import values_in
from support.synthetic.designs import plan_of_spec
from support.synthetic.directories import SPEC
from support.synthetic.environments import environment_of
from support.synthetic.fleets import by_turns, fleet_trials


def plan_with(blocks: int) -> Plan:
    text = SPEC.replace("= 6\nmax_blocks = 6", f"= {blocks}\nmax_blocks = {blocks}")
    return plan_of_spec(text)


def judged(blocks: int, effects: dict[str, float], noise: float = 0.005) -> ByServer:
    plan = plan_with(blocks)
    trials = fleet_trials(plan, effects, by_turns(*effects), noise=noise)
    (found,) = Analysis(answer_of("?", plan, trials)).answer.by_server
    return found


def test_an_effect_that_differs_between_servers_is_found_and_is_a_caveat() -> None:
    plan = plan_with(8)
    trials = fleet_trials(plan, {"north": 0.1, "south": 0.0}, by_turns("north", "south"))
    analysis = Analysis(answer_of("?", plan, trials))
    (found,) = analysis.answer.by_server
    assert found.verdict is Dependence.DEPENDS
    assert found.test is not None
    assert found.test.by == "permutation"
    # 70 ways to deal 8 blocks to two servers; the one that was and its mirror are the extremes.
    assert found.test.p == pytest.approx(2 / 70)
    assert [(one.server, one.blocks) for one in found.servers] == [("north", 4), ("south", 4)]
    north, south = found.servers
    assert north.ci95_pct is not None
    assert north.ci95_pct[0] < 10.0 < north.ci95_pct[1]
    assert south.ci95_pct is not None
    assert south.ci95_pct[0] < 0.0 < south.ci95_pct[1]
    (caveat,) = [one for one in analysis.warnings if one.kind == "servers"]
    assert "differs between servers" in caveat.text
    assert "south" in caveat.text
    assert any("differs between servers" in one.text for one in find(analysis, RunFacts()))


def test_the_mean_over_blocks_stays_the_verdict() -> None:
    plan = plan_with(8)
    trials = fleet_trials(plan, {"north": 0.1, "south": 0.0}, by_turns("north", "south"))
    alone = [replace(trial, server="") for trial in trials]
    together, one_server = (
        Analysis(answer_of("?", plan, trials)),
        Analysis(answer_of("?", plan, alone)),
    )
    assert together.answer.comparisons == one_server.answer.comparisons
    assert one_server.answer.by_server == ()


def test_equal_effects_are_called_the_same_only_with_enough_blocks() -> None:
    alike = {"north": 0.1, "south": 0.1, "west": 0.1}
    assert judged(12, alike).verdict is Dependence.INDEPENDENT
    assert judged(6, alike, noise=0.05).verdict is Dependence.UNDECIDED


def test_many_blocks_are_tested_by_the_distribution_of_f() -> None:
    found = judged(20, {"north": 0.05, "south": 0.0})
    assert found.test is not None
    assert found.test.by == "F"
    assert found.test.freedom[0] == 1
    assert found.verdict is Dependence.DEPENDS


def test_one_block_a_server_is_not_tested() -> None:
    found = judged(2, {"north": 0.1, "south": 0.0})
    assert (found.test, found.verdict) == (None, Dependence.UNDECIDED)
    assert all(one.ci95_pct is None for one in found.servers)
    plan = plan_with(2)
    trials = fleet_trials(plan, {"north": 0.1, "south": 0.0}, by_turns("north", "south"))
    claims = [one.claim for one in find(Analysis(answer_of("?", plan, trials)), RunFacts())]
    assert "findings/answer/untested-by-server" in [one.code for one in claims]


def test_where_effects_agree_one_run_in_twenty_at_most_says_that_they_differ() -> None:
    plan = plan_with(9)
    servers = by_turns("a", "b", "c")
    same = dict.fromkeys("abc", 0.03)
    said = 0
    for seed in range(60):
        trials = fleet_trials(plan, same, servers, noise=0.02, seed=seed)
        (found,) = Analysis(answer_of("?", plan, trials)).answer.by_server
        said += found.verdict in (Dependence.DEPENDS, Dependence.NEGLIGIBLE)
    # Binomial(60, 0.05) exceeds 9 once in 1 000.
    assert said <= 9


def rerun(trials: list[TrialMeasures], plan: Plan, block: int, ran: int) -> list[TrialMeasures]:
    """The first server was lost after so many trials of a block, which another one ran again."""
    own = [trial for trial in trials if trial.block == block]
    left = own[:ran]
    again = [
        replace(
            trial,
            server="other",
            number=trial.number + (len(plan.trials) if trial in left else 0),
            repeats=trial.number if trial in left else None,
        )
        for trial in own
    ]
    return [trial for trial in trials if trial not in own] + left + again


def test_of_a_block_that_was_run_again_elsewhere_only_the_whole_one_counts() -> None:
    plan = plan_with(6)
    trials = fleet_trials(plan, {"north": 0.1, "south": 0.1}, by_turns("north", "south"))
    found = Analysis(answer_of("?", plan, rerun(trials, plan, block=2, ran=1)))
    assert found.answer.blocks == 6
    (left,) = found.answer.invalid_trials
    assert (left.block, left.server, left.invalid) == (2, "south", (RUN_AGAIN,))
    assert {one.server for one in found.answer.trials if one.block == 2} == {"other"}
    (caveat,) = [one for one in found.warnings if one.kind == "invalid-trial"]
    said = values_in(caveat.note)
    assert said["analysis/verdicts/invalid"] == {"number": 3, "items": (RUN_AGAIN,)}
    assert said["analysis/verdicts/invalid-replaced"]["value"] == 15
    assert not [one for one in found.warnings if one.kind in ("lost-trials", "unfinished")]
    assert answered(plan, 6, rerun(trials, plan, block=2, ran=1))


def test_a_block_that_no_server_finished_is_missing_from_a_fixed_run() -> None:
    plan = plan_with(6)
    trials = fleet_trials(plan, {"north": 0.1, "south": 0.1}, by_turns("north", "south"))
    first, second = (trial for trial in trials if trial.block == 6)
    halves = [trial for trial in trials if trial.block != 6]
    halves += [first, replace(second, server="other")]
    found = Analysis(answer_of("?", plan, halves))
    assert found.answer.blocks == 5
    assert [one.kind for one in found.warnings if one.kind == "unfinished"] == ["unfinished"]


def test_the_choice_of_a_server_does_not_look_at_figures() -> None:
    plan = plan_with(6)
    trials = rerun(
        fleet_trials(plan, {"north": 0.1, "south": 0.1}, by_turns("north", "south")), plan, 2, 1
    )
    source = np.random.default_rng(3)
    other = [
        replace(trial, whole=replace(trial.whole, values={"tps": float(source.uniform(1, 9))}))
        for trial in trials
    ]

    def kept(some: list[TrialMeasures]) -> list[int]:
        return [one.number for one in of_one_server(some) if not one.invalid]

    assert kept(trials) == kept(other)
    assert of_one_server(of_one_server(trials)) == of_one_server(trials)


def test_settings_in_which_servers_of_a_fleet_differ_are_a_caveat() -> None:
    differing = {"shared_buffers": {"north": "128MB", "south": "1GB"}}
    (caveat,) = unlike_server_caveats(
        environment_of(fleet={"north": {}}, settings_that_differ=differing)
    )
    assert caveat.note.values["n"] == 1
    assert values_in(caveat.note)["analysis/verdicts/setting-by-server"] == {
        "name": "shared_buffers",
        "values": (
            Note.of("analysis/verdicts/value-on", value="128MB", server="north"),
            Note.of("analysis/verdicts/value-on", value="1GB", server="south"),
        ),
    }
    # Where servers are a factor, what they differ in is part of the answer.
    assert not list(unlike_server_caveats(environment_of(settings_that_differ=differing)))


def test_where_servers_and_orders_go_together_nothing_is_said() -> None:
    """One server runs the blocks of one order, the other those of the other order."""
    plan = plan_with(4)
    servers = {
        block: "north" if plan.block(block)[0].arm == "a1" else "south" for block in (1, 2, 3, 4)
    }
    trials = fleet_trials(plan, {"north": 0.1, "south": 0.0}, servers.__getitem__)
    (found,) = Analysis(answer_of("?", plan, trials)).answer.by_server
    assert found.verdict is Dependence.UNDECIDED
    assert found.test is None
    assert [one.ci95_pct for one in found.servers] == [None, None]
