"""Choose the mode of an experiment: blocks, switchback or duet.

Enters: the experiment file, its factors. Leaves: the mode, why, and why the others are not valid;
or a `Refusal` if the mode that the file asks for is not valid. Never: draws an order.

A setting may alternate within a trial if one session can change it and nothing of it remains in
the next slice; `carry_over.toml` lists settings of which something remains. A few settings of the
whole server may alternate by a reload at every edge (`reloads.toml`), a few knobs of the host by
being written there (`knobs.toml`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from pgassay.notes import Note
from pgassay.plan.duet import is_worth_while, why_no_duet
from pgassay.plan.model import Factor
from pgassay.plan.switchback import (
    why_load_cannot_alternate,
    why_scripts_cannot_alternate,
    why_slices_do_not_fit,
)
from pgassay.refusals.refusal import Refusal
from pgassay.spec.factors.kinds import KINDS, SCHEMA, Alternates, Applied
from pgassay.spec.factors.made_objects import names_of_objects
from pgassay.spec.factors.variants import SchemaSql
from pgassay.spec.load.slices import FIXED, OF_A_SESSION, why_fixed
from pgassay.spec.load.table import LoadTable
from pgassay.spec.mode import Mode
from pgassay.spec.model import DesignTable, ExperimentFile, TargetTable
from pgassay.spec.settings.catalogue import CATALOGUED, is_known

BLOCKS, SWITCHBACK, DUET = Mode.BLOCKS.value, Mode.SWITCHBACK.value, Mode.DUET.value
MOST_ARMS = 8
LEAST_TRIALS, MOST_TRIALS = 4, 24
"""Default blocks of a switchback: at least two for each length of short slices, and enough with
long ones to show that arms are equivalent (docs/measured/validation-switchback.md)."""


@dataclass(frozen=True)
class ChosenMode:
    """The mode of an experiment, why it was chosen, and why other modes are not valid."""

    name: str
    reason: Note
    refused: Mapping[str, Note] = field(default_factory=dict)


def choose_mode(
    file: ExperimentFile,
    factors: Sequence[Factor],
    schema: Mapping[str, Mapping[str, SchemaSql]] = MappingProxyType({}),
) -> ChosenMode:
    """Returns the mode that the file asks for, or the cheapest valid one; `Refusal` where that is
    none. `schema` has the SQL of the schema's factors, by level."""
    asked = file.design.mode
    if not factors:
        if asked in (SWITCHBACK, DUET):
            raise Refusal("no-factor-to-alternate")
        return ChosenMode(BLOCKS, Note("plan/single-arm"))
    if file.workload.queries is not None:
        return _mode_of_queries(file, factors, schema)
    problem = why_no_switchback(file, factors)
    problems = {SWITCHBACK: problem, DUET: why_no_duet(file, factors)}
    refused = {name: why for name, why in problems.items() if why is not None}
    may_be_a_duet = DUET not in refused and is_worth_while(factors)
    match asked:
        case "switchback" | "duet":
            if asked in refused:
                raise Refusal("mode-not-valid", why=refused[asked])
            return ChosenMode(asked, Note("plan/as-asked"), refused)
        case "auto" if problem is None:
            at_edges = any(takes_reloads(one) or takes_writes(one) for one in factors)
            easy = Note("plan/easy-or-reloaded" if at_edges else "plan/easy")
            return ChosenMode(SWITCHBACK, easy)
        case "auto" if may_be_a_duet:
            return ChosenMode(DUET, Note("plan/takes-restart"), refused)
        case "auto":
            code = "plan/no-switchback" if DUET in refused else "plan/no-switchback-but-duet"
            return ChosenMode(BLOCKS, Note(code, {"problem": refused[SWITCHBACK]}), refused)
        case _ if problem is None:
            return ChosenMode(BLOCKS, Note("plan/blocks-or-switchback"), refused)
        case _:
            why = Note("plan/blocks-or-duet" if may_be_a_duet else "plan/blocks")
            return ChosenMode(BLOCKS, why, refused)


def _mode_of_queries(
    file: ExperimentFile,
    factors: Sequence[Factor],
    schema: Mapping[str, Mapping[str, SchemaSql]],
) -> ChosenMode:
    """Arms that differ in what a session sets or sends, or in indexes that it can hide from itself,
    alternate from execution to execution, but where the file asks for blocks."""
    problems = (_why_not_together(one, file) for one in factors)
    problem = next((one for one in problems if one is not None), None)
    if problem is None and schema:
        problem = _why_not_hidden(file, schema)
    if problem is None and file.target.fleet is not None:
        problem = Note("plan/queries-of-a-fleet")
    if file.load.caches == "cold":
        problem = Note("plan/queries-once-cold")
    if problem is None and file.workload.writes is not None:
        problem = Note("plan/queries-with-writes")
    if "mode" in file.design.model_fields_set and file.design.mode == "blocks":
        return ChosenMode(BLOCKS, Note("plan/as-asked"))
    if problem is None:
        return ChosenMode(
            SWITCHBACK, Note("plan/queries-hide-objects" if schema else "plan/queries-together")
        )
    if file.design.mode == "switchback":
        raise Refusal("mode-not-valid", why=problem)
    return ChosenMode(BLOCKS, Note("plan/queries-in-blocks", {"problem": problem}))


