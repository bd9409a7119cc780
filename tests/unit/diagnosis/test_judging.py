"""How signs in trials become a confidence: the trial is the unit, and chance is not confirmed."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from pgassay.analysis.compare.model import Comparison
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.model import Analysis, IntervalKind, RunFacts, Withdrawn
from pgassay.findings.diagnosis.recognised import amount_of, find
from pgassay.findings.model import Evidence, Finding
from pgassay.notes import Note
from pgassay.spec.model import ExperimentFile
from pgassay.spec.reading.tables import read_table
from support.notes import codes_in, notes_of, values_in
from support.synthetic.analyses import changed
from support.synthetic.signals import SPEC, analysis_with

RULE = "findings/diagnosis/recognised"
_SEQUENTIAL = Rule(IntervalKind.BOUNDED, 0.02, 1, tuple(range(4, 21)))
_TEMP = {"cluster//temp_files": 300.0}


def _waits(*shares: float) -> list[dict[str, float]]:
    """Trials with this share of sessions in Lock:frozenid."""
    return [
        {
            "sessions//CPU": 4.0 * (1.0 - share),
            "sessions//Lock:frozenid": 4.0 * share,
            "freeze//pg_class_bytes": 4e6,
        }
        for share in shares
    ]


def _one(analysis: Analysis, facts: RunFacts) -> Finding:
    found = find(analysis, facts)
    assert len(found) == 1
    return found[0]


def title_of(one: Evidence) -> object:
    """What the rule's file calls the sign."""
    return values_in(one.metric)["findings/rule"]["text"]


def _spills(bytes_: Sequence[float]) -> list[dict[str, float]]:
    return [_TEMP | {"cluster//temp_bytes": 100.0 * one} for one in bytes_]


def test_a_sign_may_fail_in_one_trial_of_five() -> None:
    assert _one(*analysis_with(_waits(0.5, 0.5, 0.5, 0.5, 0.1))).confidence == "supported"
    assert find(*analysis_with(_waits(0.5, 0.5, 0.5, 0.1, 0.1))) == []


def test_a_trial_in_which_a_sign_was_not_measured_does_not_show_it() -> None:
    trials = _waits(0.5, 0.5, 0.5)
    for trial in trials:
        del trial["freeze//pg_class_bytes"]

    assert find(*analysis_with(trials)) == []


def test_two_trials_support_nothing() -> None:
    found = _one(*analysis_with(_waits(0.5, 0.5)))

    assert found.confidence == "hypothesis"
    assert values_in(found.claim)[f"{RULE}/texts.few"] == {"trials": 2}


def test_a_missing_required_sign_leaves_a_hypothesis_that_names_it() -> None:
    trials = [{"cluster//temp_bytes": 9e8, "cluster//temp_files": 1.0}] * 4

    found = _one(*analysis_with(trials))

    assert found.confidence == "hypothesis"
    (missing,) = notes_of(values_in(found.claim)[f"{RULE}/texts.partly"]["missing"])
    assert missing.values == {"term": "Temporary files"}


def test_it_is_confirmed_where_it_comes_and_goes_with_the_arm() -> None:
    found = _one(*analysis_with(_waits(0.0, 0.01, 0.0, 0.02), _waits(0.6, 0.58, 0.61, 0.6)))

    assert found.confidence == "confirmed"
    said = values_in(found.claim)
    assert values_in(said[f"{RULE}/texts.seen"]["arms"])["findings/clauses"]["items"] == ("B = 1",)
    confirmed = said[f"{RULE}/texts.confirmed"]
    assert (confirmed["factors"], confirmed["other"]) == (("commit_delay",), "B = 0")
    first = found.evidence[0]
    assert first.arm == Note.of("findings/versus", arm="B = 1", other="B = 0")
    figure = values_in(first.figure)[f"{RULE}/texts.contrast"]
    means = [notes_of(figure[name])[0].values["value"] for name in ("high", "low", "difference")]
    assert means == pytest.approx([59.75, 0.75, 59.0])
    assert found.confirm is found.refute is None, "this run is that test"


def test_a_level_whose_verdict_is_withdrawn_confirms_nothing() -> None:
    analysis, facts = analysis_with(_waits(0.0, 0.01, 0.0, 0.02), _waits(0.6, 0.58, 0.61, 0.6))
    lost = SimpleNamespace(
        factor="commit_delay", level="10", withdrawn=Withdrawn.LOST_TRIALS, verdict=None
    )

    found = _one(changed(analysis, comparisons=(cast(Comparison, lost),)), facts)

    assert found.confidence == "supported"
    assert found.confirm


