"""Other programs on the host: one caveat for all trials, with figures, names, importance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.measures.model import Caveat, OtherUse, TrialMeasures
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.findings.answer.caveats import find
from pgassay.findings.model import Finding
from pgassay.notes import Importance, Note
from pgassay.plan.model import Plan
from pgassay.trials.guards.noted_programs import OTHER_PROGRAMS
from support.notes import codes_in, values_in
from support.synthetic.designs import plan_of_levels
from support.synthetic.trials import trials_of

CODE = "analysis/verdicts/other-programs"


def plan_of() -> Plan:
    return plan_of_levels(("32MB", "4GB"), setting="max_wal_size", least=8)


def disturbed(
    plan: Plan, percents: Sequence[float], *, effect: float, noise: float = 0.01
) -> list[TrialMeasures]:
    """Trials with these shares in turn; names differ from trial to trial."""
    found = []
    for at, trial in enumerate(trials_of(plan, effect=effect, noise=noise)):
        percent = percents[at % len(percents)]
        names = (("stress-ng", percent / 2), (f"cc{at}", 1.0))
        note = Note.of(OTHER_PROGRAMS, share=percent, named="")
        warnings = (Caveat.of("trial", note),) if percent > 5.0 else ()
        found.append(replace(trial, others=OtherUse(percent, names), warnings=warnings))
    return found


def caveat_of(plan: Plan, trials: Sequence[TrialMeasures]) -> Finding | None:
    found = find(Analysis(answer_of("?", plan, trials)), RunFacts())
    own = [one for one in found if {CODE, OTHER_PROGRAMS} & {*codes_in(one.claim)}]
    assert len(own) <= 1
    assert own == found[: len(own)]
    return own[0] if own else None


@pytest.mark.parametrize(
    ("effect", "noise", "importance"),
    [(0.2, 0.01, Importance.SIZE), (0.01, 0.2, Importance.VERDICT)],
)
def test_it_could_change_a_verdict_that_is_not_reached(
    effect: float, noise: float, importance: Importance
) -> None:
    plan = plan_of()
    found = caveat_of(
        plan, disturbed(plan, [60.0, 40.0, 50.0, 2.0, 30.0], effect=effect, noise=noise)
    )
    assert found is not None
    assert found.importance is importance
    values = values_in(found.claim)[CODE]
    assert (values["hit"], values["of"]) == (13, 16)
    assert (values["low"], values["high"]) == (30.0, 60.0)
    named = values["named"]
    assert isinstance(named, Note)
    assert isinstance(named.values["names"], tuple)
    assert named.values["names"][0] == "stress-ng"
    assert len(named.values["names"]) == 3


@pytest.mark.parametrize(
    ("effect", "importance"),
    # 60 against 40 % of the processors: 1.5 times as much is left to the level.
    [(0.2, Importance.VERDICT), (1.0, Importance.SIZE), (-0.2, Importance.SIZE)],
)
def test_it_could_change_a_verdict_between_arms_whose_unequal_shares_of_the_host_make_as_much(
    effect: float, importance: Importance
) -> None:
    plan = plan_of()
    trials = [
        replace(trial, others=OtherUse(60.0 + trial.number / 10 - 20.0 * (trial.arm == "a2")))
        for trial in disturbed(plan, [60.0], effect=effect)
    ]
    found = caveat_of(plan, trials)
    assert found is not None
    assert found.importance is importance
    by_arm = values_in(found.claim)["analysis/verdicts/other-programs-unequal"]["by_arm"]
    assert isinstance(by_arm, tuple)
    assert [str(one.values["label"]) for one in by_arm if isinstance(one, Note)] == [
        "max_wal_size = 32MB", "max_wal_size = 4GB",
    ]  # fmt: skip


def test_a_quiet_host_has_no_caveat() -> None:
    plan = plan_of()
    assert caveat_of(plan, disturbed(plan, [2.0, 3.0], effect=0.2)) is None