def _why_not_together(factor: Factor, file: ExperimentFile) -> Note | None:
    if factor.kind == SCHEMA.name:
        return None
    if takes_reloads(factor) or takes_writes(factor):
        problem: Note | None = Note("plan/not-of-a-session")
    else:
        problem = _why_not(factor, file.load, file.target)
    return problem and Note("plan/of-factor", {"name": factor.name, "problem": problem})


def _why_not_hidden(
    file: ExperimentFile, schema: Mapping[str, Mapping[str, SchemaSql]]
) -> Note | None:
    """Why a session cannot have the objects of its arm alone, where those of all arms are there."""
    if file.loads_existing:
        return Note("plan/hides-on-the-users-server")
    if file.load.clients != (1,):
        return Note("plan/hides-from-other-sessions")
    known: set[str] = set()
    for factor, levels in schema.items():
        for one in levels.values():
            names = names_of_objects(one.sql)
            problem = "plan/more-than-objects" if names is None else "plan/objects-of-one-name"
            if names is None or not known.isdisjoint(names):
                return Note("plan/of-factor", {"name": factor, "problem": Note(problem)})
            known.update(names)
    return None


def blocks_of(design: DesignTable, mode: str) -> tuple[int, int]:
    """Returns the smallest and the largest number of blocks; a switchback has its own defaults.

    Raises a `Refusal` if a number does not fit the other's default.
    """
    given = design.model_fields_set
    if mode != SWITCHBACK:
        if design.max_blocks < design.min_blocks:
            raise Refusal("too-few-blocks", most=design.max_blocks, least=design.min_blocks)
        return design.min_blocks, design.max_blocks
    if "min_blocks" not in given:
        most = design.max_blocks if "max_blocks" in given else MOST_TRIALS
        return min(LEAST_TRIALS, most), most
    least = design.min_blocks
    # As for blocks, min_blocks alone does not ask for a fixed number.
    usual = MOST_TRIALS if least < MOST_TRIALS else 2 * least
    return least, design.max_blocks if "max_blocks" in given else usual


def why_no_switchback(file: ExperimentFile, factors: Sequence[Factor]) -> Note | None:
    """Returns why these factors or this load cannot run as a switchback; None where they can."""
    load, design = file.load, file.design
    for factor in factors:
        problem = _why_not(factor, load, file.target)
        if problem is not None:
            return Note("plan/of-factor", {"name": factor.name, "problem": problem})
    problem = why_load_cannot_alternate(load)
    if problem is not None:
        return problem
    if design.stopping == "group-sequential":
        return Note("plan/group-sequential")
    return why_slices_do_not_fit(load, design.slice, factors, MOST_ARMS)


def _why_not(factor: Factor, load: LoadTable, target: TargetTable) -> Note | None:
    kind = KINDS[factor.kind]
    match kind.alternates:
        case Alternates.SCRIPT:
            return why_scripts_cannot_alternate(load)
        case Alternates.NEVER:
            return kind.no_switchback_of.get(factor.name, kind.no_switchback)
        case Alternates.KNOB:
            return None if takes_writes(factor) else kind.no_switchback
    for pattern, reason in carries_over().items():
        if fnmatchcase(factor.name, pattern):
            return Note("plan/carries-over", {"reason": Note(f"plan/{reason}")})
    if takes_reloads(factor):
        if target.settings_at == "server":
            return None
        return Note("plan/settings-at-server")
    major = None if target.is_existing or target.bin else target.version or CATALOGUED[-1]
    if not is_known(factor.name, major):
        return Note("plan/only-the-server-knows")
    why = why_fixed(factor.name, major, OF_A_SESSION)
    return None if why is None else FIXED[why]


def takes_reloads(factor: Factor) -> bool:
    """Returns whether a factor is a setting of the whole server that can alternate by reloads."""
    return KINDS[factor.kind].applied is Applied.SETTING and factor.name in reloaded()


def takes_writes(factor: Factor) -> bool:
    """Returns whether a factor is a knob of the host that can alternate by being written."""
    return KINDS[factor.kind].applied is Applied.KNOB and factor.name in written_knobs()


@cache
def written_knobs() -> Mapping[str, str]:
    """Returns the knobs of the host that may alternate within a trial, each with what reads it."""
    return tomllib.loads((files("pgassay.plan") / "knobs.toml").read_text("utf-8"))


@cache
def reloaded() -> Mapping[str, str]:
    """Returns the settings that may alternate by reloads, each with a description of where it
    acts."""
    return tomllib.loads((files("pgassay.plan") / "reloads.toml").read_text("utf-8"))


@cache
def carries_over() -> Mapping[str, str]:
    """Returns, by name or pattern of a setting, the entry of notes.toml that says why its effect
    outlasts a slice."""
    return tomllib.loads((files("pgassay.plan") / "carry_over.toml").read_text("utf-8"))
