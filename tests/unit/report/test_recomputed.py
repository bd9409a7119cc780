"""What a report prints of a recorded run is what its Parquet files hold, computed another way.

Only pyarrow and numpy read the files here: nothing of pgassay's own reading or statistics.
"""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats
from tools.archives import unpack

from pgassay.analysis.reading.metrics import WAIT_CLASSES
from pgassay.report.context import ReportContext
from pgassay.report.sections.record.workload import mix_table
from pgassay.report.workload import workload_words
from pgassay.samples.run_directory import RunDirectory
from pgassay.workflows.reporting import analyse_run
from support.runs.looks import half_pauses
from support.synthetic.report_contexts import with_facts

GOLDEN = Path(__file__).parents[2] / "golden"
BLOCKS = 6


@dataclass(frozen=True)
class Trial:
    """One stored trial."""

    summary: dict[str, Any]
    load: pa.Table
    waits: pa.Table
    postgres: pa.Table

    @property
    def window(self) -> tuple[int, int]:
        (step,) = [s for s in self.summary["load"]["steps"] if s["measured"]]
        return step["start_ns"], step["end_ns"]

    @property
    def seconds(self) -> float:
        return (self.window[1] - self.window[0]) / 1e9

    def measured(self) -> list[dict[str, Any]]:
        return [row for row in self.load.to_pylist() if row["measured"]]

    @property
    def tps(self) -> float:
        return float(sum(row["transactions"] for row in self.measured()) / self.seconds)

    @property
    def latency_ms(self) -> float:
        rows = self.measured()
        done = sum(row["transactions"] for row in rows)
        return float(sum(row["latency_sum_ns"] for row in rows) / done / 1e6)


