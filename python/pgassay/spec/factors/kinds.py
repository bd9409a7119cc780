"""The kinds of factor, one table entry each: how a kind is written, applied and alternated.

Enters: the `[factors]` tables. Leaves: `KINDS`, and the factors of a file with their kinds.
Never: applies a level. To add a kind, follow "To add a factor kind" in ARCHITECTURE.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pgassay.notes import Note
from pgassay.spec.factors.tables import FactorsTable
from pgassay.spec.server.host_knobs import acts_after_restart
from pgassay.spec.settings.catalogue import takes_restart

VERSION, BUILD = "version", "build"
WORKLOAD, SCALE = "workload", "scale"
"""Names of the factors whose table has one key for each."""


class Applied(Enum):
    """Where a level of a factor takes effect: on the server, in its data, in its settings, on its
    host or in the load."""

    SERVER = "another server is started, with its own data directory"
    DATA = "other data: a data directory for each level, or SQL on an existing server"
    SETTING = "a setting of the server, made at the reset before a trial"
    KNOB = "a knob of the server's host, set at the reset before a trial"
    LOAD = "the load sends or connects differently; the server is not touched"
    NOWHERE = "only a label"


class Alternates(Enum):
    """What decides whether a level can change within a trial (modes switchback and duet)."""

    NEVER = "it cannot; `no_switchback` says why"
    SCRIPT = "it can, where the scenarios share their connections"
    SETTING = "it can, where a session or a reload can change this setting and nothing outlasts it"
    KNOB = (
        "it can, where the kernel reads this knob whenever it acts; else `no_switchback` says why"
    )


@dataclass(frozen=True)
class Written:
    """One factor of an experiment file: its key, name, kind and the names of its levels."""

    kind: FactorKind
    key: str
    """In the file, such as `factors.postgres.work_mem`."""
    name: str
    """In plans and reports."""
    levels: tuple[str, ...]
    """Names of the levels, the baseline first."""


@dataclass(frozen=True)
class FactorKind:
    """What all factors of one kind have in common."""

    name: str
    """The table below `[factors]`; stored in plan.json."""
    varies: str
    """What its levels are, in a few words."""
    applied: Applied
    written: Callable[[FactorsTable], Iterable[tuple[str, str, Any]]]
    """(key below the kind's table, name of the factor, its levels or None) of each factor."""
    is_hard: Callable[[str], bool]
    """By the factor's name: whether another level takes a restart of the server, or more."""
    alternates: Alternates = Alternates.NEVER
    no_switchback: Note | None = None
    """Why a level cannot change within a trial."""
    no_switchback_of: Mapping[str, Note] = field(default_factory=dict)
    """The same for single factors of the kind, by name."""
    no_duet: Note | None = None
    """Why servers side by side cannot differ in it; None where they can."""
    duet_saves_restarts: bool = False
    """Whether a duet is worth while for a hard factor of this kind."""
    shapes_load: bool = False
    """Whether the load of an arm depends on it: its scripts, their scale or its connections."""

    @property
    def made_by_sql(self) -> bool:
        """Whether an existing server gets its levels by SQL, without a restart."""
        return self.applied is Applied.DATA


def _always(_: str) -> bool:
    return True


def _never(_: str) -> bool:
    return False


def _table(attribute: str) -> Callable[[FactorsTable], Iterable[tuple[str, str, Any]]]:
    """Of a table whose keys are the factors' names."""

    def written(factors: FactorsTable) -> Iterable[tuple[str, str, Any]]:
        return ((name, name, levels) for name, levels in getattr(factors, attribute).items())

    return written


def weight_of(scenario: str) -> str:
    """Returns the name of the factor that varies a scenario's weight; its script may be another
    factor."""
    return f"weight of {scenario}"


_AT_CONNECTION = Note("spec/factors/agreed-at-connection")

SERVER = FactorKind(
    "target",
    "versions or builds of PostgreSQL",
    Applied.SERVER,
    lambda factors: (
        ("version", VERSION, factors.target.version),
        ("bin", BUILD, factors.target.bin),
    ),
    _always,
    no_switchback=Note("spec/factors/another-server"),
    duet_saves_restarts=True,
)
DATA = FactorKind(
    "workload",
    "workloads, or sizes of the data",
    Applied.DATA,
    lambda factors: (
        ("use", WORKLOAD, factors.workload.use),
        ("scale", SCALE, factors.workload.scale),
    ),
    _always,
    no_switchback=Note("spec/factors/other-data"),
    no_duet=Note("spec/factors/not-the-same-load"),
    shapes_load=True,
)
SCHEMA = FactorKind(
    "schema",
    "SQL that changes the built data",
    Applied.DATA,
    _table("schema_"),
    _always,
    no_switchback=Note("spec/factors/another-schema"),
)
QUERIES = FactorKind(
    "workload.queries",
    "folders of queries",
    Applied.LOAD,
    lambda factors: (("", "queries", factors.workload.queries),),
    _never,
    Alternates.SCRIPT,
    shapes_load=True,
)
SCRIPT = FactorKind(
    "scenarios",
    "scripts of a scenario",
    Applied.LOAD,
    _table("scenarios"),
    _never,
    Alternates.SCRIPT,
    shapes_load=True,
)
WEIGHT = FactorKind(
    "weights",
    "weights of a scenario",
    Applied.LOAD,
    lambda factors: ((name, weight_of(name), found) for name, found in factors.weights.items()),
    _never,
    Alternates.SCRIPT,
    shapes_load=True,
)
CLIENT = FactorKind(
    "client",
    "keys of [load]",
    Applied.LOAD,
    lambda factors: factors.client.varied(),
    _never,
    no_switchback=Note("spec/factors/one-per-load"),
    no_switchback_of={
        "protocol": Note("spec/factors/one-protocol"),
        "sslmode": _AT_CONNECTION,
        "transport": _AT_CONNECTION,
        "pools": Note("spec/factors/other-connections"),
    },
    no_duet=Note("spec/factors/one-kind-of-client"),
    shapes_load=True,
)
SESSION = FactorKind(
    "client.settings",
    "settings that each session of the load begins with",
    Applied.LOAD,
    lambda factors: ((name, name, found) for name, found in factors.client.settings.items()),
    _never,
    Alternates.SETTING,
    shapes_load=True,
)
POSTGRES = FactorKind(
    "postgres",
    "settings of the server",
    Applied.SETTING,
    _table("postgres"),
    takes_restart,
    Alternates.SETTING,
    duet_saves_restarts=True,
)
HOST = FactorKind(
    "host",
    "knobs of the server's host",
    Applied.KNOB,
    _table("host"),
    acts_after_restart,
    Alternates.KNOB,
    no_switchback=Note("spec/factors/knob-before-start"),
    no_duet=Note("spec/factors/knob-of-all-servers"),
)
LABEL = FactorKind(
    "label",
    "the two labels of an A/A run",
    Applied.NOWHERE,
    lambda _: (),
    _always,
    no_switchback=Note("spec/factors/label-of-a-trial"),
)

KINDS: Mapping[str, FactorKind] = {
    kind.name: kind
    for kind in (
        *(SERVER, DATA, SCHEMA, QUERIES, SCRIPT, WEIGHT, CLIENT, SESSION, POSTGRES, HOST, LABEL),
    )
}
"""In the order in which a plan lists its factors, whatever their order in the file."""


def written_factors(factors: FactorsTable) -> tuple[Written, ...]:
    """Returns every factor of a file, in the order of the kinds."""
    return tuple(
        Written(kind, f"factors.{kind.name}.{key}".removesuffix("."), name, tuple(levels))
        for kind in KINDS.values()
        for key, name, levels in kind.written(factors)
        if levels is not None
    )
