"""All simulations with a known truth: `make validate`, half an hour on two processors.

Enters: nothing, or a number of experiments a row for all of it. Leaves: the pages
docs/validation*.md except those of real trials. Never: touches a server.

All random generators have fixed seeds: the pages are reproducible except for dates and times, as
long as the analysis is unchanged.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

from bench.tables import table
from bench.validate.alternating import duet_errors, switchback_errors
from bench.validate.whole_trials import (
    adverse_conditions,
    apart_errors,
    factorial_errors,
    false_positives,
    few_transactions,
    gate_errors,
    history_errors,
    loss_errors,
    periodic_worlds,
    query_errors,
    server_errors,
)
from bench.validate.within_trials import (
    estimates,
    half_errors,
    incident_errors,
    period_errors,
    steadiness_errors,
)

PROGRAMS: tuple[tuple[str, ModuleType], ...] = (
    ("whole trials", false_positives),
    ("adverse conditions", adverse_conditions),
    ("disturbances that return", periodic_worlds),
    ("few transactions", few_transactions),
    ("gates", gate_errors),
    ("sets of queries", query_errors),
    ("several factors", factorial_errors),
    ("lost trials and rare collapses", loss_errors),
    ("switchback", switchback_errors),
    ("duets", duet_errors),
    ("runs made apart", apart_errors),
    ("histories of runs", history_errors),
    ("servers of a fleet", server_errors),
    ("curves", estimates),
    ("effects that change within trials", half_errors),
    ("steadiness and warm-up", steadiness_errors),
    ("two periods", period_errors),
    ("incidents", incident_errors),
)


def main(runs: int | None = None) -> None:
    """All pages; on the first one, how long each took."""
    rows, whole = [], _clocks()
    for name, program in PROGRAMS:
        begin = _clocks()
        write: Callable[..., None] = program.main
        write(*(() if runs is None else (runs,)))
        output: Path = program.OUTPUT
        rows.append([f"[{name}]({output.name})", *_since(begin)])
    rows.append(["all of it", *_since(whole)])
    with false_positives.OUTPUT.open("a", encoding="utf-8") as page:
        page.write(
            f"\n## All of `make validate`\n\n{datetime.now(UTC):%Y-%m-%d}, on two processors."
        )
        head = ("page", "took", "processor time")
        page.write("\n\n" + "\n".join(table(head, rows)) + "\n")


def _clocks() -> tuple[float, float]:
    """Seconds passed, and of processor time: of a machine that others use only this one counts."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return time.monotonic(), sum(one.ru_utime + one.ru_stime for one in used)


def _since(begin: tuple[float, float]) -> list[str]:
    return [f"{(now - then) / 60:.1f} min" for now, then in zip(_clocks(), begin, strict=True)]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
