"""What a second baseline in each block would save: `python -m bench.validate.second_baseline`.

Enters: a number of experiments. Leaves: a line a case on stdout. Never: judges trials; by the
bounds alone, without positions, which every design would pay alike.

Verdicts share their error by Holm's rule in two families, and the arm of a verdict that is reached
is dropped, as in a run; the baselines stay.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from pgassay.analysis.compare.model import IntervalKind
from pgassay.analysis.compare.rule import Rule

SCATTER, MARGIN = 0.015, 0.02
LOOKS = tuple(range(6, 25))
RULE = Rule(IntervalKind.BOUNDED, MARGIN, 1, LOOKS)
LOW, HIGH = RULE.margins(1.0, ratio=True)


def trials_of_run(effects: Sequence[float], baselines: int, source: np.random.Generator) -> int:
    """How many trials a run takes until each level has a verdict, or after its last block."""
    base = source.normal(0.0, SCATTER, (LOOKS[-1], 2))[:, :baselines].mean(axis=1)
    levels = source.normal(0.0, SCATTER, (LOOKS[-1], len(effects))) + effects
    open_, different, inside = set(range(len(effects))), 0, 0
    trials = 0
    for block in range(1, LOOKS[-1] + 1):
        trials += len(open_) + baselines
        while block in LOOKS and open_:
            shares = (max(1, len(effects) - found) for found in (different, inside))
            reach = [
                RULE.critical(block, block, error / share)
                for error, share in zip((0.05, 0.10), shares, strict=True)
            ]
            said = {level: _says(levels[:block, level] - base[:block], reach) for level in open_}
            news = {level for level, both in said.items() if any(both)}
            if not news:
                break
            different += sum(said[level][0] for level in news)
            inside += sum(said[level][1] for level in news)
            open_ -= news
        if not open_:
            break
    return trials


def _says(differences: np.ndarray, reach: Sequence[float]) -> tuple[bool, bool]:
    """Whether a difference is found, and whether one inside the margin."""
    mean = float(differences.mean())
    error = float(differences.std(ddof=1)) / len(differences) ** 0.5
    wide, narrow = (one * error for one in reach)
    return abs(mean) > wide, mean - narrow > LOW and mean + narrow < HIGH


def main(runs: int = 1000) -> None:
    """Print the mean number of trials with one baseline and with two."""
    for levels in (2, 3, 4, 7):
        for effect in (0.0, 0.02, 0.05):
            effects = [effect if at < levels // 2 else 0.0 for at in range(levels)]
            means = []
            for baselines in (1, 2):
                source = np.random.default_rng(5)
                every = [trials_of_run(effects, baselines, source) for _ in range(runs)]
                means.append(f"{np.mean(every):.0f}")
            print(f"{levels + 1} arms, {effect:.0%} in half of the levels:", " / ".join(means))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
