"""How long the ready workloads take to reach their level after a reset; `make validate-real`.

Enters: nothing. Leaves: docs/measured/warm-up.md. Never: changes a default; the `warmup` in each
workload.toml is set by hand after this page.

A trial begins right after its reset: the data directory is put back and the server started, so
nothing is in shared buffers. Rates are divided by the trial's own rate from half of it on, and
averaged over trials. The level is reached at the first second from which every window of five
seconds lies within 2 % of it, or within twice its standard error over trials.
"""

from __future__ import annotations

import argparse
import math
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import MEASURED
from bench.machine import this_machine
from bench.real.runs import ran
from bench.tables import page, table
from pgassay.analysis.measures.courses.trial_course import read_course

OUTPUT = MEASURED / "warm-up.md"
WORKLOADS = ("payments", "payments-read", "payments-write", "pgbench")
SCALE, CLIENTS = 10, 8
FIRST_S = 1.0
"""Warm-up of these trials, which is not looked at."""
WINDOW, NEAR = 5, 0.02
SPEC = """
[target]
version = 18
[workload]
use = "{use}"
scale = {scale}
[load]
clients = {clients}
step = "{seconds}s"
warmup = "{first:g}s"
[design]
min_blocks = {trials}
max_blocks = {trials}
"""


def rates(use: str, trials: int, seconds: int) -> NDArray[np.float64]:
    """Trials × seconds: throughput relative to that of the trial's second half."""
    text = SPEC.format(
        use=use, scale=SCALE, clients=CLIENTS, seconds=seconds, trials=trials, first=FIRST_S
    )
    rows = []
    with ran(text) as found:
        for trial in found:
            course = read_course(trial)
            if course is None:
                continue
            (span,) = course.steps
            places = course.whole(span)
            per_second = round(1.0 / course.interval_s)
            own = course.transactions[places][: seconds * per_second]
            whole = own[: len(own) // per_second * per_second].reshape(-1, per_second).sum(axis=1)
            rows.append(whole / whole[len(whole) // 2 :].mean())
    shortest = min(len(row) for row in rows)
    return np.array([row[:shortest] for row in rows])


def settled_s(relative: NDArray[np.float64]) -> float:
    """The seconds of load until the level is reached, those of the first warm-up included."""
    windows = np.lib.stride_tricks.sliding_window_view(relative, WINDOW, axis=1).mean(axis=2)
    half = relative.shape[1] // 2
    apart = np.abs(windows.mean(axis=0) - 1.0)[:half]
    error = windows.std(axis=0, ddof=1)[:half] / math.sqrt(len(windows))
    far = np.flatnonzero(apart > np.maximum(NEAR, 2.0 * error))
    return FIRST_S + (float(far[-1]) + 1.0 if len(far) else 0.0)


def main() -> None:
    """Measure all and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=25)
    parser.add_argument("--page", type=Path, default=OUTPUT)
    options = parser.parse_args()
    rows = []
    for use in WORKLOADS:
        relative = rates(use, options.trials, options.seconds)
        means = relative.mean(axis=0)
        parts = (means[at : at + WINDOW].mean() for at in (0, WINDOW, 2 * WINDOW))
        shown = [f"{100 * (part - 1.0):+.1f} %".replace("-", "\u2212") for part in parts]
        rows.append([use, *shown, f"{settled_s(relative):.0f} s"])
    about = (
        f"Ready workloads at scale {SCALE}, {CLIENTS} clients, embedded PostgreSQL 18, after a"
        f" reset that puts the data directory back and starts the server; {options.trials} trials"
        f" of {options.seconds} s each, after {FIRST_S:g} s that do not count. Throughput relative"
        f" to the trial's second half. {datetime.now(UTC):%Y-%m-%d}, {this_machine()}. Made by"
        " `make validate-real` (`bench/real/warmup.py`)."
    )
    spans = (f"seconds {at + 1} to {at + WINDOW}" for at in (0, WINDOW, 2 * WINDOW))
    body = table(("workload", *spans, "level reached after"), rows)
    options.page.write_text(page("Warm-up of the ready workloads", about, {"": body}), "utf-8")


if __name__ == "__main__":
    main()
