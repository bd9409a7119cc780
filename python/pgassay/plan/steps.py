"""The steps of a load and their order.

Enters: levels of clients or of the rate, their times, a seed. Leaves: `Step` values.
Never: reads a clock; the same seed gives the same order on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgassay.notes import Note, Term
from pgassay.quantities import LoadUnit
from pgassay.spec.load.amounts import Stage
from pgassay.spec.load.table import LoadTable


@dataclass(frozen=True)
class Step:
    """A stretch of a trial with constant load."""

    clients: int
    duration_s: float
    measured: bool
    rate: float | None = None
    """Transactions to start per second; None for a closed loop."""


def level_steps(
    clients: Sequence[int], rates: Sequence[float] | None, duration_s: float
) -> tuple[Step, ...]:
    """Returns measured steps of one length; either clients or rates has several values."""
    if rates is not None and len(rates) > 1:
        return tuple(Step(clients[0], duration_s, measured=True, rate=rate) for rate in rates)
    rate = rates[0] if rates else None
    return tuple(Step(count, duration_s, measured=True, rate=rate) for count in clients)


def stage_steps(stages: Sequence[Stage], rate: float | None) -> tuple[Step, ...]:
    """Returns measured steps with a duration each."""
    return tuple(Step(s.amount, s.duration_s, measured=True, rate=rate) for s in stages)


def warmed_up(measured: Sequence[Step], warmup_s: float | None) -> tuple[Step, ...]:
    """Returns the steps with a warm-up before them, at the level of the first."""
    if warmup_s is None:
        return tuple(measured)
    return (replace(measured[0], duration_s=warmup_s, measured=False), *measured)


def shuffled(steps: Sequence[Step], seed: int) -> tuple[Step, ...]:
    """Returns the measured steps in an order drawn from `seed`, after a warm-up at the first's
    level."""
    # Python promises the same numbers in every version for random(), not for shuffle().
    source = random.Random(seed)
    drawn = sorted((source.random(), index) for index, step in enumerate(steps) if step.measured)
    warmup = next((step.duration_s for step in steps if not step.measured), None)
    return warmed_up([steps[index] for _, index in drawn], warmup)


def steps_of(load: LoadTable) -> tuple[Step, ...]:
    """Returns the steps of a `[load]` table, in the order they are written."""
    if load.stages is not None:
        measured = stage_steps(load.stages, load.rate[0] if load.rate else None)
    else:
        measured = level_steps(load.clients, load.rate, load.step)
    warms_up = load.runs_scripts or load.warmup_command is not None
    return warmed_up(measured, load.warmup if warms_up else None)


def load_of(step: float, unit: LoadUnit) -> Note:
    """The load of a step, such as `8 clients`."""
    if unit is LoadUnit.CLIENTS and float(step).is_integer():
        return Note.of("plan/clients", n=int(step))
    return Note.of("plan/load", level=step, unit=Term(unit.value))


def at_load(step: float | None, unit: LoadUnit) -> Note | str:
    """The load of a step, such as ` at 8 clients`; the empty text for whole trials."""
    return "" if step is None else Note.of("plan/at-load", load=load_of(step, unit))
