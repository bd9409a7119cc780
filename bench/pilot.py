"""Whether a burst of load before a trial's measured window would save blocks, on recorded series.

Enters: per-second throughput of one long run (CSV with `second,tps`). Leaves: a table on stdout.
Never: runs a load; nothing is random.

Run: python -m bench.pilot FILE.csv …

The series is cut into trials in turn: burst, gap (for restart and warm-up), measured window.
Two neighbours are a block. The difference of their windows is regressed on that of their bursts
through the origin, as a covariate would be; ρ is the correlation of the two. What is left of the
variance is 1 − ρ², less one degree of freedom, and the trial is longer by the burst.

The other reference is a duet's twin server, on the trials of bench/data/real-turns.json.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BURSTS_S = (2, 5, 10)
GAPS_S = (5, 15)
WINDOWS_S = (5, 8, 15)
BLOCKS = 12
"""Of the run that a degree of freedom is taken from."""
_SKIPPED_S = 10
"""Seconds of the series' own warm-up."""


def saved_share(series: Array, burst: int, gap: int, window: int) -> tuple[int, float, float]:
    """(blocks, ρ, share of a run's time saved), averaged over all phases of the cutting."""
    trial = burst + gap + window
    logs = np.log(series)
    products = np.zeros(3)
    count = 0
    for phase in range(2 * trial):
        usable = (len(logs) - phase) // trial
        cuts = logs[phase : phase + usable * trial].reshape(usable, trial)
        bursts, windows = cuts[:, :burst].mean(axis=1), cuts[:, burst + gap :].mean(axis=1)
        pairs = usable // 2 * 2
        x = bursts[1:pairs:2] - bursts[:pairs:2]
        y = windows[1:pairs:2] - windows[:pairs:2]
        products += (np.sum(x * x), np.sum(x * y), np.sum(y * y))
        count = max(count, len(x))
    rho = float(products[1] / np.sqrt(products[0] * products[2]))
    freedom = (BLOCKS - 1) / (BLOCKS - 2)
    time = trial / (gap + window)
    return count, rho, 1.0 - (1.0 - rho**2) * freedom * time


def twin_saves(trials: Sequence[Sequence[Sequence[float | str]]]) -> tuple[int, float, float]:
    """Of a duet's trials: (how many, SD of the difference, SD left with the twin as covariate).

    Logarithms of each server's mean over its slices. The difference takes all of the twin's course
    off; a covariate takes as much as fits best.
    """
    own, twin = (
        np.log([np.mean([float(one[3]) for one in t if one[1] == arm]) for t in trials])
        for arm in ("a1", "a2")
    )
    rho = float(np.corrcoef(own, twin)[0, 1])
    left = float(np.std(own, ddof=1)) * math.sqrt(1.0 - rho**2)
    return len(own), float(np.std(own - twin, ddof=1)), left


def _series(path: Path) -> Array:
    with path.open(encoding="utf-8") as lines:
        return np.array([float(row["tps"]) for row in csv.DictReader(lines)])[_SKIPPED_S:]


def main(paths: list[str]) -> None:
    """The twin of a duet, then one table a file."""
    turns = json.loads((Path(__file__).parent / "data" / "real-turns.json").read_text("utf-8"))
    count, difference, left = twin_saves(turns["duet"]["trials"])
    print(f"twin: {count} trials, difference {100 * difference:.2f} %, left {100 * left:.2f} %")
    for path in map(Path, paths):
        print(f"\n{path.stem}\n")
        print("| measured | gap | burst | blocks | correlation | blocks saved | time saved |")
        print("|---|---|---|---|---|---|---|")
        series = _series(path)
        for window in WINDOWS_S:
            for gap in GAPS_S:
                for burst in BURSTS_S:
                    count, rho, saved = saved_share(series, burst, gap, window)
                    fewer = 1.0 - (1.0 - rho**2) * (BLOCKS - 1) / (BLOCKS - 2)
                    print(
                        f"| {window} s | {gap} s | {burst} s | {count} | {rho:+.2f}"
                        f" | {100 * fewer:+.0f} % | {100 * saved:+.0f} % |"
                    )


if __name__ == "__main__":
    main(sys.argv[1:])
