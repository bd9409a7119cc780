"""Where the sentences of notes lie, and what else is known of each code.

Enters: TOML files of the package. Leaves: their entries by code. Never: makes a sentence.

The code `plan/no-checkpoints` is the entry `[no-checkpoints]` in notes.toml of the package
`pgassay.plan`: its `text` with places for the values; `one`, the singular, where the value that
`counted` names decides; its `importance` where that is not "size"; `disturbs` where chance can
bring it to any trial; `mark` where a piece of a sentence looks different, such as an interval. The
code `findings/answer/limits/losses.none` is the text `none` of the table `losses` in limits.toml,
the file beside a module that is one of `RULES`; `refusals/no-tls` is the refusal of that code.
Every text of a rule's file is a sentence, except those under the key `values`, at any depth: names
of settings, of wait events and of metrics.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pgassay.refusals.refusal import catalogue as refusals
from pgassay.refusals.refusal import line

ROOMS = (
    "analysis/apart",
    "analysis/classic",
    "analysis/compare",
    "analysis/curves",
    "analysis/gates",
    "analysis/history",
    "analysis/measures",
    "analysis/methods",
    "analysis/noise",
    "analysis/plans",
    "analysis/queries",
    "analysis/statistics",
    "analysis/verdicts",
    "draw",
    "draw/log",
    "findings",
    "findings/answer",
    "plan",
    "report/sections",
    "server/copied",
    "server/data",
    "server/knobs",
    "server/settings",
    "spec/factors",
    "spec/load",
    "spec/server",
    "trials/checkpoints",
    "trials/environment",
    "trials/guards",
    "trials/host",
    "trials/load",
    "trials/plans",
    "trials/profile",
    "trials/run",
    "trials/sampling",
    "trials/server_log",
    "trials/trace",
)
"""Packages that have a notes.toml."""
RULES = (
    "findings/answer/ending",
    "findings/answer/endpoints",
    "findings/answer/explanations",
    "findings/answer/factors",
    "findings/answer/gates",
    "findings/answer/limits",
    "findings/answer/time_parts",
    "findings/answer/trade_offs",
    "findings/answer/undecided",
    "findings/answer/verdicts",
    "findings/apart/verdicts",
    "findings/behaviour/associations",
    "findings/behaviour/checkpoint_causes",
    "findings/behaviour/checkpoints",
    "findings/behaviour/curves",
    "findings/behaviour/mode_queues",
    "findings/behaviour/modes",
    "findings/behaviour/plans",
    "findings/behaviour/wal_locks",
    "findings/diagnosis/recognised",
    "findings/history/levels",
    "findings/incidents/signs",
    "findings/noise/aa_run",
    "findings/noise/fitness",
    "findings/noise/forecast",
    "findings/observation/periods",
)
"""Modules whose sentences stand in the TOML file beside them."""
REFUSALS = "refusals"
VALUES = "values"
"""The key in a rule's file under which no text is a sentence."""
LEGACY = "legacy"
"""The code of a note of which only the sentence is known: in runs of older versions, and where the
code that makes it has no notes yet."""


@cache
def entry_of(code: str) -> Mapping[str, Any]:
    """Returns what the catalogue says of a code; nothing for legacy notes.

    Raises KeyError where no catalogue has it.
    """
    room, _, name = code.rpartition("/")
    return {} if code == LEGACY else catalogue(room)[name]


@cache
def catalogue(room: str) -> Mapping[str, Mapping[str, Any]]:
    """Returns the entries of a room, of a rule or of all refusals, by the code without it."""
    if room == REFUSALS:
        return {
            code: {"text": line(entry["text"], entry.get("otherwise") or entry.get("fix", ""))}
            for code, entry in refusals().items()
        }
    if room not in (*ROOMS, *RULES):
        raise KeyError(room)
    if room in ROOMS:
        return table_of(f"{room}/notes.toml")
    return {key: {"text": said} for key, said in _texts(table_of(f"{room}.toml"))}


def table_of(path: str) -> Mapping[str, Any]:
    """Returns the content of a TOML file of the package; its folders are divided by "/"."""
    return tomllib.loads(files("pgassay").joinpath(*path.split("/")).read_text("utf-8"))


def _texts(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yields the sentences in a table with their dotted keys."""
    for key, value in table.items():
        if isinstance(value, str):
            yield f"{before}{key}", value
        elif isinstance(value, Mapping) and key != VALUES:
            yield from _texts(value, f"{before}{key}.")
