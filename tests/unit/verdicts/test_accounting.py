"""The parts of a transaction's time sum to it, and shares are said only where they are clear."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.model import Analysis, RunFacts, StepMeasures, TrialMeasures
from pgassay.analysis.statistics.intervals import mean_with_interval, ratio_of_means
from pgassay.analysis.statistics.multiple_testing import selected_alpha, yekutieli
from pgassay.findings.answer import time_parts
from pgassay.findings.model import Confidence, Finding, FindingKind
from pgassay.findings.registry import find
from pgassay.notes import Note, Value
from pgassay.report.document.table import Table
from pgassay.report.sections.behaviour.waits import waits
from pgassay.report.tables.time_parts import accounting_table, summing
from support.notes import values_in
from support.synthetic.designs import plan_of_spec
from support.synthetic.report_contexts import synthetic_context

FIRST = {"wal": 0.200, "cpu": 0.300, "client": 0.050}


def analysis_of(
    second: dict[str, float],
    *,
    rest: tuple[float, float] = (0.1, 0.1),
    noise: float = 0.01,
    queue: float | None = None,
) -> Analysis:
    """Parts in ms of either arm, each with noise; what is left of the latency is `rest`; `queue` is
    the first arm's wait for a processor."""
    first = FIRST if queue is None else {**FIRST, "cpu_queue": queue}
    text = '[factors.postgres]\nmax_wal_size = ["1GB", "2GB"]\n[design]\nseed = 1\n'
    text += "min_blocks = 8\nmax_blocks = 8\n"
    plan = plan_of_spec(text)
    source = np.random.default_rng(6)
    trials = []
    for t in plan.trials:
        is_first = t.arm == "a1"
        parts = {
            f"wait_{name}_ms_per_tx": time * float(np.exp(noise * source.standard_normal()))
            for name, time in (first if is_first else second).items()
        }
        left = rest[0 if is_first else 1] + noise * float(source.standard_normal())
        latency = sum(parts.values()) + left
        values = {**parts, "unaccounted_ms_per_tx": left, "latency_mean": latency}
        whole = StepMeasures(None, 0, 1, 10_000, {**values, "tps": 8e3 / latency})
        trials.append(TrialMeasures(t.number, t.block, t.position, t.arm, whole, (), ()))
    return Analysis(answer_of("?", plan, trials))


RULE = "findings/answer/time_parts/texts."


def explained(analysis: Analysis) -> list[dict[str, Mapping[str, Value]]]:
    """Of each claim: the code of every note in it, with its values."""
    found = find(analysis, RunFacts())
    return [
        values_in(f.claim) for f in found if f.title == Note("findings/answer/time_parts/title")
    ]


@pytest.mark.parametrize("noise", [0.01, 0.3])
def test_parts_sum_to_the_whole_in_values_and_in_json(noise: float) -> None:
    (one,) = analysis_of({"wal": 0.05, "cpu": 0.26, "client": 0.05}, noise=noise).answer.accounting
    stored = json.loads(json.dumps(asdict(one)))
    for key in ("baseline_ms", "level_ms", "difference_ms"):
        assert round(sum(part[key] for part in stored["parts"]), 6) == stored["whole"][key]
    shares = [part.share_pct for part in one.parts]
    if one.whole.is_clear:
        assert sum(share or 0.0 for share in shares) == pytest.approx(100.0)


def test_the_largest_share_is_said_with_its_interval() -> None:
    (said,) = explained(analysis_of({"wal": 0.05, "cpu": 0.25, "client": 0.05}))
    assert said[f"{RULE}whole"] == {
        "subject": "max_wal_size = 2GB",
        "baseline": "1GB",
        "size": pytest.approx(0.197),
        "way": "less",
    }
    shares = said[f"{RULE}shares"]["shares"]
    assert isinstance(shares, tuple)
    assert len(shares) == 2, "a part that does not change, such as the client's, has no share"
    assert said[f"{RULE}first"]["part"] == "WAL writes and flushes"
    assert said[f"{RULE}first"]["share"] == pytest.approx(75.0, abs=3.0)
    assert said[f"{RULE}next"]["part"] == "CPU time in the server"
    assert said["findings/share-interval"] == {
        "low": pytest.approx(68.7, abs=0.1),
        "high": pytest.approx(85.4, abs=0.1),
    }


def test_a_confirmed_diagnosis_of_the_factor_leads() -> None:
    analysis = analysis_of({"wal": 0.05, "cpu": 0.25, "client": 0.05})
    cause = Note("findings/caveat", {"kind": "cause"})
    shares = time_parts.find(analysis, RunFacts())

    def said(confidence: Confidence, *factors: str) -> dict[str, Mapping[str, Value]]:
        diagnosis = Finding(
            FindingKind.DIAGNOSIS, cause, cause, confidence=confidence, factors=factors
        )
        return values_in(time_parts.point_to_causes([*shares, diagnosis], analysis)[0].claim)

    pointing = said(Confidence.CONFIRMED, "max_wal_size")
    assert pointing[f"{RULE}diagnosed"] == {"factor": "max_wal_size", "causes": (cause,)}
    codes = list(pointing)
    assert codes.index(f"{RULE}diagnosed") < codes.index(f"{RULE}shares")
    for other in (
        said(Confidence.SUPPORTED, "max_wal_size"),
        said(Confidence.CONFIRMED, "work_mem"),
        said(Confidence.CONFIRMED),
    ):
        assert f"{RULE}diagnosed" not in other


