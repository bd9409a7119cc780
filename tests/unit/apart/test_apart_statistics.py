"""Runs made apart: a shift between them is no difference, and repeated runs are the unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from bench.validate.whole_trials.apart_errors import World, side_of, simulate

from pgassay.analysis.apart.compare import Question, compare_runs
from pgassay.analysis.apart.model import RunDifference, Session, Side, SideCollapses, SpreadSource
from pgassay.analysis.apart.spread import session_of
from pgassay.analysis.compare.model import Verdict
from pgassay.analysis.gates.grammar import parse_gates
from pgassay.analysis.verdicts.collapses import most_unseen
from pgassay.findings.apart.verdicts import interval_words, limit_of, spread_sentence
from pgassay.notes import Note

MANY = 400


def sides_of(*effects: float, world: World | None = None, seed: int = 1) -> list[Side]:
    """A side per effect, each of as many runs as the world's first."""
    source, world = np.random.default_rng(seed), world or World(0.0, 0.0)
    return [
        side_of(f"side-{number}", world.runs[0], effect, world, source)
        for number, effect in enumerate(effects)
    ]


def only(
    *effects: float, world: World | None = None, seed: int = 1, asked: Question | None = None
) -> RunDifference:
    sides = sides_of(*effects, world=world, seed=seed)
    (found,) = compare_runs(sides, asked or Question()).verdicts()
    return found


def test_identical_runs_with_a_shift_between_them_are_not_called_different() -> None:
    found = simulate((World(0.0, 0.03), 1), MANY)
    assert found["by trials"] > 0.5 * MANY, "trials alone would call most of them different"
    assert found["called"] <= 0.05 * MANY


def test_repeated_runs_are_the_unit_and_keep_the_error_at_5_percent() -> None:
    # A spread between runs that is larger than what would be assumed.
    world = World(0.0, 0.12, runs=(4, 4))
    found = simulate((world, 1), MANY)
    assert found["by trials"] > 0.7 * MANY
    assert 0.02 * MANY <= found["called"] <= 0.08 * MANY
    one = only(0.0, 0.0, world=world)
    assert one.spread is not None
    assert (one.spread.source, one.spread.degrees) == (SpreadSource.RUNS, 6)
    assert (one.runs, one.trials) == ((4, 4), (24, 24))


def test_runs_that_were_made_in_one_session_count_as_one() -> None:
    world = World(0.0, 0.005, runs=(4, 4), session_sd=0.03)
    assert simulate((world, 1), MANY)["called"] <= 0.02 * MANY, "as two single runs, 70 % by runs"
    one = only(0.0, 0.0, world=world)
    assert one.spread is not None
    assert one.spread.source is SpreadSource.ASSUMED
    assert (one.runs, one.sessions, one.trials) == ((4, 4), (1, 1), (24, 24))


def test_runs_of_one_day_count_as_one_although_each_started_its_own_server() -> None:
    world = World(0.0, 0.005, runs=(4, 4), session_sd=0.03, has_own_starts=True)
    assert simulate((world, 1), MANY)["called"] <= 0.02 * MANY, "as two single runs, 70 % by runs"
    one = only(0.0, 0.0, world=world)
    assert (one.runs, one.sessions) == ((4, 4), (1, 1))


def in_sessions(side: Side, *days: str, starts: Sequence[float | None] = ()) -> Side:
    sessions = [Session(*one) for one in zip(days, starts or [None] * len(days), strict=True)]
    runs = zip(side.runs, sessions, strict=True)
    return replace(side, runs=tuple(replace(run, session=own) for run, own in runs))


def sessions_of(*sides: Side) -> tuple[int, int] | None:
    return compare_runs(sides, Question()).verdicts()[0].sessions


