"""Time and memory of analysing a large run.

Enters: a size, or none for the two of the page. Leaves: a line each on standard output, and
docs/measured/analysis-times.md. Never: asserts anything, or keeps the run.

The run is simulated: trials of one step with so many counters a second, waits at 10 Hz,
checkpoints. It is analysed in a separate process, as by `pgassay report`.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa

from bench import MEASURED
from bench.machine import this_machine
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan, PlannedTrial
from pgassay.plan.store import plan_to_json
from pgassay.samples.run_directory import RunDirectory
from pgassay.samples.storage.files import write_atomically
from pgassay.samples.storage.tables import TABLES, parquet
from pgassay.spec.parse import parse_spec
from pgassay.trials.model.record import Checkpoint, TrialRecord

OUTPUT = MEASURED / "analysis-times.md"
PROMISED = ((24, 600, 300), (4, 21_600, 500))
_LOOK_S = 0.05
SECOND = 10**9
START = 1_800_000_000 * SECOND
NOTHING: dict[str, list[object]] = {
    name: [] for name in ("time_ns", "source", "object", "name", "value")
}
SPEC = """
[factors.postgres]
max_wal_size = ["1GB", "4GB"]
[load]
clients = 8
step = "{seconds}s"
[design]
min_blocks = {blocks}
max_blocks = {blocks}
seed = 1
"""
REPORT = """
import sys
from pathlib import Path
from pgassay.workflows.reporting import report_run
from pgassay.samples.run_directory import RunDirectory
made = report_run(RunDirectory.open(Path(sys.argv[1]))).report
print(made.stat().st_size)
"""


def main() -> None:
    """Simulate the runs, analyse them, print time and memory."""
    options = parse_options()
    if options.trials:
        print(measure(options.trials, options.seconds, options.series))
        return
    lines = [measure(*size) for size in PROMISED]
    head = [
        "# Time and memory of an analysis",
        "",
        f"Made by `make bench` on {datetime.now(UTC):%Y-%m-%d}; {this_machine()}. A process of its"
        " own analyses a made-up run and writes its report, as `pgassay report` does. Wanted:"
        " 24 trials of 600 s with 300 series in 5 s; 24 hours with 500 series in 15 s and 1.5 GB,"
        " on two processors; a file of less than 8 MB. Trials are read in several"
        " processes where that pays; times depend on the machine more than on anything else.",
        "",
    ]
    OUTPUT.write_text("\n".join([*head, *(f"- {line}" for line in lines)]) + "\n", "utf-8")
    print("\n".join(lines))


def measure(trials: int, seconds: int, series: int) -> str:
    """Time and memory of one analysis, as a line."""
    with tempfile.TemporaryDirectory() as folder:
        run = RunDirectory.create(Path(folder) / "run")
        make_run(run, trials // 2, seconds, series)
        # With bytecode, as in an installation; the first command makes it.
        environment = os.environ | {"PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        warm = "import pgassay.workflows.reporting, loky.backend.popen_loky_posix, scipy.optimize"
        subprocess.run([sys.executable, "-c", warm], check=True, env=environment)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        command = [sys.executable, "-c", REPORT, str(run.path)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment
        ) as report:
            most_bytes = _most_memory(report)
            written = report.communicate()[0]
        if report.returncode:
            raise SystemExit(f"the report failed: {report.returncode}")
        file_bytes = int(written)
        lasted_s = time.monotonic() - began
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy_s = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        return (
            f"{trials} trials of {seconds} s with {series} series: {lasted_s:.1f} s,"
            f" {busy_s:.1f} s of processor time, {most_bytes / 1e6:.0f} MB at most in all its"
            f" processes; a file of {file_bytes / 1e6:.1f} MB"
        )


def _most_memory(report: subprocess.Popen[str]) -> int:
    """The most that a process and its children have held together, until it ends."""
    parent, most = psutil.Process(report.pid), 0
    while report.poll() is None:
        with suppress(psutil.Error):
            every = (parent, *parent.children(recursive=True))
            most = max(most, sum(one.memory_info().rss for one in every))
        time.sleep(_LOOK_S)
    return most


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--series", type=int, default=300)
    return parser.parse_args()


def make_run(run: RunDirectory, blocks: int, seconds: int, series: int) -> Plan:
    """A run directory with simulated trials."""
    text = SPEC.format(seconds=seconds, blocks=blocks)
    spec = parse_spec(text, source="bench.toml", beside=Path())
    plan = make_plan(spec)
    run.write_text("spec.toml", spec.text)
    run.write_json("plan.json", plan_to_json(plan))
    source = np.random.default_rng(1)
    for trial in plan.trials:
        run.write_trial(make_record(trial, plan, seconds, source))
        folder = run.path / "trials" / f"{trial.number:04d}"
        begin = START + trial.number * 2 * seconds * SECOND
        for name, share in (("postgres", 0.75), ("host", 0.25)):
            table = make_counters(begin, seconds, round(series * share), name, source)
            write_table(folder / f"{name}.parquet", table)
        write_table(folder / "waits.parquet", make_waits(begin, seconds, source))
    return plan


def make_record(
    trial: PlannedTrial, plan: Plan, seconds: int, source: np.random.Generator
) -> TrialRecord:
    """The load: a histogram of 150 buckets a second."""
    begin = START + trial.number * 2 * seconds * SECOND
    counts = source.poisson(5000.0, seconds)
    buckets = np.unique(np.geomspace(2e5, 2e8, 150).astype(np.int64))
    shares = source.dirichlet(np.exp(-(np.linspace(-1.0, 2.0, len(buckets)) ** 2)) * 50, seconds)
    histograms = np.maximum(np.rint(shares * counts[:, None]), 1).astype(np.int64)
    done = histograms.sum(axis=1)
    columns: dict[str, list[object]] = {
        "start_ns": [begin + second * SECOND for second in range(seconds)],
        "step": [0] * seconds,
        "measured": [True] * seconds,
        "scenario": ["payment"] * seconds,
        "transactions": done.tolist(),
        "failed": [0] * seconds,
        "latency_sum_ns": (histograms @ buckets).tolist(),
        "latency_ns": [buckets.tolist()] * seconds,
        "latency_count": histograms.tolist(),
        "response_ns": [[]] * seconds,
        "response_count": [[]] * seconds,
        "response_sum_ns": [0] * seconds,
    }
    end = begin + seconds * SECOND
    step = {
        "index": 0, "clients": 8, "measured": True, "start_ns": begin, "end_ns": end,
        "transactions": int(done.sum()), "failed": 0, "tps": float(done.sum()) / seconds,
        "client_cpu_s": 10.0,
    }  # fmt: skip
    return TrialRecord(
        number=trial.number, block=trial.block, position=trial.position, arm=trial.arm,
        levels=plan.arm(trial.arm).levels, started_ns=begin, ended_ns=end,
        reset={}, load={"steps": [step], "scenarios": []}, sampler_cost={}, notes=(),
        intervals=columns, waits={"tick_ns": []}, counters=NOTHING, host=NOTHING,
        checkpoints_from="log",
        checkpoints=tuple(
            Checkpoint(begin + at * SECOND, begin + (at + 50) * SECOND, "time")
            for at in range(30, seconds, 60)
        ),
    )  # fmt: skip


def make_counters(
    begin: int, seconds: int, series: int, table: str, source: np.random.Generator
) -> pa.Table:
    """Readings of counters that grow unevenly; some have names that metrics use."""
    known = {
        "postgres": [
            ("wal_position", "", "insert_bytes"), ("wal", "", "wal_fpi"),
            ("checkpointer", "", "buffers_written"), ("database", "bench", "blks_read"),
        ],
        "host": [
            ("stat", "cpu", name)
            for name in ("user", "nice", "system", "irq", "softirq", "idle", "iowait", "steal")
        ],
    }[table]  # fmt: skip
    keys = [*known, *(("io", f"part {at}", "writes") for at in range(series - len(known)))]
    ticks = seconds + 4
    times = begin + (np.arange(ticks) - 2) * SECOND + source.integers(0, SECOND // 20, ticks)
    values = np.cumsum(source.gamma(5.0, 20.0, (len(keys), ticks)), axis=1)
    columns = {
        "time_ns": np.repeat(times, len(keys)),
        **{
            name: pa.DictionaryArray.from_arrays(
                pa.array(np.tile(np.arange(len(keys), dtype=np.int32), ticks)),
                pa.array([key[place] for key in keys]),
            )
            for place, name in enumerate(("source", "object", "name"))
        },
        "value": values.T.ravel(),
    }
    return pa.table(columns).cast(TABLES[table])


def make_waits(begin: int, seconds: int, source: np.random.Generator) -> pa.Table:
    """Eight sessions at 10 Hz, each doing one of four things."""
    rows = seconds * 10 * 8
    kinds = source.integers(0, 4, rows)
    columns = {
        "tick_ns": begin + np.repeat(np.arange(seconds * 10), 8) * (SECOND // 10),
        "pid": np.tile(np.arange(1000, 1008), seconds * 10),
        "backend_type": np.full(rows, "client backend"),
        "wait_event_type": np.array([None, "LWLock", "IO", "IO"], object)[kinds],
        "wait_event": np.array([None, "WALWrite", "WalSync", "DataFileRead"], object)[kinds],
    }
    schema = TABLES["waits"]
    return pa.table(
        [pa.array(columns.get(f.name, [None] * rows)).cast(f.type) for f in schema], schema=schema
    )


def write_table(path: Path, table: pa.Table) -> None:
    write_atomically(path, parquet(table))


if __name__ == "__main__":
    main()
