"""Find what could make an experiment misleading, before it is run.

Enters: the experiment's file and workload, its mode. Leaves: one plain sentence per risk.
Never: stops anything; the user decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pgassay.language import stored
from pgassay.plan.modes import DUET, LEAST_TRIALS, MOST_TRIALS, SWITCHBACK, blocks_of
from pgassay.plan.steps import Step, steps_of
from pgassay.plan.switchback import LONG_S, ROUNDS_OF_LONG, long_slice, slice_lengths
from pgassay.spec.arms.apply_levels import specs_of_arms
from pgassay.spec.experiment import Spec
from pgassay.spec.factors.kinds import Written, written_factors
from pgassay.spec.held_and_varied import controlled
from pgassay.spec.model import DesignTable, ExperimentFile
from pgassay.spec.reading.units import to_base
from pgassay.spec.secrets.redaction import secret_line
from pgassay.spec.server.reset import ResetLevel
from pgassay.spec.settings.catalogue import CATALOGUED, catalogue
from pgassay.spec.stopping import stopping_of
from pgassay.spec.workload.folder import Workload
from pgassay.spec.workload.settings_in_sql import functions_in, overriding

FEWEST_BLOCKS = 6
"""With fewer, no sign-flip p is below 5 %."""
FEWEST_OF_A_VERDICT = 4
"""With fewer, the analysis gives none (analysis/compare/estimate.py)."""
SURE_OF_CARRY_OVER = 12
"""Trials of a fixed number by which most carry-over is found
(docs/measured/validation-switchback.md)."""
SHOWS_SLOW_EFFECTS_S = 6.0
"""Slices from which on the default number of trials mostly shows equivalence where there is one
(docs/measured/validation-switchback.md)."""
NO_CHECKPOINTS = stored("trials may have no checkpoint")
"""Words of a risk that the analysis settles by counting checkpoints; plan.json has only texts."""
CYCLE_MINIMUM = 3.0
"""With so many checkpoint intervals in a trial it hardly matters when in one it begins
(docs/methods/verdicts.md)."""


def find_risks(
    file: ExperimentFile, workload: Workload, resolution: int | None, mode: str, arms: int
) -> tuple[str, ...]:
    """The risks of this experiment, most serious first; `resolution` is that of a fraction."""
    steps = tuple(step for step in steps_of(file.load) if step.measured)
    factors = written_factors(file.factors)
    alternates = mode in (SWITCHBACK, DUET)
    return tuple(
        _checkpoint_phase(file, steps)
        + _resets(file.reset_rule().level)
        + _aliased(resolution)
        + (
            _few_trials(file.design)
            if mode == SWITCHBACK
            else _too_few_blocks(file.design, factors)
        )
        + (_long_slices(file.design.slice) if alternates else [])
        + (_weak_on_carry_over(file.design, mode) if alternates else [])
        + (_no_equivalence(file, steps, arms) if mode == SWITCHBACK else [])
        + (_side_by_side(file, factors) if mode == DUET else [])
        + _ordered_steps(steps, file.load.order)
        + _short_steps(steps)
        + _secrets(workload)
    )


def overridden_settings(spec: Spec, mode: str) -> tuple[str, ...]:
    """The risk that scripts set what the experiment varies or holds."""
    found: dict[str, dict[str, None]] = {}
    for one in specs_of_arms(spec):
        functions = functions_in(one.workload.schema_sql, one.workload.data_sql)
        names = controlled(spec.file)
        set_by = overriding(one.workload, names, functions, in_sessions=mode == SWITCHBACK)
        for name, scenarios in set_by.items():
            found.setdefault(name, {}).update(dict.fromkeys(scenarios))
    return tuple(set_by_load(name, by) for name, by in found.items())


def set_by_load(name: str, scenarios: Iterable[str]) -> str:
    """That scripts set what the experiment sets."""
    named = ", ".join(scenarios)
    return stored(
        f"{name} is set by the load itself, in the script of {named} or a function that it calls:"
        " such transactions do not run with the value of the experiment; take that statement out"
    )


def is_set_by_load(risk: str, names: Iterable[str]) -> bool:
    """Whether a text of plan.json is that risk, of one of these settings."""
    return any(risk.startswith(set_by_load(name, ()).partition(",")[0] + ",") for name in names)


def _resets(level: ResetLevel) -> list[str]:
    return [stored(f"reset level {level}: {differs}") for differs in level.differs]


def _few_trials(design: DesignTable) -> list[str]:
    """Of a switchback."""
    least, _ = blocks_of(design, SWITCHBACK)
    if least >= LEAST_TRIALS:
        return []
    return [
        stored(
            f"with {least} trials little is known of how much the effect differs from trial to"
            " trial, so the verdict holds for these trials only; write min_blocks ="
            f" {LEAST_TRIALS} or more"
        )
    ]


def _long_slices(slice_s: float) -> list[str]:
    if slice_s <= LONG_S:
        return []
    return [
        stored(
            f"slices of {slice_s:g} s are long: slow changes of the host differ more from slice to"
            " slice, and a trial holds fewer slices; 0.5 to 2 s are enough unless a setting takes"
            " longer to have its effect"
        )
    ]


def _no_equivalence(file: ExperimentFile, steps: Sequence[Step], arms: int) -> list[str]:
    """Of a switchback: the risk that equivalent arms end undecided, as slow effects are open."""
    _, most = blocks_of(file.design, SWITCHBACK)
    measured_s = sum(step.duration_s for step in steps)
    longest = long_slice(file.design.slice, measured_s, arms) or max(
        slice_lengths(file.design.slice)
    )
    if most >= MOST_TRIALS and longest >= SHOWS_SLOW_EFFECTS_S:
        return []
    step_s = max(measured_s, SHOWS_SLOW_EFFECTS_S * ROUNDS_OF_LONG * arms)
    wanted = max(most, MOST_TRIALS)
    return [
        stored(
            f"if the arms do not differ, this run will probably end undecided: up to {most} trials"
            f" with slices of up to {longest:g} s cannot show that no effect is hidden that takes"
            ' seconds to build up; to have a good chance of a verdict "equivalent", write'
            f' load.step = "{step_s:g}s" or more and max_blocks = {wanted} or more'
        )
    ]


def _weak_on_carry_over(design: DesignTable, mode: str) -> list[str]:
    """The risk that a fixed number of trials is too small to find carry-over between slices.

    A run whose number is open goes on if carry-over looks likely.
    """
    least, most = blocks_of(design, mode)
    if stopping_of(design.stopping, least, most) != "fixed" or most >= SURE_OF_CARRY_OVER:
        return []
    trials = stored(f"{most} trials are") if most > 1 else stored("one trial is")
    sure = SURE_OF_CARRY_OVER
    return [
        stored(
            f"{trials} too few to detect reliably whether effects outlast their slice, which makes"
            " them look smaller than they are: if an effect of 10 % halves within a second, 6"
            f" trials of 32 s detect it in half of all runs, {sure} in nearly all, and smaller"
            f" effects less often; run {sure} trials or more, let the run decide the number"
            " (remove max_blocks), or make design.slice longer"
        )
    ]


def _side_by_side(file: ExperimentFile, factors: Sequence[Written]) -> list[str]:
    """Of a duet."""
    found = [
        stored(
            "waits, WAL, checkpoints and the server's log are stored only for the first arm's"
            " server; all servers are sampled in the same way"
        )
    ]
    level = file.reset_rule().level
    if level is not ResetLevel.SNAPSHOT:
        found.append(
            stored(
                f"reset level {level}: each arm keeps its own data directory, built by its own"
                " server: a lasting difference of these directories would look like an effect of"
                ' the arm; with reset.level = "snapshot" the arms exchange directories'
            )
        )
    if any(factor.name == "shared_buffers" for factor in factors):
        found.append(
            stored(
                "shared_buffers is varied, and the servers share the host's memory: what one takes"
                ' for its buffers is missing from the page cache of all; mode = "blocks" runs one'
                " server at a time"
            )
        )
    return found


def _aliased(resolution: int | None) -> list[str]:
    if resolution != 3:
        return []
    return [
        stored(
            "in a fraction of resolution III what looks like the effect of one factor may be an"
            " interaction of two others; confirm effects with resolution = 4 or all combinations"
        )
    ]


def _checkpoint_phase(file: ExperimentFile, steps: Sequence[Step]) -> list[str]:
    """Of each compared length: the whole trial, and each step if there are several."""
    levels = file.factors.postgres.get("checkpoint_timeout")
    lengths = [step.duration_s for step in steps]
    if not levels:
        held = file.settings.postgres.get("checkpoint_timeout")
        return [] if held is None else _no_checkpoints(held, sum(lengths))
    cycles = [_seconds(level) for level in levels]
    for length in (*sorted(set(lengths)), sum(lengths)):
        partial = [c for c in cycles if length < CYCLE_MINIMUM * c and length % c]
        if partial:
            whole = length == sum(lengths)
            what = (
                stored(f"{length:g} s of measurement")
                if whole
                else stored(f"a step of {length:g} s")
            )
            lengths_s, fitting = ", ".join(f"{c:g} s" for c in partial), _fitting(cycles)
            return [
                stored(
                    f"checkpoint_timeout is varied, and {what} is not a whole number of"
                    f" {lengths_s} cycles: which part of a cycle is measured changes the result;"
                    f" make load.step {fitting}"
                )
            ]
    return []


def _fitting(cycles: Sequence[float]) -> str:
    """The shortest length that hardly depends on when in a cycle it begins."""
    common = math.lcm(*(round(cycle) for cycle in cycles))
    several = CYCLE_MINIMUM * max(cycles)
    if common <= several:
        return stored(f"{common} s or a multiple, which is whole cycles of every level")
    return stored(f"{several:g} s or more, {CYCLE_MINIMUM:g} of the longest cycles")


def _no_checkpoints(held: str, measured_s: float) -> list[str]:
    """The risk that trials have no checkpoint, because the interval is longer than a trial."""
    if _seconds(held) <= measured_s:
        return []
    return [
        stored(
            f"checkpoint_timeout = {held} is longer than the {measured_s:g} s that a trial"
            f" measures, so {NO_CHECKPOINTS}: the verdict is about the time between checkpoints; if"
            " checkpoints matter, measure longer or shorten checkpoint_timeout for all arms"
        )
    ]


def _ordered_steps(steps: Sequence[Step], order: str) -> list[str]:
    if len({(step.clients, step.rate) for step in steps}) < 2 or order == "shuffled":
        return []
    return [
        stored(
            "the steps of the load come in the same order in every trial, so what changes with time"
            " (caches, growing tables, checkpoints) looks like an effect of the load; arms are"
            " compared fairly at each step; to compare steps with each other write order ="
            ' "shuffled"'
        )
    ]


def _seconds(level: str) -> float:
    entry = catalogue(CATALOGUED[-1])["checkpoint_timeout"]
    return float(to_base(level, entry["unit"], entry["vartype"]))


def _too_few_blocks(design: DesignTable, factors: Sequence[Written]) -> list[str]:
    if not factors:
        return []
    if design.max_blocks < FEWEST_OF_A_VERDICT:
        return [
            stored(
                f"with at most {design.max_blocks} blocks no verdict is given, because the spread"
                f" between blocks is hardly known; write max_blocks = {FEWEST_BLOCKS} or more"
            )
        ]
    if design.stops() == "fixed":
        smallest = 2.0 ** (1 - design.min_blocks)
        if smallest <= 0.05:
            return []
        return [
            stored(
                f"with {design.min_blocks} blocks the sign-flip p cannot be below {smallest:g}, so"
                " the verdict rests on the confidence interval alone, which assumes normally"
                " distributed differences; write min_blocks = 6 or more"
            )
        ]
    if design.max_blocks < FEWEST_BLOCKS:
        return [
            stored(
                f"with at most {design.max_blocks} blocks a verdict assumes that block differences"
                f" are normally distributed; write max_blocks = {FEWEST_BLOCKS} or more"
            )
        ]
    return []


def _short_steps(steps: Sequence[Step]) -> list[str]:
    shortest = min(step.duration_s for step in steps)
    if shortest >= 5.0:
        return []
    return [
        stored(
            f"steps of {shortest:g} s are short: the start of the load and a single checkpoint"
            " change the result a lot, and the verdict holds for such short loads only"
        )
    ]


def _secrets(workload: Workload) -> list[str]:
    """Text that only looks like a password is reported; SQL that sets one is refused earlier."""
    texts = [("schema.sql", workload.schema_sql), ("data.sql", workload.data_sql)]
    texts += [(scenario.file, scenario.script) for scenario in workload.scenarios]
    return [
        stored(
            f"{name} line {line} holds what looks like a password; workload.json in the run"
            " directory keeps a copy of it"
        )
        for name, text in texts
        if (line := secret_line(text)) is not None
    ]