def test_on_the_same_days_the_starts_are_the_unit_where_sides_share_different_ones() -> None:
    first, second = sides_of(0.0, 0.0, world=World(0.0, 0.12, runs=(4, 4)))
    days = ("Mon", "Mon", "Tue", "Tue")
    one = in_sessions(first, *days, starts=(1.0, 1.0, 2.0, 2.0))
    assert sessions_of(one, in_sessions(second, *days, starts=(3.0, 3.0, 4.0, 4.0))) == (2, 2)
    assert sessions_of(one, in_sessions(second, *days, starts=(1.0, 1.0, 2.0, 2.0))) is None
    own = in_sessions(first, *days, starts=(1.0, 2.0, 3.0, 4.0))
    assert sessions_of(own, in_sessions(second, *days, starts=(5.0, 6.0, 7.0, 8.0))) is None


def test_runs_of_both_sides_in_each_session_are_units_and_sessions_of_each_are_too() -> None:
    first, second = sides_of(0.0, 0.0, world=World(0.0, 0.12, runs=(4, 4)))
    days = ("Mon", "Mon", "Tue", "Tue")
    both = compare_runs([in_sessions(first, *days), in_sessions(second, *days)], Question())
    assert both.verdicts()[0].sessions is None
    later = in_sessions(second, "Wed", "Wed", "Thu", "Thu")
    (each,) = compare_runs([in_sessions(first, *days), later], Question()).verdicts()
    assert each.spread is not None
    assert (each.spread.source, each.spread.degrees) == (SpreadSource.SESSIONS, 2)
    runs = interval_words(each, 0.02).values["runs"]
    assert isinstance(runs, Note)
    assert (runs.code, runs.values["number"]) == ("findings/apart/verdicts/interval.sessions", 4)
    said = spread_sentence(each)
    assert said is not None
    sentences = said.values["said"]
    assert isinstance(sentences, tuple)
    assert sentences[0] == Note("findings/apart/verdicts/sessions.unit")


def test_a_session_is_a_day_and_the_start_of_a_server_that_all_trials_share() -> None:
    noon = 1_795_521_600_000_000_000
    assert session_of([noon, noon + 1], [5.0, 5.0]) == Session("2026-11-24", 5.0)
    assert session_of([noon, noon + 1], [5.0, 6.0]) == Session("2026-11-24"), (
        "each trial has a start"
    )
    assert session_of([noon], [5.0]) == Session("2026-11-24"), (
        "one trial tells no start from a restart"
    )
    assert session_of([noon], [None]) == Session("2026-11-24")
    assert session_of([noon, noon], [None, None]) == Session("2026-11-24")


def test_a_large_difference_of_single_runs_is_a_verdict_with_an_assumed_spread() -> None:
    found = only(0.0, -0.26)
    assert found.comparison.verdict is Verdict.WORSE
    assert found.spread is not None
    assert (found.spread.source, found.spread.sd) == (SpreadSource.ASSUMED, 0.05)
    low, high = found.comparison.ci95_pct or (0.0, 0.0)
    assert low < -26.0 < high < -10.0
    assert only(0.0, -0.08).comparison.verdict is Verdict.UNDECIDED
    assert only(0.0, 0.0).comparison.verdict is Verdict.UNDECIDED, "never equivalent within 2 %"


def test_a_stated_spread_takes_the_place_of_the_assumed_one() -> None:
    known, world = Question(stated_spread=0.003), World(0.0, 0.0, 0.002)
    same, slower = (only(0.0, effect, world=world, asked=known) for effect in (0.0, -0.03))
    assert (same.comparison.verdict, slower.comparison.verdict) == (
        Verdict.EQUIVALENT, Verdict.WORSE,
    )  # fmt: skip
    assert same.spread is not None
    assert same.spread.source is SpreadSource.STATED


