"""What was not the same in all trials of an arm.

Enters: the stored trials that count. Leaves: a doubt for each thing that differs.
Never: looks at results, or at what the arms differ in: only trials of one arm are compared.

What changed inside a trial is a guard's business (trials/guards.py); this is about what changed
between two of them, when nobody looked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pgassay.analysis.model import Doubt
from pgassay.samples.run_directory import StoredTrial

_MOST_TOLD = 5
_LARGEST_GROWTH = 0.05
"""Share by which a database may be larger in one trial than in another."""
_WHERE = re.compile(r"(_directory|_directories|_file)$")
"""Settings that say where a server lies; an owned one lies elsewhere when a run goes on."""


def drift_between(trials: Sequence[StoredTrial]) -> list[Doubt]:
    """One doubt per setting, kernel setting or version; a long list is cut."""
    first: dict[str, tuple[int, Mapping[str, str]]] = {}
    found: dict[str, str] = {}
    summaries = [trial.summary() for trial in trials]
    for summary in summaries:
        constants = _constants(summary)
        number, known = first.setdefault(summary["arm"], (summary["number"], constants))
        for name in sorted(known.keys() & constants.keys()):
            if known[name] != constants[name]:
                found.setdefault(
                    name,
                    f"{name} was not the same in all trials of an arm:"
                    f" {known[name]} in trial {number}, {constants[name]}"
                    f" in trial {summary['number']}",
                )
    doubts = [Doubt("drift", text) for text in list(found.values())[:_MOST_TOLD]]
    if len(found) > _MOST_TOLD:
        doubts.append(Doubt("drift", f"{len(found) - _MOST_TOLD} more were not the same"))
    return [*doubts, *_growth(summaries)]


def _growth(summaries: Sequence[Mapping[str, Any]]) -> list[Doubt]:
    """A database that trials of one arm did not begin with alike; where it differs most."""
    sizes: dict[str, list[tuple[int, int]]] = {}
    for summary in summaries:
        size = _as_found(summary).get("database_bytes")
        if size:
            sizes.setdefault(summary["arm"], []).append((size, summary["number"]))
    spans = [(max(own)[0] / min(own)[0], min(own), max(own)) for own in sizes.values()]
    if not spans:
        return []
    ratio, (small, early), (large, late) = max(spans)
    if ratio <= 1.0 + _LARGEST_GROWTH:
        return []
    return [
        Doubt(
            "drift",
            f"trials of one arm did not begin with the same data: {small / 1e6:.0f} MB in trial"
            f" {early}, {large / 1e6:.0f} MB in trial {late}; a level of reset that puts the data"
            " back makes them alike",
        )
    ]


def _as_found(summary: Mapping[str, Any]) -> Mapping[str, Any]:
    """The look before the trial; a run made before fingerprints were taken has none."""
    return (summary.get("fingerprint") or {}).get("before") or {}


def _constants(summary: Mapping[str, Any]) -> dict[str, str]:
    before = _as_found(summary)
    if not before:
        return {}
    host = before.get("host") or {}
    return {
        "the server's version": before["version"],
        **{name: v for name, v in before["settings"].items() if not _WHERE.search(name)},
        **(host.get("knobs") or {}),
    }
