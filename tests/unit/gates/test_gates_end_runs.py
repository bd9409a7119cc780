"""A run goes on until its gates are decided, by bounds that hold at every look; statuses follow."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pgassay.analysis.compare.model import Withdrawn
from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.compare.simulated_runs import Limit, simulated_runs
from pgassay.analysis.gates.grammar import parse_gates
from pgassay.analysis.gates.judge import judge, judge_gates, may_end, verdicts_suffice
from pgassay.analysis.gates.model import GateOutcome
from pgassay.analysis.judge import answered, verdicts
from pgassay.analysis.model import Verdict
from pgassay.analysis.noise.power import blocks_spreading
from pgassay.cli.terminal.gates import refuse_other_gates, settle
from pgassay.errors import GateUndecided
from pgassay.notes import Note
from pgassay.plan.model import Plan
from pgassay.plan.store import plan_from_json, plan_to_json, same_design
from support.refusals import refused
from support.runs.command import pgassay
from support.synthetic.designs import plan_of_spec
from support.synthetic.directories import SPEC, synthetic_run
from support.synthetic.trials import trials_of

LONG = SPEC.replace("max_blocks = 6", "max_blocks = 24")


@cache
def plan_with(*gates: str, only: bool = False, text: str = LONG) -> Plan:
    plan = plan_of_spec(text)
    return replace(plan, gates=parse_gates(gates), gates_only=only)


def end_of(plan: Plan, effect: float, seed: int = 1, noise: float = 0.015) -> int:
    """The block with which a simulated run ends."""
    trials = trials_of(plan, effect=effect, noise=noise, seed=seed)
    blocks = range(1, plan.max_blocks + 1)
    ends = (n for n in blocks if answered(plan, n, [t for t in trials if t.block <= n]))
    return next(ends, plan.max_blocks)


def test_a_run_goes_on_after_its_verdict_until_its_gate_is_decided() -> None:
    alone, gated = plan_with(), plan_with("throughput>-2%")
    later = 0
    for seed in range(6):
        trials = trials_of(gated, effect=-0.05, noise=0.015, seed=seed)
        ends = [end_of(plan, -0.05, seed) for plan in (alone, gated)]
        seen = [t for t in trials if t.block <= ends[1]]
        (result,) = judge_gates(gated.gates, verdicts(gated, seen))
        assert result.outcome is GateOutcome.FAILED, "a loss of 5 % is always caught"
        assert ends[0] <= ends[1]
        later += ends[0] < ends[1]
    assert later >= 3, "most verdicts come sooner"


def test_with_gates_only_it_ends_though_the_verdict_is_open() -> None:
    both, only = plan_with("throughput>-2%"), plan_with("throughput>-2%", only=True)
    found = [(end_of(only, 0.0, seed), end_of(both, 0.0, seed)) for seed in range(8)]
    assert all(first <= second for first, second in found)
    assert any(first < second for first, second in found)


def test_gates_that_cannot_be_decided_do_not_keep_a_run_from_ending() -> None:
    ends = {end_of(plan_with(*gates, only=only), -0.05)
            for gates in ((), ("cpu<1%",)) for only in (False, True)}  # fmt: skip
    assert len(ends) == 1, "not measured"
    plan = plan_with("throughput>-1%", "cpu<1%")
    analysis = verdicts(plan, trials_of(plan, effect=-0.01, noise=0.05))
    assert not may_end(plan, analysis)
    lost = tuple(
        replace(c, verdict=Verdict.UNDECIDED, withdrawn=Withdrawn.STANDSTILL,
                withdrawn_for_good=True)
        for c in analysis.comparisons
    )  # fmt: skip
    assert may_end(plan, replace(analysis, comparisons=lost))


def test_metrics_that_have_no_verdict_of_their_own_are_judged_at_every_look() -> None:
    assert verdicts_suffice(plan_with("throughput>-2%", "p99<+5%"))
    assert not verdicts_suffice(plan_with("throughput>-2%", "wal_fpi_per_tx<+5%"))
    rated = LONG.replace("clients = 8", "clients = 8\nrate = 100")
    assert verdicts_suffice(plan_with("p99<+5%", text=rated))
    assert not verdicts_suffice(plan_with("throughput>-2%", text=rated))


@pytest.mark.parametrize("only", [False, True])
def test_simulated_runs_end_as_the_product_ends_them(only: bool) -> None:
    """What `plan` and the validation say of gates rests on these simulated runs."""
    plan = plan_with("throughput>-2%", only=only)
    limits = [Limit.of(gate) for gate in plan.gates]
    spread = blocks_spreading(plan, 0.015)
    for effect in (0.0, -0.05):
        runs = simulated_runs(
            rule_of(plan), spread, 6, 24, np.log1p(effect), limits, limits_only=only
        )
        ends = [end_of(plan, float(np.log1p(effect)), seed) for seed in range(12)]
        expected = np.minimum(runs.blocks, 24)
        error = float(expected.std() / np.sqrt(len(ends)))
        assert abs(np.mean(ends) - expected.mean()) < 3.5 * error + 0.01


def test_the_bounds_of_gates_hold_at_all_looks_together() -> None:
    plan = plan_with("throughput>-2%")
    spread, limits = blocks_spreading(plan, 0.015), [Limit.of(gate) for gate in plan.gates]
    for only in (False, True):
        at_limit = simulated_runs(
            rule_of(plan), spread, 6, 24, limits[0].at, limits, limits_only=only
        )
        assert at_limit.holds.mean() <= 0.055, "passed wrongly: 5 %, and chance of 4 000 runs"
        assert at_limit.fails.mean() <= 0.03
        same = simulated_runs(rule_of(plan), spread, 6, 24, 0.0, limits, limits_only=only)
        assert same.fails.mean() <= 0.001
    zero = [Limit(0.0, above=True)]
    none = simulated_runs(rule_of(plan), spread, 6, 24, 0.0, zero, limits_only=True)
    assert none.fails.mean() <= 0.03, "a gate of zero on no effect"
    assert none.holds.mean() <= 0.055


def test_gates_are_stored_typed_and_a_resumed_run_keeps_them() -> None:
    plan = plan_with("throughput>-2%", "p99<+5%", only=True)
    assert plan_from_json(plan_to_json(plan)) == plan
    assert same_design(plan, plan_with()), "the experiment file has no gates"
    refuse_other_gates(plan.gates[::-1], plan, Path("run"))
    begun = '--gate "throughput>-2%" --gate "p99<+5%"'
    with refused("gates-of-the-run", "run", begun=begun):
        refuse_other_gates(plan.gates[:1], plan, Path("run"))
    with refused("gates-of-the-run", "run", begun="no --gate"):
        refuse_other_gates(plan.gates, plan_with(), Path("run"))


def test_an_undecided_gate_of_a_metric_that_is_worse_is_status_4(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan = plan_with("throughput>-2%")
    worse = next(
        analysis
        for seed in range(50)
        if (analysis := verdicts(plan, trials_of(plan, effect=-0.02, noise=0.012, seed=seed)))
        .verdicts()[0].verdict is Verdict.WORSE
        and judge_gates(plan.gates, analysis)[0].outcome is GateOutcome.UNDECIDED
    )  # fmt: skip
    results = judge_gates(plan.gates, worse)
    reasons = {check.reason for one in results for check in one.checks}
    assert reasons == {Note.of("analysis/gates/worse", limit=-2.0, unit="%")}
    for word in ("worse", "fail"):
        with pytest.raises(GateUndecided, match=r"throughput>-2%.* −2 %"):
            settle(results, word)
    settle(results, "pass")
    said = " ".join(capsys.readouterr().err.split())
    assert "throughput>-2%" in said, "never without a line"
    assert str(*reasons) in said
    open_ = [replace(c, verdict=Verdict.UNDECIDED) for c in worse.comparisons]
    settle(judge(plan.gates, open_, lambda one: one), "worse")


def test_report_shows_the_gates_of_the_run_and_settles_only_those_asked_for(
    tmp_path: Path,
) -> None:
    run, _, plan = synthetic_run(tmp_path / "run", effects={"a2": -0.2})
    run.write_json("plan.json", plan_to_json(replace(plan, gates=parse_gates(["throughput>-2%"]))))
    shown = pgassay("report", run.path, "--format", "md")
    assert shown.returncode == 0, shown.stderr
    assert "## Gates" in shown.stdout
    asked = pgassay("report", run.path, "--format", "json", "--gate", "throughput<+50%")
    assert asked.returncode == 0, asked.stderr
    assert [one["gate"] for one in json.loads(asked.stdout)["gates"]] == ["throughput<+50%"]
    assert pgassay("report", run.path, "--gate", "throughput>-2%").returncode == 3


def test_several_levels_share_the_error_of_their_gates() -> None:
    """All at the limit: few runs pass one wrongly, or fail one."""
    text = LONG.replace('["32MB", "4GB"]', '["32MB", "1GB", "2GB", "4GB"]')
    text = text.replace("max_blocks = 24", "max_blocks = 6")
    plan = plan_with("throughput>-2%", text=text)
    failed = held = 0
    for seed in range(60):
        trials = trials_of(plan, effect=float(np.log(0.98)), noise=0.004, seed=seed)
        analysis = verdicts(plan, trials)
        (result,) = judge_gates(plan.gates, analysis)
        outcomes = [one.outcome for one in result.checks]
        failed += GateOutcome.FAILED in outcomes
        held += GateOutcome.HOLDS in outcomes
        for one in result.checks:
            inside = one.comparison.verdict in (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)
            assert one.outcome is GateOutcome.HOLDS or not inside, "never against the verdict"
    assert failed <= 6
    assert held <= 8
