"""Which mode an experiment runs in: an arm per trial, or all arms in turn inside each, on one
server or on one each.

Enters: a Spec, its factors. Leaves: the mode, why, and why the others are not valid; or a
SpecError where the mode asked for is not. Never: draws an order; `turns.py` does.

What may alternate is what one session can change for itself without a trace in the next slice;
`carry_over.toml` names the settings that leave one. Of the whole server's settings a few may, by a
reload at every edge: those of `reloads.toml`.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

from pgassay.errors import SpecError
from pgassay.plan.duets import is_worth_while, why_no_duet
from pgassay.plan.model import Factor
from pgassay.plan.turns import (
    SCRIPTS,
    why_load_takes_no_turns,
    why_no_room,
    why_scripts_take_no_turns,
)
from pgassay.spec.model import DesignTable
from pgassay.spec.parse import Spec
from pgassay.spec.settings import CATALOGUED, is_known
from pgassay.spec.slices import refuse_other_than_session

BLOCKS, SWITCHBACK, DUET = "blocks", "switchback", "duet"
MOST_ARMS = 8
LEAST_TRIALS, MOST_TRIALS = 4, 12
"""Blocks of a switchback where the file names none: two of each length of slices, at least."""
_SETTINGS = ("postgres", "client.settings")
_NEEDS: Mapping[str, str] = {
    "target": "another server takes a start of its own",
    "workload": "other data cannot come and go within seconds",
    "schema": "another schema cannot come and go within seconds",
    "host": "a knob of the host is set before the server starts",
    "client": "the engine has one for the whole load, whatever the slice",
}
"""Kind of factor → why it cannot alternate."""
_KEPT = "it is agreed on when a session is opened, and sessions are kept"
_CLIENT: Mapping[str, str] = {
    "protocol": "a script is made ready for one protocol, and prepared when a session is opened",
    "sslmode": _KEPT,
    "transport": _KEPT,
    "pools": "it takes connections of its own, and those are kept",
}
"""Factor of the load's side → why it cannot alternate; of all others `_NEEDS` says it."""
_UNKNOWN = (
    "a setting of an extension, or of another version, which only the server could say to be a"
    " session's own"
)


@dataclass(frozen=True)
class Mode:
    """The mode chosen, and why."""

    name: str
    reason: str
    refused: Mapping[str, str] = field(default_factory=dict)


def choose_mode(spec: Spec, factors: Sequence[Factor]) -> Mode:
    """The mode asked for, or the cheapest that is valid."""
    asked = spec.file.design.mode
    if not factors:
        if asked in (SWITCHBACK, DUET):
            raise _refused("there is no factor to alternate", spec)
        return Mode(BLOCKS, "a single arm")
    problem = why_no_switchback(spec, factors)
    problems = {SWITCHBACK: problem, DUET: why_no_duet(spec, factors)}
    refused = {name: why for name, why in problems.items() if why is not None}
    may_be_a_duet = DUET not in refused and is_worth_while(factors)
    match asked:
        case "switchback" | "duet":
            if asked in refused:
                raise _refused(f"not valid here: {refused[asked]}; write blocks", spec)
            return Mode(asked, "as asked for", refused)
        case "auto" if problem is None:
            return Mode(
                SWITCHBACK,
                f"every factor changes within a session{_or_by_reloads(factors)}: slow drift"
                " cancels inside each trial, so that fewer are needed; costs and waits of the arms"
                " are not told apart (blocks does)",
            )
        case "auto" if may_be_a_duet:
            return Mode(
                DUET,
                "a factor takes a start of the server, so each arm has one of its own, and the load"
                " goes from one to the other: drift of the host cancels inside each trial; costs"
                " and waits of the arms are not told apart (blocks does)",
                refused,
            )
        case "auto":
            asked_only = "" if DUET in refused else "; a duet would do, where it is asked for"
            return Mode(BLOCKS, f"switchback is not valid: {problem}{asked_only}", refused)
        case _:
            cheaper = "" if problem else '; switchback would do too and is quicker: mode = "auto"'
            if problem and may_be_a_duet:
                cheaper = '; duet would do too, and cancels drift of the host: mode = "auto"'
            return Mode(BLOCKS, f"an arm per trial, each from the same beginning{cheaper}", refused)