def test_sides_that_are_alike_say_how_often_trials_may_collapse() -> None:
    known = Question(stated_spread=0.003)
    quiet = World(0.0, 0.0, trial_sd=0.005, runs=(2, 1))
    found = only(0.0, 0.0, world=quiet, asked=known)
    assert found.comparison.verdict is Verdict.EQUIVALENT
    assert found.trials == (12, 12)
    assert found.collapses == SideCollapses(12, 0, 100.0 * most_unseen(12))
    unseen = limit_of(found)
    assert unseen is not None
    assert unseen.code == "findings/apart/verdicts/collapses.unseen"
    assert unseen.values["most"] == pytest.approx(22.1, abs=0.05)
    first, second = sides_of(0.0, 0.0, world=quiet)
    (few,) = compare_runs([first, replace(second, runs=second.runs[:1])], known).verdicts()
    assert few.collapses is not None
    assert (few.trials, few.collapses.trials) == ((12, 6), 6)
    assert only(0.0, 0.2, world=quiet, asked=known).collapses is None


def test_a_trial_that_collapsed_in_a_run_that_is_alike_is_counted() -> None:
    first, second = sides_of(0.0, 0.0, world=World(0.0, 0.0, trial_sd=0.005, runs=(8, 8)))
    run = second.runs[3]
    slow = run.trials[2]
    values = {**slow.whole.values, "tps": 0.8 * slow.whole.values["tps"]}
    trials = (*run.trials[:2], replace(slow, whole=replace(slow.whole, values=values)),
              *run.trials[3:])  # fmt: skip
    runs = (*second.runs[:3], replace(run, trials=trials), *second.runs[4:])
    asked = Question(stated_spread=0.003)
    (found,) = compare_runs([first, replace(second, runs=runs)], asked).verdicts()
    assert found.comparison.verdict in (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)
    limit = limit_of(found)
    assert limit is not None
    assert limit.code == "findings/apart/verdicts/collapses.seen"
    assert limit.values == {
        "side": "side-1",
        "trials": 48,
        "seen": 1,
        "most": pytest.approx(9.5, abs=0.05),
    }


def test_one_new_run_is_held_against_several_of_the_baseline() -> None:
    (baseline,) = sides_of(0.0, world=World(0.0, 0.01, runs=(6, 6)), seed=3)
    (new,) = sides_of(-0.1, seed=4)
    (found,) = compare_runs([baseline, Side("new", new.runs)], Question()).verdicts()
    assert found.spread is not None
    assert (found.spread.source, found.spread.degrees, found.runs) == (
        SpreadSource.RUNS, 5, (6, 1),
    )  # fmt: skip
    assert found.comparison.verdict is Verdict.WORSE


@pytest.mark.parametrize("noise", [0.002, 0.02, 0.2])
def test_the_interval_is_never_narrower_than_that_inside_runs(noise: float) -> None:
    for seed in range(40):
        found = only(0.0, 0.0, world=World(0.0, 0.0, noise), seed=seed)
        outer, inner = found.comparison.ci95, found.within
        assert outer is not None
        assert inner is not None
        assert outer[0] <= inner[0] < inner[1] <= outer[1]


def test_trials_that_change_slowly_make_the_assumed_spread_larger() -> None:
    sides = sides_of(0.0, 0.0, world=World(0.0, 0.0, 0.001))
    for number, trial in enumerate(sides[0].runs[0].trials):
        trial.whole.values["tps"] *= math.exp(0.1 * number)  # type: ignore[index]
    (found,) = compare_runs(sides, Question()).verdicts()
    assert found.spread is not None
    assert found.spread.source is SpreadSource.SLOW_CHANGES
    assert found.spread.sd > 0.1


def test_gates_on_single_runs_rest_on_the_spread_between_runs() -> None:
    gates = parse_gates(["throughput>-2%"])
    outcomes = [
        compare_runs(sides_of(0.0, effect), Question(gates=gates)).gates[0].outcome.value
        for effect in (-0.3, 0.0, 0.3)
    ]
    assert outcomes == ["failed", "undecided", "holds"]


def test_several_sides_share_the_error() -> None:
    one, several = (
        compare_runs(sides_of(*effects), Question()).verdicts()
        for effects in ((0.0, 0.0), (0.0, 0.0, 0.0))
    )
    widths = [
        found[0].comparison.ci95[1] - found[0].comparison.ci95[0]
        for found in (one, several)
        if found[0].comparison.ci95 is not None
    ]
    assert len(several) == 2
    assert widths[0] < widths[1]
