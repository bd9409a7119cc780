"""Read folders of queries that are compared, such as those of a branch and those of main.

Enters: a folder for each level. Leaves: the queries that all folders have, by level, and what is
not compared; or a SpecError. Never: pairs queries by anything but their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pgassay.refusals.refusal import Refusal
from pgassay.spec.reading.texts import Roots
from pgassay.spec.workload.folder import Scenario
from pgassay.spec.workload.parameters import ParameterFile
from pgassay.spec.workload.queries import read_queries

KEY = "factors.workload.queries"


@dataclass(frozen=True)
class QueryFolders:
    """The queries of several folders."""

    compared: Mapping[str, tuple[Scenario, ...]]
    """Level → its queries: those that all folders have, in the order of their names, each with the
    same values of parameters in all levels."""
    alone: Mapping[str, tuple[str, ...]]
    """Level → names of queries that its folder has and some other has not."""
    same: tuple[str, ...] = ()
    """Names of queries that are not executed, as nothing about them differs."""


def read_query_folders(
    folders: Mapping[str, Path], *, only_texts_differ: bool, roots: Roots = ()
) -> QueryFolders:
    """Returns the queries of all levels; `only_texts_differ`: arms differ in nothing else, so that
    a query with the same text in all is left out.

    Raises SpecError for a folder that is no query set, and Refusal where no query is left or
    folders have other parameters for one.
    """
    read = {level: _by_name(read_queries(folder, roots)) for level, folder in folders.items()}
    names = sorted(set.intersection(*(set(own) for own in read.values())))
    alone = {level: tuple(sorted(own.keys() - set(names))) for level, own in read.items()}
    if not names:
        raise Refusal("no-common-queries", KEY)
    parameters = {name: _parameters([own[name] for own in read.values()]) for name in names}
    same = {name for name in names if len({own[name].script for own in read.values()}) == 1}
    if same and only_texts_differ:
        names = [name for name in names if name not in same]
    if not names:
        raise Refusal("same-queries", KEY)
    return QueryFolders(
        {
            level: tuple(replace(own[name], parameters=parameters[name]) for name in names)
            for level, own in read.items()
        },
        {level: own for level, own in alone.items() if own},
        tuple(sorted(same)) if only_texts_differ else (),
    )


def _by_name(queries: Sequence[Scenario]) -> dict[str, Scenario]:
    return {one.name: one for one in queries}


def _parameters(queries: Sequence[Scenario]) -> ParameterFile | None:
    """The file of a query's parameters, which every folder may have and one needs to."""
    found = [one.parameters for one in queries if one.parameters is not None]
    if len({one.sha256 for one in found}) > 1:
        raise Refusal("other-parameters", KEY, name=queries[0].name)
    return found[0] if found else None
