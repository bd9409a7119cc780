"""A gate holds, fails or is undecided by the intervals of the verdicts, and exits accordingly."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.compare.model import Comparison, Verdict, Withdrawn
from pgassay.analysis.gates.grammar import parse_gate, parse_gates
from pgassay.analysis.gates.judge import judge, judge_gates
from pgassay.analysis.gates.model import GateOutcome
from pgassay.analysis.model import Analysis
from pgassay.notes import Note
from pgassay.quantities import LoadUnit
from support.refusals import refused
from support.runs.command import last_line, pgassay
from support.runs.json_page import documented
from support.synthetic.designs import plan_of_spec
from support.synthetic.directories import SPEC, synthetic_run
from support.synthetic.trials import trials_of

HOLDS, UNDECIDED, FAILED = GateOutcome.HOLDS, GateOutcome.UNDECIDED, GateOutcome.FAILED


@pytest.mark.parametrize(
    ("text", "metrics", "above", "limit"),
    [
        ("throughput>-2%", ("tps",), True, -2.0),
        ("p99<+5%", ("response_p99", "latency_p99"), False, 5.0),
        (" latency p95 < 2.5 % ", ("response_p95", "latency_p95"), False, 2.5),
        ("latency<0%", ("response_mean", "latency_mean"), False, 0.0),
        ("mean<0%", ("queries_mean", "response_mean", "latency_mean"), False, 0.0),
        ("failures<+.5%", ("failed_share",), False, 0.5),
        ("wal_fpi_per_tx<10%", ("wal_fpi_per_tx",), False, 10.0),
        ("q7.mean<+10%", ("q7.mean",), False, 10.0),
        ("*.blocks < 5%", ("*.blocks",), False, 5.0),
        ("new order.p99<+5%", ("new order.p99",), False, 5.0),
        ("plans = same", ("*.plan",), False, 0.0),
    ],
)
def test_a_gate_is_a_metric_a_direction_and_a_limit(
    text: str, metrics: tuple[str, ...], above: bool, limit: float
) -> None:
    gate = parse_gate(text)
    assert (gate.metrics, gate.above, gate.limit) == (metrics, above, limit)
    assert parse_gates([text, text]) == (gate,)


@pytest.mark.parametrize(
    ("text", "code", "shown"),
    [
        ("throughput", "gate-form", "METRIC<LIMIT%"),
        ("throughput=-2%", "gate-form", "METRIC<LIMIT%"),
        ("throughput>-2", "gate-without-per-cent", "-2%"),
        ("thruput>-2%", "no-such-metric", "throughput"),
        ("speed of light>1%", "no-such-metric", "throughput, latency, mean, p50"),
        ("p99<5000%", "gate-limit-out-of-range", "-100% to +1000%"),
        ("<script>>1%", "gate-form", "METRIC<LIMIT%"),
        ("", "gate-form", "METRIC<LIMIT%"),
        ("q7.speed<1%", "no-such-metric", "throughput"),
        ("plans=other", "gate-form", "METRIC<LIMIT%"),
    ],
)
def test_a_wrong_gate_is_refused_in_one_line_that_says_what_is_allowed(
    text: str, code: str, shown: str
) -> None:
    with refused(code, f"--gate {text!r}") as error:
        parse_gate(text)
    assert shown in str(error.value)
    assert "\n" not in str(error.value)


EXAMPLE = Comparison(
    metric="tps", factor="jit", baseline="on", level="off", step=None, step_unit=LoadUnit.CLIENTS,
    blocks=8, baseline_mean=100.0, level_mean=99.0, effect_pct=-1.0, ci95_pct=(-1.9, -0.1),
    difference=-1.0, ci95=(-1.9, -0.1), p_t=0.04, p_sign_flip=0.04, p_looks=None,
    verdict=Verdict.NEGLIGIBLE, blocks_to_decide=0, block_effects_pct=(), standard_error=0.4,
    units=8.0,
)  # fmt: skip


def outcomes(text: str, *comparisons: Comparison) -> list[tuple[GateOutcome, Note | None]]:
    (result,) = judge([parse_gate(text)], comparisons, lambda one: one)
    return [(one.outcome, one.reason) for one in result.checks]


def test_it_holds_and_fails_by_the_whole_interval_and_is_undecided_between() -> None:
    assert outcomes("throughput>-2%", EXAMPLE) == [(HOLDS, None)]
    assert outcomes("throughput>0%", EXAMPLE) == [(FAILED, None)]
    assert outcomes("throughput>-1%", EXAMPLE) == [
        (UNDECIDED, Note("analysis/gates/contains", {"limit": -1.0, "unit": "%"}))
    ]
    assert outcomes("throughput<-2%", EXAMPLE) == [(FAILED, None)]
    unknown = replace(EXAMPLE, ci95_pct=None)
    assert outcomes("throughput>-2%", unknown) == [(UNDECIDED, Note("analysis/gates/no-interval"))]


def test_what_withdraws_a_verdict_leaves_its_gate_undecided() -> None:
    for why in Withdrawn:
        ((outcome, reason),) = outcomes("throughput>0%", replace(EXAMPLE, withdrawn=why))
        assert outcome is UNDECIDED
        assert str(reason)


def test_every_level_and_load_is_gated_and_the_worst_of_them_counts() -> None:
    worse = replace(EXAMPLE, level="other", ci95_pct=(-9.0, -4.0))
    open_ = replace(EXAMPLE, step=8.0, ci95_pct=(-9.0, 4.0))
    for others, outcome in (([], HOLDS), ([open_], UNDECIDED), ([open_, worse], FAILED)):
        (found,) = judge([parse_gate("tps>-2%")], [EXAMPLE, *others], lambda one: one)
        assert (len(found.checks), found.outcome) == (1 + len(others), outcome)
    (absent,) = judge([parse_gate("cpu<5%")], [EXAMPLE], lambda one: one)
    assert (absent.checks, absent.outcome) == ((), UNDECIDED)


def test_failures_are_gated_in_points_and_hold_where_nothing_ever_failed() -> None:
    none = replace(
        EXAMPLE, metric="failed_share", baseline_mean=0.0, level_mean=0.0, difference=0.0,
        effect_pct=None, ci95_pct=None, ci95=None, standard_error=None,
    )  # fmt: skip
    assert outcomes("failures<+1%", none) == [(HOLDS, None)]
    some = replace(none, difference=0.7, ci95=(0.4, 1.2), standard_error=0.1)
    assert outcomes("failures<+1%", some)[0] == (
        UNDECIDED,
        Note("analysis/gates/contains", {"limit": 1.0, "unit": "points"}),
    )
    assert outcomes("failures<+0.3%", some)[0] == (FAILED, None)


def test_slices_that_may_hide_part_of_an_effect_do_not_hold_a_gate() -> None:
    switchback = replace(EXAMPLE, rounds=200)
    ((outcome, reason),) = outcomes("throughput>-2%", switchback)
    assert outcome is UNDECIDED
    assert reason == Note("analysis/gates/slow-effects")
    allowed = replace(switchback, slow_ci90_pct=(-1.95, 0.2))
    assert outcomes("throughput>-2%", allowed) == [(HOLDS, None)]
    gain = replace(switchback, effect_pct=3.0, difference=3.0, ci95_pct=(2.0, 4.0))
    assert outcomes("throughput>-2%", gain) == [(HOLDS, None)], "a hidden part has the same sign"
    (result,) = judge([parse_gate("throughput>-2%")], [gain], lambda one: one)
    assert result.checks[0].ci95 == (2.0, math.inf)


@pytest.mark.parametrize("most", [6, 12])
def test_a_gate_at_the_smallest_effect_never_contradicts_the_verdict(most: int) -> None:
    text = SPEC.replace("max_blocks = 6", f"max_blocks = {most}")
    plan = plan_of_spec(text)
    gates = parse_gates(["throughput>-2%", "throughput<+2%"])
    seen = set()
    for seed in range(60):
        effect = float(np.random.default_rng(seed).uniform(-0.05, 0.05))
        analysis = Analysis(
            answer_of("", plan, trials_of(plan, effect=effect, noise=0.012, seed=seed))
        )
        (verdict,) = analysis.answer.verdicts()
        loss, gain = (one.outcome for one in judge_gates(gates, analysis.answer))
        seen.add((verdict.verdict, loss, gain))
    for verdict_, loss, gain in seen:
        inside = verdict_ in (Verdict.EQUIVALENT, Verdict.NEGLIGIBLE)
        assert inside == (loss is HOLDS and gain is HOLDS)
        assert loss is not FAILED or verdict_ is Verdict.WORSE
        assert gain is not FAILED or verdict_ is Verdict.BETTER
    assert {loss for _, loss, _ in seen} == {HOLDS, UNDECIDED, FAILED}


SHORT = SPEC.replace("_blocks = 6", "_blocks = 4").replace('step = "10s"', 'step = "3s"')


def test_the_exit_status_is_3_for_a_regression_and_4_where_a_decision_is_demanded(
    tmp_path: Path,
) -> None:
    slower, _, _ = synthetic_run(tmp_path / "slower", spec_text=SHORT, effects={"a2": -0.2})
    gate = ("--gate", "throughput>-2%")
    failed = pgassay("report", slower.path, *gate)
    assert failed.returncode == 3
    assert "throughput>-2%: max_wal_size = 4GB " in last_line(failed.stderr)
    assert "−" in last_line(failed.stderr)
    (row,) = [line for line in failed.stdout.splitlines() if line.startswith(gate[1])]
    assert row.split()[-1] == GateOutcome.FAILED
    page = (slower.path / "report.html").read_text("utf-8")
    assert 'id="gates"' in page
    held = pgassay("report", slower.path, "--gate", "throughput<+2%", "--format", "md")
    assert held.returncode == 0, held.stderr
    assert "## Gates" in held.stdout
    open_, _, _ = synthetic_run(
        tmp_path / "open", spec_text=SHORT, effects={"a2": -0.05}, noise=0.1, seed=2
    )
    passed = pgassay("report", open_.path, *gate)
    assert passed.returncode == 0, passed.stderr
    (row,) = [line for line in passed.stdout.splitlines() if line.startswith(gate[1])]
    assert f"  {GateOutcome.UNDECIDED}" in row
    demanded = pgassay("report", open_.path, *gate, "--gate-undecided", "fail")
    assert demanded.returncode == 4
    assert "throughput>-2%: " in last_line(demanded.stderr)
    both = pgassay("report", open_.path, "--gate-undecided", "fail", "--gate", "cpu<1%")
    assert both.returncode == 4
    assert str(Note("analysis/gates/not-measured")) in both.stderr


def test_the_keys_of_gates_are_the_documented_ones(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", spec_text=SHORT, effects={"a2": -0.2})
    done = pgassay("report", run.path, "--format", "json", "--gate", "throughput>-2%")
    assert done.returncode == 3
    (gate,) = json.loads(done.stdout)["gates"]
    assert set(gate) == documented("`gates[]`", "pgassay.run/1")
    (check,) = gate["checks"]
    assert set(check) == documented("`checks[]` of a gate", "pgassay.run/1")
    assert (gate["outcome"], check["level"], check["unit"]) == ("failed", "4GB", "%")


def test_a_gate_on_what_compares_nothing_is_refused(tmp_path: Path) -> None:
    single = SPEC.replace('[factors.postgres]\nmax_wal_size = ["32MB", "4GB"]\n', "")
    alone, _, _ = synthetic_run(tmp_path / "alone", spec_text=single, blocks=1)
    same, _, _ = synthetic_run(tmp_path / "same", calibrates=True, blocks=1)
    for run, said in ((alone, "varies nothing"), (same, "an A/A run gives no verdict")):
        done = pgassay("report", run.path, "--gate", "throughput>-2%")
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert said in done.stderr
    spec = tmp_path / "alone.toml"
    spec.write_text(single + "[workload]\nuse = 'payments-write'\n")
    done = pgassay("run", spec, "--gate", "throughput>-2%", "--out", tmp_path / "never")
    assert (done.returncode, (tmp_path / "never").exists()) == (1, False)
    assert "pgassay compare" in done.stderr
