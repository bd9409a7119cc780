"""Find what could make an experiment misleading, before it is run.

Enters: the experiment's file and workload, its mode. Leaves: a note for each risk; notes.toml has
their sentences.
Never: stops anything; the user decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pgassay.notes import Note, Value
from pgassay.plan.modes import DUET, LEAST_TRIALS, MOST_TRIALS, SWITCHBACK, blocks_of
from pgassay.plan.steps import Step, steps_of
from pgassay.plan.switchback import LONG_S, ROUNDS_OF_LONG, long_slice, slice_lengths
from pgassay.spec.arms import specs_of_arms
from pgassay.spec.experiment import Spec
from pgassay.spec.factors.kinds import Written, written_factors
from pgassay.spec.load.of_queries import ASSUMED_S, executions_of
from pgassay.spec.model import DesignTable, ExperimentFile
from pgassay.spec.reading.units import to_base
from pgassay.spec.secrets.redaction import secret_line
from pgassay.spec.server.reset import ResetLevel
from pgassay.spec.settings.catalogue import CATALOGUED, catalogue
from pgassay.spec.stopping import stopping_of
from pgassay.spec.workload.folder import Workload
from pgassay.spec.workload.query_folders import QueryFolders
from pgassay.spec.workload.settings_in_sql import functions_in, overriding, varying_word_in

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
NO_CHECKPOINTS = "plan/no-checkpoints"
"""The risk that the analysis settles by counting checkpoints."""
NO_EQUIVALENCE = "plan/no-equivalence"
SET_BY_LOAD = "plan/set-by-load"
"""The risk that a session of the load settles, which is asked what it has set."""
SHOWN_AT_ONCE = frozenset({SET_BY_LOAD, "plan/no-verdict", "plan/password"})
"""Risks that a run shows before its first trial: its answer would be to another question or none,
or it stores what is secret."""
CYCLE_MINIMUM = 3.0
"""With so many checkpoint intervals in a trial it hardly matters when in one it begins
(docs/methods/verdicts.md)."""


def find_risks(
    file: ExperimentFile, workload: Workload, resolution: int | None, mode: str, arms: int
) -> tuple[Note, ...]:
    """Returns the risks of an experiment, the most serious first; `resolution` is that of a
    fraction."""
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
        + (
            _short_steps(steps)
            if file.workload.queries is None
            else _time_of_queries(file, workload)
        )
        + _secrets(workload)
    )


def overridden_settings(spec: Spec, mode: str) -> tuple[Note, ...]:
    """Returns the risk that scripts set a setting which the experiment varies or holds."""
    found: dict[str, dict[str, None]] = {}
    for one in specs_of_arms(spec):
        functions = functions_in(one.workload.schema_sql, one.workload.data_sql)
        names = spec.file.controlled
        set_by = overriding(one.workload, names, functions, in_sessions=mode == SWITCHBACK)
        for name, scenarios in set_by.items():
            found.setdefault(name, {}).update(dict.fromkeys(scenarios))
    return tuple(
        Note(SET_BY_LOAD, {"name": name, "named": tuple(by)}) for name, by in found.items()
    )


def lacks_of_trace(left_out: int = 0, values_cut: int = 0, fetched: int = 0) -> tuple[Note, ...]:
    """Returns what a replay does not repeat as it was, by what its trace lacks (`TraceFacts`)."""
    lacks = {
        "plan/trace-left-out": left_out,
        "plan/trace-fetched": fetched,
        "plan/trace-values-cut": values_cut,
    }
    return tuple(Note(code, {"n": n}) for code, n in lacks.items() if n)


def _resets(level: ResetLevel) -> list[Note]:
    return [Note("plan/reset-level", {"level": level, "differs": one}) for one in level.differs]


def _time_of_queries(file: ExperimentFile, workload: Workload) -> list[Note]:
    count = len(workload.scenarios) * executions_of(file.load)
    values = {"assumed_s": ASSUMED_S, "most_s": count * file.load.timeout}
    found = [Note("plan/time-of-queries", values)]
    random = [
        Note.of("plan/varying-query", query=one.name, word=word)
        for one in workload.scenarios
        if (word := varying_word_in(one.script))
    ]
    if random:
        found = [Note.of("plan/varying-queries", n=len(random), queries=tuple(random)), *found]
    return found


def not_compared(folders: QueryFolders | None) -> Iterator[Note]:
    """Yields the queries that not all of several folders have, and those that are the same."""
    if folders is None:
        return
    for level, names in folders.alone.items():
        yield Note.of("plan/queries-of-one-folder", n=len(names), level=level, names=names)
    if folders.same:
        yield Note.of("plan/same-queries", n=len(folders.same))


def _few_trials(design: DesignTable) -> list[Note]:
    """Of a switchback."""
    least, _ = blocks_of(design, SWITCHBACK)
    if least >= LEAST_TRIALS:
        return []
    return [Note("plan/few-trials", {"least": least, "enough": LEAST_TRIALS})]


def _long_slices(slice_s: float) -> list[Note]:
    if slice_s <= LONG_S:
        return []
    return [Note("plan/long-slices", {"slice_s": slice_s})]


def _no_equivalence(file: ExperimentFile, steps: Sequence[Step], arms: int) -> list[Note]:
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
        Note(
            NO_EQUIVALENCE,
            {"most": most, "longest": longest, "step_s": step_s, "wanted": wanted},
        )
    ]


def _weak_on_carry_over(design: DesignTable, mode: str) -> list[Note]:
    """The risk that a fixed number of trials is too small to find carry-over between slices.

    A run whose number is open goes on if carry-over looks likely.
    """
    least, most = blocks_of(design, mode)
    if stopping_of(design.stopping, least, most) != "fixed" or most >= SURE_OF_CARRY_OVER:
        return []
    trials = Note("plan/trials-are", {"most": most}) if most > 1 else Note("plan/one-trial-is")
    return [Note("plan/weak-on-carry-over", {"trials": trials, "sure": SURE_OF_CARRY_OVER})]


def _side_by_side(file: ExperimentFile, factors: Sequence[Written]) -> list[Note]:
    """Of a duet."""
    found = [Note("plan/first-server-stored")]
    level = file.reset_rule().level
    if level is not ResetLevel.SNAPSHOT:
        found.append(Note("plan/own-directories", {"level": level}))
    if any(factor.name == "shared_buffers" for factor in factors):
        found.append(Note("plan/shared-memory"))
    return found


def _aliased(resolution: int | None) -> list[Note]:
    if resolution != 3:
        return []
    return [Note("plan/resolution-3")]


def _checkpoint_phase(file: ExperimentFile, steps: Sequence[Step]) -> list[Note]:
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
            of = "plan/whole-trial" if whole else "plan/one-step"
            values: dict[str, Value] = {
                "what": Note(of, {"length": length}),
                "lengths_s": tuple(partial),
                "fitting": _fitting(cycles),
            }
            return [Note("plan/checkpoint-phase", values)]
    return []


def _fitting(cycles: Sequence[float]) -> Note:
    """The shortest length that hardly depends on when in a cycle it begins."""
    common = math.lcm(*(round(cycle) for cycle in cycles))
    several = CYCLE_MINIMUM * max(cycles)
    if common <= several:
        return Note("plan/whole-cycles", {"common": common})
    return Note("plan/several-cycles", {"several": several, "cycles": CYCLE_MINIMUM})


def _no_checkpoints(held: str, measured_s: float) -> list[Note]:
    """The risk that trials have no checkpoint, because the interval is longer than a trial."""
    if _seconds(held) <= measured_s:
        return []
    return [Note(NO_CHECKPOINTS, {"held": held, "measured_s": measured_s})]


def _ordered_steps(steps: Sequence[Step], order: str) -> list[Note]:
    if len({(step.clients, step.rate) for step in steps}) < 2 or order == "shuffled":
        return []
    return [Note("plan/ordered-steps")]


def _seconds(level: str) -> float:
    entry = catalogue(CATALOGUED[-1])["checkpoint_timeout"]
    return float(to_base(level, entry["unit"], entry["vartype"]))


def _too_few_blocks(design: DesignTable, factors: Sequence[Written]) -> list[Note]:
    if not factors:
        return []
    most = {"max_blocks": design.max_blocks, "enough": FEWEST_BLOCKS}
    if design.max_blocks < FEWEST_OF_A_VERDICT:
        return [Note("plan/no-verdict", most)]
    if design.stops() == "fixed":
        smallest = 2.0 ** (1 - design.min_blocks)
        if smallest <= 0.05:
            return []
        values = {"min_blocks": design.min_blocks, "smallest": smallest}
        return [Note("plan/interval-alone", values)]
    if design.max_blocks < FEWEST_BLOCKS:
        return [Note("plan/if-normal", most)]
    return []


def _short_steps(steps: Sequence[Step]) -> list[Note]:
    shortest = min(step.duration_s for step in steps)
    if shortest >= 5.0:
        return []
    return [Note("plan/short-steps", {"shortest": shortest})]


def _secrets(workload: Workload) -> list[Note]:
    """Text that only looks like a password is reported; SQL that sets one is refused earlier."""
    texts = [("schema.sql", workload.schema_sql), ("data.sql", workload.data_sql)]
    texts += [(scenario.file, scenario.script) for scenario in workload.scenarios]
    return [
        Note("plan/password", {"name": name, "line": line})
        for name, text in texts
        if (line := secret_line(text)) is not None
    ]
