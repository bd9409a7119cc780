"""Run directories with known answers, made without a server.

Enters: a spec's text and the true effect of each arm. Leaves: a run directory as `pgassay run`
would have written it. Never: measures anything.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan, PlannedTrial
from pgassay.plan.store import plan_to_json
from pgassay.samples.run_directory import RunDirectory
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec
from pgassay.trials.model.record import Checkpoint, TrialRecord
from pgassay.trials.server_log.events import LogEvent
from support.synthetic.kept import kept_folder

SPEC = """
question = "Does a larger max_wal_size help write-heavy payments?"
[factors.postgres]
max_wal_size = ["32MB", "4GB"]
[settings.postgres]
shared_buffers = "256MB"
[load]
clients = 8
step = "10s"
warmup = "2s"
[design]
min_blocks = 6
max_blocks = 6
seed = 7
"""
START_NS = 1_800_000_000_000_000_000
BASE_TPS = 7000.0
ENVIRONMENT = {
    "schema": "pgassay.environment/1",
    "server": {"version": "PostgreSQL 18.4 (made up)", "settings": {"fsync": "on"}},
    "host": {"cpus": 2, "memory_bytes": 8 * 2**30, "kernel": "Linux 6.1", "cpu": "made up"},
}
_MORE_COLUMNS: dict[str, object] = {
    "slice": None,
    "error_sqlstate": [],
    "error_count": [],
    "retried": 0,
    "retries": 0,
    "skipped": 0,
    "late": 0,
    "response_sum_ns": 0,
    "response_ns": [],
    "response_count": [],
    "lag_sum_ns": 0,
    "lag_max_ns": 0,
    "connects": 0,
    "connect_sum_ns": 0,
}
"""What a closed loop without failures has in the columns that other loads fill."""


def synthetic_run(
    path: Path,
    *,
    spec_text: str = SPEC,
    effects: dict[str, float] | None = None,
    blocks: int | None = None,
    noise: float = 0.01,
    seed: int = 1,
    calibrates: bool = False,
    create: Callable[[Path], RunDirectory] | None = None,
) -> tuple[RunDirectory, Spec, Plan]:
    """A finished run; `effects` maps arm id to its true log effect on throughput.

    With a rate the effect is on how fast the server is, and every arm reaches the rate. It is a
    copy of one that is made once, or, with `create`, written now.
    """
    spec = parse_spec(spec_text, source="spec.toml", beside=Path())
    plan = make_plan(spec, calibrates=calibrates)
    run = (create or RunDirectory.create)(path)

    def fill(run: RunDirectory) -> None:
        run.write_text("spec.toml", spec.text)
        run.write_json("plan.json", plan_to_json(plan))
        run.write_json("environment.json", ENVIRONMENT)
        source = np.random.default_rng(seed)
        for trial in plan.trials:
            if trial.block <= (blocks or plan.max_blocks):
                effect = (effects or {}).get(trial.arm, 0.0)
                run.write_trial(record_of(trial, plan, effect, noise, source))

    if create:
        fill(run)
    else:
        of = (spec_text, effects, blocks, noise, seed, calibrates)
        made = kept_folder(lambda folder: fill(RunDirectory.create(folder)), *of)
        shutil.copytree(made, run.path, copy_function=shutil.copy, dirs_exist_ok=True)
    return run, spec, plan


def record_of(
    trial: PlannedTrial, plan: Plan, effect: float, noise: float, source: np.random.Generator
) -> TrialRecord:
    """The record of a trial whose arm has this effect, a logarithm."""
    arm = plan.arm(trial.arm)
    tps = BASE_TPS * math.exp(effect + noise * source.standard_normal())
    zero = START_NS + trial.number * 60_000_000_000
    intervals: dict[str, list[object]] = {
        name: []
        for name in (
            "start_ns",
            "step",
            "measured",
            "scenario",
            "transactions",
            "failed",
            "latency_sum_ns",
            "latency_ns",
            "latency_count",
            *_MORE_COLUMNS,
        )
    }
    steps = []
    now = zero
    for index, step in enumerate(plan.steps):
        done = 0
        for second in range(round(step.duration_s)):
            count = round(tps * math.exp(0.03 * source.standard_normal()) * step.clients / 8)
            latency = round(step.clients / max(count, 1) * 1e9)
            response: dict[str, object] = {}
            if step.rate is not None:
                # Arms of a block have the same arrivals; a few transactions end too late to count.
                due = np.random.default_rng((plan.trial_seed(trial.block), index, second))
                count = int(due.poisson(step.rate) - source.integers(0, 4))
                response = {
                    "response_sum_ns": 2 * count * latency,
                    "response_ns": [2 * latency, 6 * latency],
                    "response_count": [count - count // 100, count // 100],
                }
            done += count
            row = (
                now + second * 10**9,
                index,
                step.measured,
                "payment",
                count,
                0,
                count * latency,
                [latency, 3 * latency],
                [count - count // 100, count // 100],
                *(_MORE_COLUMNS | response).values(),
            )
            for name, value in zip(intervals, row, strict=True):
                intervals[name].append(value)
        end = now + round(step.duration_s * 1e9)
        steps.append(
            {
                "index": index,
                "clients": step.clients,
                **({} if step.rate is None else {"rate": step.rate}),
                "measured": step.measured,
                "start_ns": now,
                "end_ns": end,
                "transactions": done,
                "failed": 0,
                "tps": done / step.duration_s,
                "client_cpu_s": done * 2e-5,
            }
        )
        now = end
    first = next(i for i, lv in enumerate(plan.arms) if lv.id == trial.arm) == 0
    counters = _counters(
        zero,
        now,
        tps,
        {
            ("wal_position", "", "insert_bytes"): 2400.0 if first else 700.0,
            ("wal", "", "wal_fpi"): 0.25 if first else 0.02,
            ("wal", "", "wal_records"): 6.0,
            ("checkpointer", "", "buffers_written"): 0.3 if first else 0.05,
            ("database", "bench", "blks_read"): 0.01,
            ("database", "bench", "temp_bytes"): 0.0,
        },
        source,
    )
    host = _counters(
        zero,
        now,
        1.0,
        {
            ("stat", "cpu", "user"): 100.0,
            ("stat", "cpu", "nice"): 0.0,
            ("stat", "cpu", "system"): 60.0,
            ("stat", "cpu", "irq"): 0.0,
            ("stat", "cpu", "softirq"): 5.0,
            ("stat", "cpu", "idle"): 30.0,
            ("stat", "cpu", "iowait"): 5.0,
            ("stat", "cpu", "steal"): 0.5,
            ("diskstats", "vda", "sectors_written"): 90_000.0 if first else 30_000.0,
        },
        source,
    )
    return TrialRecord(
        number=trial.number,
        block=trial.block,
        position=trial.position,
        arm=trial.arm,
        levels=arm.levels,
        started_ns=zero - 5 * 10**9,
        ended_ns=now,
        reset={
            "level": "snapshot",
            "duration_s": 2.0,
            "restarted": True,
            "settings": dict(arm.levels),
            "notes": [],
        },
        load={"steps": steps, "scenarios": [], "backend": "epoll"},
        sampler_cost={"cpu_s": 0.1},
        notes=(),
        intervals=intervals,
        waits=_waits(zero, now, first, source),
        counters=counters,
        host=host,
        checkpoints_from="log",
        checkpoints=tuple(
            Checkpoint(zero + at * 10**9, zero + (at + 2) * 10**9, "wal", buffers=900)
            for at in ((1, 4, 7, 10) if first else ())
        ),
        events=(
            LogEvent(zero + 5 * 10**9, "autovacuum", "bench.public.t", figures={"pages_remain": 9}),
            LogEvent(zero + 6 * 10**9, "error", severity="ERROR", sqlstate="40001", count=3),
        ),
        log={"where": "made up", "form": "jsonlog"},
    )


def _counters(
    start: int,
    end: int,
    rate: float,
    per_unit: dict[tuple[str, str, str], float],
    source: np.random.Generator,
) -> dict[str, list[object]]:
    columns: dict[str, list[object]] = {
        n: [] for n in ("time_ns", "source", "object", "name", "value")
    }
    for key, amount in per_unit.items():
        wobble = math.exp(0.01 * source.standard_normal())
        for second in range(-1, (end - start) // 10**9 + 2):
            row = (start + second * 10**9, *key, 1e6 + second * rate * amount * wobble)
            for name, value in zip(columns, row, strict=True):
                columns[name].append(value)
    return columns


def _waits(
    start: int, end: int, first: bool, source: np.random.Generator
) -> dict[str, list[object]]:
    names = (
        "tick_ns",
        "pid",
        "leader_pid",
        "backend_type",
        "state",
        "wait_event_type",
        "wait_event",
        "query_id",
        "xact_start_ns",
        "scenario",
    )
    columns: dict[str, list[object]] = {name: [] for name in names}
    events = [(None, None), ("LWLock", "WALWrite"), ("IO", "WalSync"), ("IO", "DataFileRead")]
    shares = [0.4, 0.4, 0.15, 0.05] if first else [0.6, 0.2, 0.15, 0.05]
    for tick in range(start, end, 10**8):
        for pid in range(source.binomial(8, 0.7)):
            kind, event = events[source.choice(4, p=shares)]
            row = (
                tick,
                1000 + pid,
                None,
                "client backend",
                "active",
                kind,
                event,
                None,
                tick - 10**6,
                "payment",
            )
            for name, value in zip(names, row, strict=True):
                columns[name].append(value)
    return columns