@dataclass(frozen=True)
class Recorded:
    context: ReportContext
    trials: list[Trial]

    def of(self, arm: str) -> list[Trial]:
        return [one for one in self.trials if one.summary["arm"] == arm]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Two settings of work_mem, six blocks of a mix of three scripts, shared_buffers of 16 MB."""
    return kept("recomputed", tmp_path_factory.mktemp("recorded"))


def kept(name: str, folder: Path) -> Recorded:
    """A run of tests/golden."""
    unpack(GOLDEN / f"{name}.tar.xz", folder)
    (run,) = folder.iterdir()
    trials = [
        Trial(
            json.loads((path / "trial.json").read_text("utf-8")),
            *(pq.read_table(path / f"{name}.parquet") for name in ("load", "waits", "postgres")),
        )
        for path in sorted((run / "trials").iterdir())
    ]
    return Recorded(analyse_run(RunDirectory(run)), trials)


def test_throughput_and_latency_of_trials_and_arms(recorded: Recorded) -> None:
    analysis = recorded.context.analysis
    for shown, own in zip(analysis.answer.trials, recorded.trials, strict=True):
        assert shown.whole.values["tps"] == pytest.approx(own.tps, rel=1e-9)
        assert shown.whole.values["latency_mean"] == pytest.approx(own.latency_ms, rel=1e-9)
    for arm in analysis.answer.arms:
        mean = np.mean([one.tps for one in recorded.of(arm.id)])
        assert arm.means["tps"] == pytest.approx(mean, rel=1e-9)


def test_ratio_interval_and_p_by_flipping(recorded: Recorded) -> None:
    (shown,) = recorded.context.analysis.answer.verdicts()
    rows = [one.summary for one in recorded.trials]
    y = np.log([one.tps for one in recorded.trials])
    columns = [[float(row["block"] == block) for row in rows] for block in range(1, BLOCKS + 1)]
    columns += [
        [float(row[key] == value) for row in rows]
        for key, value in (("arm", "a2"), ("position", 2))
    ]
    model = np.array(columns).T
    found, squares, _, _ = np.linalg.lstsq(model, y)
    effect, position, freedom = found[-2], found[-1], len(y) - model.shape[1]
    error = math.sqrt(squares[0] / freedom * np.linalg.inv(model.T @ model)[-2, -2])
    assert shown.effect_pct == pytest.approx(100 * math.expm1(effect))
    ends = stats.t.interval(0.95, freedom, effect, error)
    assert shown.ci95_pct == pytest.approx([100 * math.expm1(end) for end in ends])

    by_place = {
        (row["block"], row["arm"]): (v, row["position"]) for row, v in zip(rows, y, strict=True)
    }
    pairs = [(by_place[b, "a1"], by_place[b, "a2"]) for b in range(1, BLOCKS + 1)]
    raw = np.array([second - first for (first, _), (second, _) in pairs])
    assert shown.block_raw_pct == pytest.approx(100 * np.expm1(raw))
    adjusted = raw - position * np.array([after - before for (_, before), (_, after) in pairs])
    wider = error * math.sqrt(BLOCKS) / adjusted.std(ddof=1)
    dots = effect + wider * (adjusted - effect)
    assert shown.block_effects_pct == pytest.approx(100 * np.expm1(dots))
    flipped = np.array(list(itertools.product((1, -1), repeat=BLOCKS))) * dots
    t = np.abs(flipped.mean(axis=1)) / flipped.std(axis=1, ddof=1)
    assert shown.p_sign_flip == pytest.approx(np.mean(t >= t[0] * (1 - 1e-9)))


def test_shared_buffers_used(tmp_path: Path) -> None:
    # Its trials are longer than the ten seconds between two looks at shared buffers.
    long = kept("checkpoints-full-page-images", tmp_path)
    found = long.context.analysis.explanation.buffer_cache
    assert [shown.arm for shown in found] == ["a1", "a2"]
    for shown in found:
        means = []
        for trial in long.of(shown.arm):
            rows = [r for r in trial.postgres.to_pylist() if r["source"] == "buffercache"]
            used = [(r["time_ns"], r["value"]) for r in rows if r["name"] == "buffers_used"]
            start, end = trial.window
            looks = sorted({r["time_ns"] for r in rows if start < r["time_ns"] <= end})
            means.append(np.mean([[v for at, v in used if at <= look][-1] for look in looks]))
        assert shown.used == pytest.approx(np.mean(means), rel=1e-6)
        assert shown.used + shown.unused == pytest.approx(512 * 2**20 / 8192)


def test_where_the_data_fit(recorded: Recorded) -> None:
    context = recorded.context
    (size,) = [one.total_bytes for one in context.environment.sizes.values()]
    assert size is not None
    assert size > 16 * 2**20
    for limit, words in ((f"{size // 2}B", "more than memory"), (f"{2 * size}B", "fit in memory")):
        text = f'{context.spec_text}\n[placement]\nserver_memory = "{limit}"\n'
        assert words in workload_words(with_facts(context, spec_text=text))


def test_parts_of_a_transactions_time(recorded: Recorded) -> None:
    (shown,) = recorded.context.analysis.answer.accounting
    latency = {arm: np.mean([one.latency_ms for one in recorded.of(arm)]) for arm in ("a1", "a2")}
    assert shown.whole.baseline_ms == pytest.approx(latency["a1"], abs=2e-3)
    assert shown.whole.level_ms == pytest.approx(latency["a2"], abs=2e-3)
    for side in ("baseline_ms", "level_ms", "difference_ms"):
        parts = [getattr(part, side) for part in shown.parts]
        assert sum(parts) == pytest.approx(getattr(shown.whole, side), abs=2e-3)
    for part in shown.parts:
        assert part.difference_ms == pytest.approx(part.level_ms - part.baseline_ms, abs=1e-6)
    by_name = {part.name: part for part in shown.parts}
    patterns = [(one.name, one.patterns) for one in WAIT_CLASSES]
    own_classes = {"wal", "lock", "lwlock", "data_io"} & by_name.keys()
    assert own_classes
    for name in own_classes:
        for arm, value in (("a1", by_name[name].baseline_ms), ("a2", by_name[name].level_ms)):
            own = np.mean([waited_ms(one, name, patterns) for one in recorded.of(arm)])
            assert value == pytest.approx(own, abs=2e-3)


def waited_ms(trial: Trial, name: str, patterns: list[tuple[str, tuple[str, ...]]]) -> float:
    """Of a transaction in a class: each sample stands for half of the pauses beside it."""
    rows = trial.waits.to_pylist()
    weights = half_pauses({row["tick_ns"] for row in rows})
    start, end = trial.window
    inside = [tick for tick in weights if start <= tick < end]
    busy = 0.0
    for row in rows:
        if row["tick_ns"] in inside and row["backend_type"] in (
            "client backend",
            "parallel worker",
        ):
            event = f"{row['wait_event_type'] or 'CPU'}:{row['wait_event'] or ''}".lower()
            match = (n for n, own in patterns if any(fnmatchcase(event, p.lower()) for p in own))
            busy += weights[row["tick_ns"]] * (next(match) == name)
    sessions = busy / sum(weights[tick] for tick in inside)
    return float(sessions / trial.tps * 1e3)


def test_the_mix_asked_for_and_achieved(recorded: Recorded) -> None:
    done: dict[str, int] = {}
    for row in itertools.chain.from_iterable(one.measured() for one in recorded.trials):
        done[row["scenario"]] = done.get(row["scenario"], 0) + row["transactions"]
    (weights,) = {tuple(one.weights.items()) for one in recorded.context.facts.asked}
    whole = sum(weight for _, weight in weights)
    for shown, (name, weight) in zip(mix_table(recorded.context).rows, weights, strict=True):
        assert shown[0] == name
        assert shown[1] == f"{100 * weight / whole:.1f} %"
        assert shown[2] == f"{100 * done[name] / sum(done.values()):.1f} %"
