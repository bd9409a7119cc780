"""Whether arms can be compared as a duet: one running server for each arm.

Enters: tables of the experiment file, its factors. Leaves: why a duet is not valid, if it is not;
whether it saves restarts; what its arms cannot share. Never: chooses the mode; `modes.py` does.

Servers side by side may differ in everything that a start of the server can change. But a server
does its background work in the slices of the other servers too; `background.toml` lists the
settings of such work.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

from pgassay.notes import Note
from pgassay.plan.model import Factor
from pgassay.plan.plots import is_hard_to_change
from pgassay.plan.switchback import (
    why_load_cannot_alternate,
    why_scripts_cannot_alternate,
    why_slices_do_not_fit,
)
from pgassay.spec.factors.kinds import KINDS, Alternates, Applied
from pgassay.spec.load.table import LoadTable
from pgassay.spec.model import ExperimentFile
from pgassay.spec.settings.catalogue import is_known

MOST_SERVERS = 4


def built_apart(groups: Iterable[Iterable[str]]) -> Iterator[Note]:
    """Yields a note if arms use data of several builds; each group has the servers that share a
    build."""
    named = [", ".join(dict.fromkeys(group)) for group in groups]
    if len(named) > 1:
        yield Note("plan/built-apart", {"named": " / ".join(named)})


def is_worth_while(factors: Sequence[Factor]) -> bool:
    """Returns whether a duet of these factors saves restarts of the server. It does not with
    shared_buffers: servers would share the memory."""
    if any(factor.name == "shared_buffers" for factor in factors):
        return False
    return any(_saves_restarts(factor) for factor in factors)


def _saves_restarts(factor: Factor) -> bool:
    kind = KINDS[factor.kind]
    # A setting that no catalogue has counts as hard to change, but it may not take a restart.
    may_be_easy = kind.applied is Applied.SETTING and not is_known(factor.name, None)
    return kind.duet_saves_restarts and is_hard_to_change(factor) and not may_be_easy


def why_no_duet(file: ExperimentFile, factors: Sequence[Factor]) -> Note | None:
    """Returns why these factors or this load cannot run as a duet; None where they can."""
    if file.loads_existing:
        return Note("plan/own-server")
    for factor in factors:
        problem = _why_not(factor, file.load)
        if problem is not None:
            return Note("plan/of-factor", {"name": factor.name, "problem": problem})
    problem = why_load_cannot_alternate(file.load)
    if problem is not None:
        return problem
    if file.load.rate is not None:
        return Note("plan/rate-for-all")
    return why_slices_do_not_fit(file.load, file.design.slice, factors, MOST_SERVERS)


def _why_not(factor: Factor, load: LoadTable) -> Note | None:
    kind = KINDS[factor.kind]
    if kind.alternates is Alternates.SCRIPT:
        return why_scripts_cannot_alternate(load)
    if kind.no_duet is not None:
        return kind.no_duet
    for pattern, reason in background().items():
        if kind.applied is Applied.SETTING and fnmatchcase(factor.name, pattern):
            return Note("plan/works-on", {"reason": Note(f"plan/{reason}")})
    return None


@cache
def background() -> Mapping[str, str]:
    """Returns, by name or pattern of a setting, the entry of notes.toml with the background work
    that it changes."""
    return tomllib.loads((files("pgassay.plan") / "background.toml").read_text("utf-8"))
