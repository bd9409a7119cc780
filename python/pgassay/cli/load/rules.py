"""Which options of `pgassay load` go together.

Enters: the options' values. Leaves: nothing, or a SpecError that names both and what to do.
Never: reads a value's text.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pgassay.errors import SpecError

if TYPE_CHECKING:
    from pgassay.cli.load.choices import LoadChoices

NO_END_S = 9 * 365 * 86400.0


def refuse_contradictions(choices: LoadChoices) -> None:
    """Stop at options that exclude or need each other."""
    _refuse_endless(choices)
    if choices.duration is not None and choices.transactions is not None:
        raise SpecError("-t and -T exclude each other; keep one")
    if choices.progress_timestamp and choices.progress is None:
        raise SpecError("--progress-timestamp belongs to -P; add it")
    if choices.arrivals is not None and choices.rate is None:
        raise SpecError("--arrivals belongs to -R; add it")
    if choices.max_tries == 0 and choices.duration is None and choices.latency_limit is None:
        raise SpecError("--max-tries 0 needs an end by -T or -L")
    if choices.exit_on_abort and choices.reconnect in ("on-loss", "on_loss"):
        raise SpecError("--exit-on-abort and --reconnect on-loss exclude each other; keep one")
    if choices.steps is not None and choices.clients is not None:
        raise SpecError("--steps names the clients; drop -c")
    if choices.think_time is not None and choices.rate is not None:
        raise SpecError("--think-time and -R exclude each other; a rate sets the pauses itself")
    if choices.shuffle and choices.steps is None and not _has_steps(choices.rate):
        raise SpecError("--shuffle needs several steps; add --steps")


def _refuse_endless(choices: LoadChoices) -> None:
    """What a command line reads as a number and no clock can count."""
    for option, value, most in (
        ("-T", choices.duration, NO_END_S),
        ("-L", choices.latency_limit, 1e3 * NO_END_S),
        ("-P", choices.progress, NO_END_S),
    ):
        if value is not None and not (math.isfinite(value) and 0 < value <= most):
            raise SpecError(f"{option} {value:g}: write a number above 0, at most {most:.3g}")


def _has_steps(rate: str | None) -> bool:
    return rate is not None and (".." in rate or "," in rate)


def refuse_beside_search(choices: LoadChoices, over: str) -> None:
    """A search sets the level of each probe itself, and tells of each only what was asked of it."""
    given = {
        "--steps": choices.steps,
        "-R": choices.rate,
        "-l": choices.log,
        "--slices": choices.slices,
        "-P": choices.progress,
        "-r": choices.report_per_command,
        "--failures-detailed": choices.failures_detailed,
        "--interval": choices.interval,
        "--intervals": choices.intervals,
    }
    for option, value in given.items():
        if value:
            raise SpecError(f"{option} and --search exclude each other; keep one")
    if over == "clients" and choices.clients is not None:
        raise SpecError("--over clients sets the clients of each probe; drop -c")
    if choices.transactions is not None:
        raise SpecError("--search needs -T, the seconds of a probe, not -t")
