"""An undecided verdict has a reason, what is excluded, and the shortest way to a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.model import Comparison, Verdict, Withdrawn
from pgassay.analysis.measures.model import Caveat, OtherUse, TrialMeasures
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.analysis.verdicts.model import Reason, Way, WhyUndecided
from pgassay.analysis.verdicts.undecided import why_undecided
from pgassay.findings.answer.undecided import why
from pgassay.findings.answer.verdicts import find
from pgassay.notes import Note
from pgassay.trials.guards.noted_programs import OTHER_PROGRAMS
from support.notes import values_in
from support.synthetic.designs import plan_of_levels
from support.synthetic.trials import trials_of

RULE = "findings/answer/undecided"
MARGIN = 0.02


def undecided() -> tuple[Comparison, list[TrialMeasures]]:
    """A verdict of eight blocks that noise leaves undecided, and its trials."""
    plan = plan_of_levels(("32MB", "4GB"), setting="max_wal_size", least=8)
    trials = trials_of(plan, noise=0.2)
    (verdict,) = answer_of("?", plan, trials).verdicts()
    assert verdict.verdict is Verdict.UNDECIDED
    return verdict, trials


def busy(trials: Sequence[TrialMeasures], number: int) -> list[TrialMeasures]:
    """The first of them with a program that used most of the host."""
    caveat = Caveat.of("trial", Note.of(OTHER_PROGRAMS, share=60.0, named=""))
    use = OtherUse(60.0, (("stress-ng", 50.0),))
    return [
        replace(one, others=use, warnings=(caveat,)) if at < number else replace(one, others=None)
        for at, one in enumerate(trials)
    ]


def reason(verdict: Comparison, trials: Sequence[TrialMeasures]) -> WhyUndecided:
    (found,) = why_undecided([verdict], trials, MARGIN)
    return found


@pytest.mark.parametrize(
    ("changes", "expected", "way", "blocks"),
    [
        ({"blocks": 3}, Reason.FEW_BLOCKS, Way.MORE_BLOCKS, 1),
        ({"ci95_pct": None}, Reason.FEW_BLOCKS, Way.MORE_BLOCKS, 1),
        ({"blocks_to_decide": 13}, Reason.NOISE, Way.MORE_BLOCKS, 13),
        ({"blocks_to_decide": 286}, Reason.NOISE, Way.CALIBRATION, None),
        ({"blocks_to_decide": None}, Reason.NOISE, Way.CALIBRATION, None),
        ({"resolution": 0.1}, Reason.NOISE, Way.LONGER_TRIALS, None),
        ({"ci95_pct": (-1.0, 2.9), "blocks_to_decide": 5}, Reason.NEAR_MARGIN, Way.MORE_BLOCKS, 5),
        (
            {"ci95_pct": (-1.0, 2.9), "blocks_to_decide": None},
            Reason.NEAR_MARGIN,
            Way.OTHER_MARGIN,
            None,
        ),
    ],
)
def test_the_reason_and_the_way_follow_from_the_figures(
    changes: dict[str, object], expected: Reason, way: Way, blocks: int | None
) -> None:
    verdict, trials = undecided()
    found = reason(replace(verdict, **changes), trials)  # type: ignore[arg-type]
    assert (found.reason, found.way, found.blocks) == (expected, way, blocks)
    assert found.others_pct is None


def test_other_programs_are_the_reason_where_they_disturbed_half_of_the_trials() -> None:
    verdict, trials = undecided()
    found = reason(verdict, busy(trials, 8))
    assert (found.reason, found.way) == (Reason.OTHER_PROGRAMS, Way.QUIET_HOST)
    assert (found.others_pct, found.programs) == (60.0, ("stress-ng",))
    assert reason(verdict, busy(trials, 7)).reason is Reason.NOISE


def test_only_a_verdict_that_is_undecided_and_not_withdrawn_has_a_reason() -> None:
    verdict, trials = undecided()
    others = [
        replace(verdict, verdict=Verdict.BETTER),
        replace(verdict, verdict=Verdict.CALIBRATION),
        replace(verdict, withdrawn=Withdrawn.STANDSTILL),
    ]
    assert list(why_undecided(others, trials, MARGIN)) == []


def test_the_verdict_is_said_with_reason_what_is_excluded_and_the_way() -> None:
    verdict, trials = undecided()
    plan = plan_of_levels(("32MB", "4GB"), setting="max_wal_size", least=8)
    analysis = Analysis(answer_of("?", plan, busy(trials, 16)))
    (finding,) = find(analysis, RunFacts())
    said = values_in(finding.claim)
    assert said[f"{RULE}/reason.other-programs"]["share"] == 60.0
    assert verdict.ci95_pct is not None
    low, high = verdict.ci95_pct
    excluded = said[f"{RULE}/excluded.throughput"]
    assert (excluded["below"], excluded["above"]) == (-low, high)
    assert f"{RULE}/way.quiet-host" in said
    codes = [note.code for note in why(verdict, analysis)]
    assert len(codes) == 3
    assert why(replace(verdict, level="8GB"), analysis) == []