def _or_by_reloads(factors: Sequence[Factor]) -> str:
    return " or by a reload" if any(takes_reloads(factor) for factor in factors) else ""


def _refused(problem: str, spec: Spec) -> SpecError:
    return SpecError(problem, file=spec.source, key="design.mode")


def blocks_of(design: DesignTable, mode: str) -> tuple[int, int]:
    """Least and most blocks; a switchback's own numbers where the file has none.

    Raises SpecError without a file where the one number given does not go with the other.
    """
    given = design.model_fields_set
    if mode != SWITCHBACK:
        if design.max_blocks < design.min_blocks:
            raise SpecError(
                f"{design.max_blocks} is less than the {design.min_blocks} blocks that a run has at"
                " least where min_blocks is left out; write min_blocks too",
                key="design.max_blocks",
            )
        return design.min_blocks, design.max_blocks
    if "min_blocks" not in given:
        most = design.max_blocks if "max_blocks" in given else MOST_TRIALS
        return min(LEAST_TRIALS, most), most
    least = design.min_blocks
    # As in blocks, one number alone is no wish for a fixed one.
    usual = MOST_TRIALS if least < MOST_TRIALS else 2 * least
    return least, design.max_blocks if "max_blocks" in given else usual


def why_no_switchback(spec: Spec, factors: Sequence[Factor]) -> str | None:
    """What keeps arms from taking turns inside a trial; None where nothing does."""
    load, design = spec.file.load, spec.file.design
    for factor in factors:
        problem = _why_not(factor, spec)
        if problem is not None:
            return f"{factor.name}: {problem}"
    problem = why_load_takes_no_turns(spec)
    if problem is not None:
        return problem
    if design.stopping == "group-sequential":
        return "the looks of a group-sequential run are after blocks of an arm per trial"
    if design.metric == "tps" and load.rate is not None:
        return "with a rate, throughput is what was asked for; compare a latency"
    return why_no_room(spec, math.prod(len(factor.levels) for factor in factors), MOST_ARMS)


def _why_not(factor: Factor, spec: Spec) -> str | None:
    if factor.kind in SCRIPTS:
        return why_scripts_take_no_turns(spec)
    if factor.kind == "client" and factor.name in _CLIENT:
        return _CLIENT[factor.name]
    if factor.kind not in _SETTINGS:
        return _NEEDS.get(factor.kind, "it cannot change while a load runs")
    for pattern, reason in carries_over().items():
        if fnmatchcase(factor.name, pattern):
            return f"carries over from slice to slice: {reason}"
    if takes_reloads(factor):
        if spec.file.target.settings_at == "server":
            return None
        return 'the whole server changes with it: settings_at = "server"'
    target = spec.file.target
    major = None if target.is_existing or target.bin else target.version or CATALOGUED[-1]
    if not is_known(factor.name, major):
        return _UNKNOWN
    try:
        refuse_other_than_session("", factor.name, major)
    except SpecError as error:
        return error.problem.split(", so slices")[0].split("; ")[0]
    return None


def takes_reloads(factor: Factor) -> bool:
    """Whether it is a setting of the whole server that may alternate, by a reload at every edge."""
    return factor.kind == "postgres" and factor.name in reloaded()


@cache
def reloaded() -> Mapping[str, str]:
    """Name of a setting that a reload brings at once and without a trace → where it acts."""
    return tomllib.loads((files("pgassay.plan") / "reloads.toml").read_text("utf-8"))


@cache
def carries_over() -> Mapping[str, str]:
    """Name or pattern of a setting → why it outlasts a slice."""
    return tomllib.loads((files("pgassay.plan") / "carry_over.toml").read_text("utf-8"))