def test_the_queue_for_a_processor_never_leads() -> None:
    analysis = analysis_of({"wal": 0.15, "cpu_queue": 0.0, "cpu": 0.30, "client": 0.05}, queue=0.4)
    (said,) = explained(analysis)
    assert said[f"{RULE}first"]["part"] == "WAL writes and flushes"
    assert said[f"{RULE}next"]["part"] == "waiting for a processor"
    assert said[f"{RULE}next"]["share"] > said[f"{RULE}first"]["share"]  # type: ignore[operator]


def test_without_a_clear_difference_there_is_no_share() -> None:
    analysis = analysis_of(FIRST)
    (one,) = analysis.answer.accounting
    assert not one.whole.is_clear
    assert {(part.share_pct, part.share_ci95_pct) for part in one.parts} == {(None, None)}
    assert not explained(analysis)


def test_parallel_workers_are_a_part_below_zero_and_absent_ones_are_zero() -> None:
    text = '[factors.postgres]\nmax_parallel_workers_per_gather = ["0", "2"]\n[design]\nseed = 1\n'
    plan = plan_of_spec(text)
    source = np.random.default_rng(6)
    trials = []
    for t in plan.trials:
        noise = 0.01 * float(source.standard_normal())
        # Two workers and their leader are busy for a half of the time that one process takes.
        parallel = {} if t.arm == "a1" else {"parallel_ms_per_tx": -8.0 + noise}
        busy = 10.0 if t.arm == "a1" else 12.0
        values = {
            "wait_cpu_ms_per_tx": busy, **parallel, "unaccounted_ms_per_tx": noise,
            "latency_mean": busy + sum(parallel.values()) + noise, "tps": 1e3 / busy,
        }  # fmt: skip
        whole = StepMeasures(None, 0, 1, 10_000, values)
        trials.append(TrialMeasures(t.number, t.block, t.position, t.arm, whole, (), ()))
    analysis = Analysis(answer_of("?", plan, trials))
    (one,) = analysis.answer.accounting
    parallel_part = next(part for part in one.parts if part.name == "parallel")
    assert (parallel_part.baseline_ms, round(parallel_part.level_ms)) == (0.0, -8)
    assert round(sum(part.level_ms for part in one.parts), 6) == one.whole.level_ms
    assert not [one for one in analysis.warnings if one.kind == "not-measured"]


def test_samples_that_count_clearly_more_than_a_transaction_took_are_admitted() -> None:
    said = explained(analysis_of(FIRST, rest=(0.1, -0.05)))[-1]
    assert said == {
        f"{RULE}beyond": {
            "subject": "max_wal_size = 2GB",
            "size": pytest.approx(0.05, abs=0.01),
        }
    }
    within = explained(analysis_of(FIRST, rest=(0.1, -0.004)))
    assert not [one for one in within if f"{RULE}beyond" in one]


def test_tables_show_rows_that_sum(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, effects={"a2": 0.12})
    classes, events = (one for one in waits.blocks(context) if isinstance(one, Table))
    for table, columns in (
        (accounting_table(context), ("baseline_ms", "level_ms", "difference_ms")),
        (classes, tuple(column.name for column in classes.columns[1:])),
    ):
        for column in columns:
            *parts, whole = (
                float(text.removesuffix(" ms").replace("\u2212", "-"))
                for text in table.column(column)
            )
            assert round(sum(parts), 3) == whole
    assert not [row for row in events.rows if "Client" in row[0]]
    assert summing([0.0004, 0.0004], 0.001, 3) == (0.0, 0.0, 0.001, 0.001)


def test_an_a_a_run_is_not_explained(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, calibrates=True)
    assert context.analysis.answer.accounting == ()
    assert not context.of_kind(FindingKind.EXPLANATION)


@given(st.integers(0, 10_000), st.floats(-2.0, 2.0), st.floats(1.5, 6.0))
def test_a_share_excludes_zero_exactly_where_its_part_does(
    seed: int, mean: float, critical: float
) -> None:
    source = np.random.default_rng(seed)
    part = mean + source.standard_normal(8)
    whole = part + 9.0 + source.standard_normal(8)
    ends = ratio_of_means(part, whole, critical)
    reach = critical * part.std(ddof=1) / np.sqrt(8)
    if ends is None:
        below = whole.mean() - critical * whole.std(ddof=1) / np.sqrt(8)
        assert below <= 0.0
    else:
        assert (ends[0] > 0.0) == (part.mean() - reach > 0.0)
        assert (ends[1] < 0.0) == (part.mean() + reach < 0.0)


def test_the_interval_of_a_share_holds_its_level() -> None:
    source = np.random.default_rng(2)
    critical, held = 2.3646, 0
    for _ in range(2000):
        part = 3.0 + source.standard_normal(8)
        ends = ratio_of_means(part, part + 1.0 + 0.5 * source.standard_normal(8), critical)
        held += ends is not None and ends[0] <= 0.75 <= ends[1]
    assert 0.935 <= held / 2000 <= 0.965


@given(st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=60))
def test_intervals_at_the_selected_level_agree_with_the_corrected_p(p: list[float]) -> None:
    values = np.array(p)
    alpha = selected_alpha(values, 0.05)
    selected = yekutieli(values) <= 0.05
    assert all(values[selected] <= alpha * (1 + 1e-9))
    assert all(values[~selected] > alpha * (1 - 1e-9))
    assert mean_with_interval(np.array([1.0, 2.0]), alpha).low is not None
