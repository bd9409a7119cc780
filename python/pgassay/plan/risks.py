"""What could make an experiment mislead, seen before it is run.

Enters: a Spec. Leaves: one plain sentence per risk.
Never: stops anything; the user decides.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from pgassay.plan.modes import DUET, LEAST_TRIALS, SWITCHBACK, blocks_of
from pgassay.plan.steps import steps_of
from pgassay.plan.turns import LONG_S
from pgassay.spec.parse import Spec
from pgassay.spec.redaction import secret_line
from pgassay.spec.settings import CATALOGUED, catalogue
from pgassay.spec.stopping import stopping_of
from pgassay.spec.units import to_base

SURE_OF_CARRY_OVER = 12
"""Trials of a fixed number by which most carry-over is found (docs/validation-switchback.md)."""
CYCLE_MINIMUM = 3.0
"""Checkpoint intervals a trial must span before its phase matters little (see docs/methods.md)."""


def find_risks(spec: Spec, resolution: int | None = None, mode: str = "blocks") -> tuple[str, ...]:
    """The risks of this experiment, most serious first; `resolution` is that of a fraction."""
    return tuple(
        _checkpoint_phase(spec)
        + _reset(spec)
        + _aliased(resolution)
        + (_few_trials(spec) if mode == SWITCHBACK else _too_few_blocks(spec))
        + (_long_slices(spec) if mode in (SWITCHBACK, DUET) else [])
        + (_weak_on_carry_over(spec, mode) if mode in (SWITCHBACK, DUET) else [])
        + (_side_by_side(spec) if mode == DUET else [])
        + _ramp(spec)
        + _short_trials(spec)
        + _secrets(spec)
    )


def _few_trials(spec: Spec) -> list[str]:
    """Of a switchback."""
    least, _ = blocks_of(spec.file.design, SWITCHBACK)
    if least >= LEAST_TRIALS:
        return []
    return [
        f"{least} trials do not tell by how much an effect differs from trial to trial: the"
        f" verdict speaks of these alone; write min_blocks = {LEAST_TRIALS} or more"
    ]


def _long_slices(spec: Spec) -> list[str]:
    length = spec.file.design.slice
    if length <= LONG_S:
        return []
    return [
        f"slices of {length:g} s let drift of the host into their differences, and a trial has"
        " fewer of them; 0.5 to 2 s do unless an effect takes longer to show",
    ]


def _weak_on_carry_over(spec: Spec, mode: str) -> list[str]:
    """Of a number of trials that is fixed, and too small to find an effect that outlasts a slice.

    A run whose number is open goes on where carry-over looks likely.
    """
    design = spec.file.design
    least, most = blocks_of(design, mode)
    if stopping_of(design.stopping, least, most) != "fixed" or most >= SURE_OF_CARRY_OVER:
        return []
    trials = f"{most} trials, a fixed number, are" if most > 1 else "one trial alone is"
    return [
        f"{trials} a weak test for an effect that outlasts its slice, which would look too small:"
        " of such that fall to half in a second 6 trials of 32 s find every second one,"
        f" {SURE_OF_CARRY_OVER} nine of ten; where an effect may linger take"
        f" {SURE_OF_CARRY_OVER} or more, leave the number open, or make design.slice longer"
    ]


def _side_by_side(spec: Spec) -> list[str]:
    """Of a duet."""
    found = [
        "waits, WAL, checkpoints and the server's log are stored and drawn of the first arm's"
        " server alone, whoever's slice it is; all servers are sampled alike"
    ]
    if "shared_buffers" in spec.file.factors.postgres:
        found.append(
            "shared_buffers is varied, and the servers share the host's memory: what one takes the"
            ' page cache has less of for all; blocks gives each the whole host: mode = "blocks"'
        )
    return found


def _aliased(resolution: int | None) -> list[str]:
    if resolution != 3:
        return []
    return [
        "in a fraction of resolution III a main effect may be an interaction of two other factors;"
        " confirm what is found with resolution = 4 or all combinations"
    ]


def _checkpoint_phase(spec: Spec) -> list[str]:
    """Of what is compared: the whole trial, and each step where there are several."""
    levels = spec.file.factors.postgres.get("checkpoint_timeout")
    if not levels:
        return _no_checkpoints(spec)
    cycles = [_seconds(level) for level in levels]
    measured = _measured(spec)
    for length in (*sorted(set(measured)), sum(measured)):
        partial = [c for c in cycles if length < CYCLE_MINIMUM * c and length % c]
        if partial:
            whole = length == sum(measured)
            what = f"{length:g} s of measurement" if whole else f"a step of {length:g} s"
            return [
                f"checkpoint_timeout is varied, and {what} is not a whole number of"
                f" {', '.join(f'{c:g} s' for c in partial)} cycles: the checkpoint's phase will"
                f" move the result; make load.step {_fitting(cycles)}"
            ]
    return []


def _fitting(cycles: Sequence[float]) -> str:
    """The shortest length of which no level's phase moves much."""
    common = math.lcm(*(round(cycle) for cycle in cycles))
    several = CYCLE_MINIMUM * max(cycles)
    if common <= several:
        return f"{common} s or a multiple, which is whole cycles of every level"
    return f"{several:g} s or more, {CYCLE_MINIMUM:g} of the longest cycles"


