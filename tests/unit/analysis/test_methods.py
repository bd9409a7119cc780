"""The USE, RED and LTES tables are filled from what was sampled, and noise makes no claim."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pgassay.analysis.analyse import answer_of, explanation_of
from pgassay.analysis.compare.model import ArmFigure
from pgassay.analysis.measures.model import TrialSignals
from pgassay.analysis.measures.parts import measure_scenarios
from pgassay.analysis.methods.model import (
    CELLS,
    WHY_MISSING,
    MethodCell,
    Pattern,
)
from pgassay.analysis.model import Analysis, RunFacts, StepMeasures, TrialMeasures
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.report.document.blocks import Items
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.objects.analysis import render_json
from pgassay.report.sections.behaviour.methods import method_table, not_measured
from pgassay.spec.parse import parse_spec
from pgassay.trials.model.columns import LOAD
from support.synthetic.designs import plan_of_spec
from support.synthetic.directories import SPEC
from support.synthetic.environments import environment_of
from support.synthetic.report_contexts import synthetic_context
from support.synthetic.stored_trials import step_of

Signals = Mapping[tuple[str, str, str], float]
HOST: dict[str, Any] = {
    "host": {"cpus": 4},
    "server": {"every_setting": {"max_connections": {"value": "200"}}},
}
USUAL: Signals = {
    ("pressure", "cpu", "some_us"): 250_000.0,
    ("stat", "", "procs_running"): 6.0,
    ("meminfo", "", "MemTotal"): 8e6,
    ("meminfo", "", "MemAvailable"): 6e6,
    ("diskstats", "vda", "read_ms"): 0.0,
    ("diskstats", "vda", "reads_completed"): 0.0,
    ("diskstats", "vda", "write_ms"): 300.0,
    ("diskstats", "vda", "writes_completed"): 600.0,
    ("diskstats", "vda", "sectors_written"): 2000.0,
    ("diskstats", "vda1", "write_ms"): 300.0,
    ("net", "eth0", "rx_bytes"): 1e6,
    ("net", "lo", "rx_bytes"): 5e6,
    ("sessions", "", "CPU"): 2.0,
    ("sessions", "client backend/active", "processes"): 12.0,
    ("sessions", "client backend/idle", "processes"): 8.0,
    ("state", "", "active"): 3.0,
    ("database", "bench", "deadlocks"): 0.5,
}


def plan_of(factors: str = 'work_mem = ["4MB", "64MB"]', blocks: int = 8, more: str = "") -> Plan:
    text = f"[factors.postgres]\n{factors}\n[design]\nseed = 1\n"
    text += f"min_blocks = {blocks}\nmax_blocks = {blocks}\n{more}"
    return plan_of_spec(text)


def analysis_of(
    plan: Plan,
    changes: Mapping[str, Signals] | None = None,
    *,
    noise: float = 0.0,
    faster: float = 1.0,
    seed: int = 1,
    usual: Signals = USUAL,
) -> Analysis:
    """Arm → its signals that are not the usual ones; every signal and metric has this noise."""
    source = np.random.default_rng(seed)
    measures, signals = [], []
    for t in plan.trials:
        tps = 5000.0 * float(np.exp(noise * source.standard_normal()))
        tps *= 1.0 if t.arm == plan.arms[0].id else faster
        whole = StepMeasures(None, 0, 10**10, 50_000, {"tps": tps, "latency_mean": 8e3 / tps})
        measures.append(TrialMeasures(t.number, t.block, t.position, t.arm, whole, (), ()))
        own = {**usual, **(changes or {}).get(t.arm, {})}
        noisy = {key: v * float(np.exp(noise * source.standard_normal())) for key, v in own.items()}
        signals.append(TrialSignals(t.number, t.block, t.arm, 10.0, 50_000, noisy))
    answer = answer_of("?", plan, measures)
    return Analysis(
        answer, explanation=explanation_of(plan, answer, RunFacts(environment_of(**HOST)), signals)
    )


def signals_of(plan: Plan) -> list[TrialSignals]:
    return [TrialSignals(t.number, t.block, t.arm, 10.0, 50_000, USUAL) for t in plan.trials]


def cell(analysis: Analysis, title: str, of: str | None = None) -> MethodCell:
    methods = analysis.explanation.methods
    (found,) = (one for one in methods if one.title == title and of in (None, str(one.of)))
    return found


def means(one: MethodCell) -> list[float | None]:
    return [figure.mean for figure in one.figures]


@pytest.mark.parametrize(
    ("used", "limit", "reached"),
    [
        ("memory.current", "memory.max", ("memory.events", "max")),
        ("memory.usage_in_bytes", "memory.limit_in_bytes", ("memory.failcnt", "value")),
    ],
)
def test_memory_is_that_of_the_servers_group_where_it_has_a_limit(
    used: str, limit: str, reached: tuple[str, str]
) -> None:
    group: Signals = {
        ("cgroup", used, "value"): 100e6,
        ("cgroup", limit, "value"): 128e6,
        ("cgroup", "memory.stat", "inactive_file"): 36e6,
        ("cgroup", *reached): 7.0,
    }
    analysis = analysis_of(plan_of(), usual={**USUAL, **group})
    titles = {one.title for one in analysis.explanation.methods}
    assert "Memory in use" not in titles
    in_use = cell(analysis, "Memory in use, of the limit of the server's control group")
    assert means(in_use) == pytest.approx([50.0] * 2)
    times = cell(analysis, "Times that the control group reached its limit")
    assert means(times) == pytest.approx([7.0] * 2)
    without = analysis_of(plan_of())
    assert not any("control group" in str(one.title) for one in without.explanation.methods)


def test_cells_are_what_the_signals_say() -> None:
    analysis = analysis_of(plan_of())
    of_cpu = cell(analysis, "Time in which a task waited for a processor (PSI)", "CPU")
    assert means(of_cpu) == pytest.approx([25.0, 25.0])
    assert means(cell(analysis, "Runnable tasks per processor")) == pytest.approx([1.5] * 2)
    assert means(cell(analysis, "Memory in use")) == pytest.approx([25.0] * 2)
    assert means(cell(analysis, "Mean time of a write", "Disk vda")) == pytest.approx([0.5] * 2)
    assert means(cell(analysis, "Written", "Disk vda")) == pytest.approx([1_024_000.0] * 2)
    assert means(cell(analysis, "Received and sent, without loopback")) == pytest.approx([1e6] * 2)
    assert means(cell(analysis, "Client sessions, of max_connections")) == pytest.approx([10.0] * 2)
    assert means(cell(analysis, "Deadlocks")) == pytest.approx([30.0] * 2)
    assert {str(one.of) for one in analysis.explanation.methods} >= {
        "CPU",
        "Memory",
        "Disk vda",
        "Locks",
    }
    assert "Disk vda1" not in {str(one.of) for one in analysis.explanation.methods}, (
        "a part of another disk"
    )


def test_max_connections_is_the_arms_own_where_it_is_varied() -> None:
    analysis = analysis_of(plan_of('max_connections = ["200", "400"]'))
    assert means(cell(analysis, "Client sessions, of max_connections")) == pytest.approx([10, 5])


def test_what_was_not_read_is_not_measured_and_why_is_said() -> None:
    no_pressure = {key: v for key, v in USUAL.items() if key[0] != "pressure"}
    analysis = analysis_of(plan_of(), usual=no_pressure)
    one = cell(analysis, "Time in which a task waited for a processor (PSI)", "CPU")
    assert (one.figures, one.not_measured) == ((), WHY_MISSING["pressure"])
    by_title = {of.title: of for of in CELLS}
    for title in ("Machine checks", "Pages with a wrong checksum"):
        assert cell(analysis, title).not_measured == by_title[title].missing
    assert (
        "PostgreSQL 16" in cell(analysis, "Buffers taken from other pages (evictions)").not_measured
    )
    idle = cell(analysis, "Mean time of a read", "Disk vda")
    assert idle.not_measured == WHY_MISSING["nothing"]


def test_a_host_that_was_not_read_leaves_no_resource_out() -> None:
    of_the_server = {key: v for key, v in USUAL.items() if key[0] in ("sessions", "state")}
    cells = analysis_of(plan_of(), usual=of_the_server).explanation.methods
    why = {(str(one.of), one.title): one.not_measured for one in cells}
    assert why["Disks", "Mean time of a write"] == WHY_MISSING["diskstats"]
    assert why["Memory", "Memory in use"] == WHY_MISSING["meminfo"]
    plan = plan_of()
    answer = analysis_of(plan).answer
    nowhere = explanation_of(plan, answer, RunFacts(), signals_of(plan)).methods
    why = {(str(one.of), one.title): one.not_measured for one in nowhere}
    assert why["CPU", "Runnable tasks per processor"] == WHY_MISSING["processors"]


def test_a_wait_that_no_session_was_sampled_in_is_zero() -> None:
    analysis = analysis_of(plan_of())
    assert means(cell(analysis, "Sessions waiting for heavyweight locks")) == [0.0, 0.0]
    unsampled = {key: v for key, v in USUAL.items() if key[0] != "sessions"}
    one = cell(analysis_of(plan_of(), usual=unsampled), "Sessions waiting for heavyweight locks")
    assert one.not_measured == WHY_MISSING["sessions"]


def test_a_change_is_clear_with_its_direction_and_interval() -> None:
    moved = {"a2": {("pressure", "cpu", "some_us"): 400_000.0}}
    analysis = analysis_of(plan_of(), moved, noise=0.02, seed=2)
    one = cell(analysis, "Time in which a task waited for a processor (PSI)", "CPU")
    base, level = one.figures
    assert base == ArmFigure("a1", base.mean, 8), "the baseline arm is compared with nothing"
    assert level.clear
    assert one.result(level) == "worse"
    assert level.ci95 is not None
    assert level.ci95[0] < 15.0 < level.ci95[1]
    assert level.change_pct == pytest.approx(60.0, abs=5.0)
    others = [f for m in analysis.explanation.methods if m.title != one.title for f in m.figures]
    assert not any(f.clear for f in others)


def test_every_arm_of_several_factors_is_compared_with_the_arm_of_all_baselines() -> None:
    plan = plan_of('work_mem = ["4MB", "64MB"]\njit = ["on", "off"]')
    moved = {"a4": {("pressure", "cpu", "some_us"): 400_000.0}}
    one = cell(
        analysis_of(plan, moved, noise=0.02),
        "Time in which a task waited for a processor (PSI)",
        "CPU",
    )
    assert [figure.arm for figure in one.figures] == ["a1", "a2", "a3", "a4"]
    assert [one.result(figure) for figure in one.figures[1:]] == [
        "no clear change",
        "no clear change",
        "worse",
    ]


def test_noise_alone_makes_hardly_a_claim() -> None:
    """At 5 % each of a dozen cells, nearly half of all runs would claim something."""
    plan = plan_of()
    claims = sum(
        any(
            f.clear
            for one in analysis_of(plan, noise=0.05, seed=seed).explanation.methods
            for f in one.figures
        )
        for seed in range(150)
    )
    assert claims <= 12, "the throughput has 5 % of its own"


@pytest.mark.parametrize("faster", [1.0, 1.03, 1.2])
def test_the_cell_of_the_primary_metric_says_what_its_verdict_says(faster: float) -> None:
    for seed in range(10):
        analysis = analysis_of(plan_of(), noise=0.03, faster=faster, seed=seed)
        (verdict,) = analysis.answer.verdicts()
        one = cell(analysis, "Throughput")
        said = one.result(one.figures[1])
        assert said == (verdict.verdict if verdict.verdict in ("better", "worse") else said)
        assert one.figures[1].ci95_pct == verdict.ci95_pct
        if verdict.verdict in ("undecided", "equivalent"):
            assert said == "no clear change"


def test_differences_that_rounding_hides_are_not_called_clear() -> None:
    moved = {"a2": {("stat", "", "procs_running"): 6.01}}
    one = cell(analysis_of(plan_of(), moved), "Runnable tasks per processor")
    assert not one.figures[1].clear


def test_an_aa_run_has_figures_and_no_changes_and_a_switchback_has_no_tables() -> None:
    spec = parse_spec(
        '[factors.postgres]\nwork_mem = ["4MB", "64MB"]\n', source="lab.toml", beside=Path()
    )
    same = analysis_of(make_plan(spec, calibrates=True))
    assert means(cell(same, "Memory in use"))
    assert not any(
        f.difference is not None for one in same.explanation.methods for f in one.figures
    )
    turns = plan_of(more='mode = "switchback"\n')
    assert analysis_of(turns).explanation.methods == ()


def test_scenarios_have_their_rate_errors_by_sqlstate_and_latency() -> None:
    def row(name: str, second: int, **more: Any) -> dict[str, Any]:
        usual: dict[str, Any] = dict.fromkeys(LOAD.names)
        usual |= {
            "start_ns": second * 10**9,
            "step": 1,
            "measured": True,
            "scenario": name,
            "transactions": 100,
            "failed": 0,
            "latency_sum_ns": 100 * 2_000_000,
            "latency_ns": [2_000_000],
            "latency_count": [100],
            "error_sqlstate": [],
            "error_count": [],
            "response_sum_ns": 0,
            "response_ns": [],
            "response_count": [],
        }
        return usual | more

    failing = {"failed": 5, "error_sqlstate": ["40001", "40P01"], "error_count": [3, 2]}
    rows = [row("pay", 1), row("pay", 2, **failing), row("look", 1)]
    steps = [step_of(index=1, start_ns=10**9, end_ns=3 * 10**9)]
    look, pay = measure_scenarios(steps, pa.Table.from_pylist(rows, schema=LOAD))
    assert (pay.scenario, pay.tps, pay.failed) == ("pay", 100.0, 5)
    assert pay.errors == {"40001": 3, "40P01": 2}
    assert (pay.of, pay.quantiles_ms["mean"]) == ("latency", 2.0)
    assert (look.scenario, look.transactions, look.errors) == ("look", 100, {})

    plan = plan_of()
    answer = analysis_of(plan).answer
    trials = tuple(replace(t, scenarios=(look, pay)) for t in answer.trials)
    facts = RunFacts(environment_of(**HOST))
    cells = explanation_of(plan, replace(answer, trials=trials), facts).methods
    red = {(one.of, str(one.title)): one for one in cells if one.method == "red"}
    assert means(red["pay", "Failed with SQLSTATE 40001"]) == pytest.approx([300 / 205] * 2)
    assert ("look", "Failed with SQLSTATE 40001") not in red
    assert means(red["look", "Transactions"]) == [50.0, 50.0]


def test_the_figures_of_an_only_scenario_have_the_verdicts_of_the_load(tmp_path: Path) -> None:
    analysis = synthetic_context(tmp_path, effects={"a2": 0.2}).analysis
    known = {c.metric: c for c in analysis.answer.comparisons if c.step is None}
    red = {one.title: one for one in analysis.explanation.methods if one.method == "red"}
    assert len({one.of for one in red.values()}) == 1
    for title, metric in (
        ("Transactions", "tps"),
        ("Mean latency", "latency_mean"),
        ("99th percentile of latency", "latency_p99"),
        ("Failed transactions", "failed_share"),
    ):
        figure = red[title].figures[1]
        assert (figure.ci95_pct, figure.p_by) == (known[metric].ci95_pct, known[metric].p_by)


def test_durations_of_an_open_loop_count_from_when_a_transaction_was_due(tmp_path: Path) -> None:
    text = SPEC.replace('clients = 8\nstep = "10s"', 'clients = 8\nrate = 500\nstep = "10s"')
    context = synthetic_context(tmp_path, spec_text=text, blocks=2)
    titles = {one.title for one in context.analysis.explanation.methods if one.method == "red"}
    assert "99th percentile of response time" in titles
    assert "99th percentile of latency" not in titles
    service = {one.title for one in context.analysis.explanation.methods if one.method == "ltes"}
    assert "99th percentile of response time" in service


def test_the_report_has_the_three_tables_and_says_what_is_missing(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, effects={"a2": 0.2})
    service = method_table(context, "ltes")
    (traffic,) = (row for row in service.rows if row[0] == "traffic")
    assert traffic.cells[-1].style == "better"
    assert " to +" in traffic.cells[-1].note.replace("\u00a0", " ")
    assert traffic.cells[-2].note == "", "the baseline has no change"
    (missing,) = not_measured(context.analysis.explanation.methods)
    psi = WHY_MISSING["pressure"]
    (of_pressure,) = (
        one.title
        for one in CELLS
        if "pressure/memory/full_us" in one.signals and one.method == "use"
    )
    (listed,) = (one for one in missing.blocks if isinstance(one, Items))
    assert any(str(one).startswith(psi) and of_pressure in str(one) for one in listed.texts)
    for text in (render_html(context), render_markdown(context)):
        assert "LTES" in text
        assert psi in text
    stored = json.loads(render_json(context))
    assert {one["method"] for one in stored["methods"]} == {"use", "red", "ltes"}


def test_every_cell_has_a_source_or_says_that_it_has_none() -> None:
    for one in CELLS:
        assert not (one.signals and one.metric), one.title
        assert one.signals or one.metric or one.missing, one.title
        assert one.metric or one.title
        for text in one.signals:
            pattern = Pattern.of(text)
            assert all((pattern.source, pattern.name)), text