def test_a_run_that_may_end_early_confirms_only_what_holds_at_every_look() -> None:
    """Student's interval of these five blocks excludes zero, the run's own does not."""
    analysis, facts = analysis_with(_waits(*[0.2] * 5), _waits(0.26, 0.45, 0.3, 0.55, 0.35))

    assert _one(analysis, facts).confidence == "confirmed"
    assert _one(changed(analysis, rule=_SEQUENTIAL), facts).confidence == "supported"


def test_it_is_only_supported_where_every_arm_shows_it() -> None:
    found = _one(*analysis_with(_waits(0.5, 0.51, 0.5), _waits(0.9, 0.91, 0.9)))

    assert found.confidence == "supported"
    assert f"{RULE}/texts.everywhere" in codes_in(found.claim)


def test_a_limit_that_one_arm_reaches_by_chance_confirms_nothing() -> None:
    """Two equal arms beside the limit: at most one run in twenty may be called confirmed."""
    source = np.random.default_rng(1)
    confirmed = 0
    for _ in range(100):
        one, other = source.normal(1.05e6, 1e5, (2, 5))
        found = find(*analysis_with(_spills(one), _spills(other)))
        confirmed += any(finding.confidence == "confirmed" for finding in found)

    assert confirmed <= 5


def test_figures_are_of_trials_with_their_range_and_the_limit() -> None:
    figure = _one(*analysis_with(_waits(0.5, 0.6, 0.7))).evidence[0].figure

    values = values_in(figure)[f"{RULE}/texts.figure"]
    named = [notes_of(values[name])[0].values["value"] for name in ("value", "least", "most")]
    assert named == pytest.approx([60.0, 50.0, 70.0])
    (limit,) = notes_of(values["limit"])
    assert limit == Note.of("findings/at-least", value=amount_of(0.25, "%"))
    assert (values["reached"], values["trials"]) == (3, 3)
    assert str(figure) == "60 % (50 to 70); limit ≥ 25 %, reached in 3 of 3 trials"


def test_a_sign_that_does_not_hold_is_not_listed_as_evidence() -> None:
    found = _one(*analysis_with(_spills([5e6] * 4)))

    assert list(map(title_of, found.evidence)) == ["Temporary files written", "Temporary files"]
    (other,) = found.not_for_it
    assert title_of(other) == "Busy sessions that read or write temporary files"
    assert other.figure == Note(f"{RULE}/texts.unknown")


def test_the_next_experiment_is_the_runs_own_with_the_rules_factor() -> None:
    text = _one(*analysis_with(_spills([5e6] * 4))).next_spec

    asked = tomllib.loads(text)
    assert asked["factors"] == {"postgres": {"work_mem": ["4MB", "64MB", "256MB"]}}
    assert asked["settings"] == {"postgres": {"commit_delay": 0}}
    assert (asked["workload"], asked["load"]) == (
        {"use": "payments", "scale": 3},
        {"clients": 8, "step": "10s"},
    )
    read_table(ExperimentFile, text, "next.toml")


def test_it_holds_the_levels_of_the_arm_in_which_the_rule_was_seen() -> None:
    seen = analysis_with(_spills([10.0] * 4), _spills([5e6, 6e6, 5e6, 5.5e6]))

    asked = tomllib.loads(_one(*seen).next_spec)

    assert asked["settings"] == {"postgres": {"commit_delay": 10}}


def test_there_is_no_next_experiment_where_the_run_had_that_factor_itself() -> None:
    spec = SPEC.replace("commit_delay = [0, 10]", 'work_mem = ["4MB", "8MB"]').replace(
        '[settings.postgres]\nwork_mem = "4MB"\n', ""
    )

    assert _one(*analysis_with(_spills([5e6] * 4), spec_text=spec)).next_spec == ""


def test_the_next_experiment_says_where_its_paths_begin() -> None:
    spec = SPEC.replace('use = "payments"', 'use = "./shop"')

    text = _one(*analysis_with(_spills([5e6] * 4), spec_text=spec)).next_spec

    assert text.startswith("# Paths are relative to the experiment file of this run: ")


def test_plans_are_looked_at_where_the_run_stored_them() -> None:
    shows = {"sessions//CPU": 4.0, "database//tup_returned": 5e6}
    analysis, facts = analysis_with([shows] * 3, scripts=["SELECT DISTINCT id FROM item"])
    plan = SimpleNamespace(trials={"a0": 3}, text=("Unique", "  ->  Index Only Scan on item"))
    analysis = changed(analysis, plans=(SimpleNamespace(plans=(plan,)),))

    assert _one(analysis, facts).evidence[-1].figure == Note(f"{RULE}/texts.holds")