def _no_checkpoints(spec: Spec) -> list[str]:
    """Of a checkpoint interval that is held and never comes round while a trial measures."""
    held = spec.file.settings.postgres.get("checkpoint_timeout")
    measured = sum(_measured(spec))
    if held is None or _seconds(held) <= measured:
        return []
    return [
        f"checkpoint_timeout = {held} is longer than the {measured:g} s that a trial measures, so"
        " trials may hold no checkpoint: the verdict speaks of the time between them; where"
        " checkpoints matter measure longer, or shorten it for all arms"
    ]


def _ramp(spec: Spec) -> list[str]:
    """Steps that always come in one order."""
    load = spec.file.load
    levels = {(step.clients, step.rate) for step in steps_of(load) if step.measured}
    if len(levels) < 2 or load.order == "shuffled":
        return []
    return [
        "load steps come in the same order in every trial, so that what changes with time (caches,"
        " tables that grow, checkpoints) looks like an effect of the load; arms are compared fairly"
        ' at each step; to compare steps write order = "shuffled"'
    ]


def _seconds(level: str) -> float:
    entry = catalogue(CATALOGUED[-1])["checkpoint_timeout"]
    return float(to_base(level, entry["unit"], entry["vartype"]))


def _measured(spec: Spec) -> list[float]:
    """Lengths of the measured steps."""
    return [step.duration_s for step in steps_of(spec.file.load) if step.measured]


def _reset(spec: Spec) -> list[str]:
    """What trials do not have in common when they begin."""
    level = spec.file.reset_rule().level
    return [f"reset level {level.value}: {text}" for text in level.differs]


def _too_few_blocks(spec: Spec) -> list[str]:
    design = spec.file.design
    if not spec.file.factors.every():
        return []
    if design.stops() == "fixed":
        smallest = 2.0 ** (1 - design.min_blocks)
        if smallest <= 0.05:
            return []
        return [
            f"with {design.min_blocks} blocks the sign-flip p cannot fall below {smallest:g};"
            " the verdict rests on the t interval alone; 6 blocks or more lift this"
        ]
    least = fewest_sequential_blocks(_verdicts(spec)) if design.stops() == "sequential" else 0
    if design.max_blocks < least:
        return [
            f"with fewer than {least} blocks a sequential verdict can only be undecided;"
            ' raise max_blocks, or write stopping = "fixed"'
        ]
    return []


def fewest_sequential_blocks(verdicts: int) -> int:
    """Blocks from which the e-value can reach its bar, shared between so many verdicts.

    As t grows the e-value of docs/methods.md tends to (1 + n)^((n - 1) / 2).
    """
    bar = math.log(20.0 * max(1, verdicts))
    return next(n for n in itertools.count(2) if (n - 1) / 2 * math.log1p(n) > bar)


def _verdicts(spec: Spec) -> int:
    levels = sum(len(levels) - 1 for _, _, levels in spec.file.factors.every())
    steps = sum(step.measured for step in steps_of(spec.file.load))
    return levels * (1 if steps == 1 else steps + 1)


def _short_trials(spec: Spec) -> list[str]:
    shortest = min(_measured(spec))
    if shortest >= 5.0:
        return []
    return [
        f"steps of {shortest:g} s are short: start-up effects and a single checkpoint"
        " weigh heavily; the verdict speaks of such short runs only"
    ]


def _secrets(spec: Spec) -> list[str]:
    """Passwords that a server is given are refused; what only looks like one may be data."""
    workload = spec.workload
    texts = [("schema.sql", workload.schema_sql), ("data.sql", workload.data_sql)]
    texts += [(scenario.file, scenario.script) for scenario in workload.scenarios]
    return [
        f"{name} line {line} holds what looks like a password; workload.json keeps it word for word"
        for name, text in texts
        if (line := secret_line(text)) is not None
    ]
