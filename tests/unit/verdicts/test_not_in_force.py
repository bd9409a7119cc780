"""A factor that the load sets itself has no verdict; one that a part of it sets has a caveat."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.model import Withdrawn
from pgassay.analysis.measures.model import ScenarioMeasures
from pgassay.analysis.model import Analysis, RunFacts, Verdict
from pgassay.findings.registry import find
from pgassay.notes import Importance, Note
from pgassay.plan.risks import SET_BY_LOAD
from support.notes import codes_in, values_in
from support.synthetic.failed_trials import plan_of, trials_of, warnings_of


def scenario(name: str) -> ScenarioMeasures:
    return ScenarioMeasures(name, 10, 0, 10.0, {}, "latency", {})


@pytest.mark.parametrize("by", [("report",), ("report", "pay")])
def test_a_factor_that_every_scenario_sets_has_no_verdict(by: tuple[str, ...]) -> None:
    plan = plan_of()
    factor_name = plan.factors[0].name
    seen, unseen = (
        Note(SET_BY_LOAD, {"name": name, "named": ("report", "x")})
        for name in (factor_name, "work_mem")
    )
    plan = replace(plan, notes=(seen, unseen))
    (factor,) = plan.factors
    trials = [
        replace(
            trial,
            scenarios=(scenario("report"), scenario("pay")),
            set_by_load=((factor.name, by), ("jit", ("pay",))) if trial.block == 1 else (),
        )
        for trial in trials_of(plan, {"a2": 0.03}, ())
    ]
    analysis = Analysis(answer_of("?", plan, trials))
    (verdict,) = analysis.answer.verdicts()
    caveats = [one for one in analysis.warnings if one.kind == "not-in-force"]
    assert len(caveats) == 2
    assert warnings_of(analysis, "plan") == [unseen]
    set_here = values_in(caveats[0].note)["analysis/verdicts/not-in-force"]
    assert set_here == {"name": factor.name, "scenarios": by}
    if len(by) == 2:
        assert verdict.withdrawn is Withdrawn.SET_BY_LOAD_ITSELF
        assert caveats[0].importance is Importance.VERDICT
        said = codes_in(find(analysis, RunFacts())[0].claim)
        assert "findings/answer/verdicts/withdrawn.not-in-force" in said
    else:
        assert (verdict.verdict, verdict.withdrawn) == (Verdict.BETTER, None)
        assert caveats[0].importance is Importance.SIZE
