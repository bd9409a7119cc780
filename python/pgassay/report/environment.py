"""environment.json → titled lists of names and values, whatever it holds.

Enters: the stored object. Leaves: `NamedValues` of plain text.
Never: relies on a key being there, or prints an absent value as if it were one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pgassay.analysis.reading.setting_sizes import setting_text
from pgassay.language import Message, clauses, decimals, listed, tr
from pgassay.quantities import size
from pgassay.samples.forms.environment import DataSize, EnvironmentFile, NotSeen
from pgassay.stored_notes import CODED, said_at

_ABSENT = Message("not known")
_ELSEWHERE = (
    "server",
    "servers",
    "host",
    "data",
    "settings_that_differ",
    "settings_of_some",
    "not_seen",
    "sizes",
)
_SKIPPED = ("schema", "settings", "every_setting", "version_num")
_MOST_SIZES = 12
"""Of the relations that are stored."""


@dataclass(frozen=True)
class NamedValues:
    """A titled list of (name, value)."""

    name: Literal["server", "host", "run", "not_measured", "sizes", "settings"]
    title: str
    form: Literal["values", "code", "sentences"]
    """Short values; names that are identifiers, in a fixed-width face; or sentences."""
    rows: tuple[tuple[str, str], ...]


def environment_lists(environment: EnvironmentFile) -> tuple[NamedValues, ...]:
    """Server, host, whatever else was recorded, settings; empty lists are left out."""
    rest = {k: v for k, v in environment.given.items() if k not in _ELSEWHERE}
    # Of several servers the section "The servers" has them.
    server_rows = () if environment.servers else tuple(_flat(environment.server.given))
    missing = tr("Not measured, and how to enable it")
    not_default = tr("Server settings other than the defaults")
    sizes = tuple(_sizes(environment.sizes))
    found = (
        NamedValues("server", tr("Server"), "values", server_rows),
        NamedValues("host", tr("Host"), "values", tuple(_flat(_host(environment)))),
        NamedValues("run", tr("Run"), "values", tuple(_flat(rest))),
        NamedValues("not_measured", missing, "sentences", not_measured(environment)),
        NamedValues("sizes", tr("Sizes at the start"), "code", sizes),
        NamedValues("settings", not_default, "code", _settings(environment.server.settings)),
    )
    return tuple(one for one in found if one.rows)


def _host(environment: EnvironmentFile) -> Mapping[str, Any]:
    """What was read of the host; roles on one file system once, with the path of the first."""
    if not environment.host.storage:
        return environment.host.given
    alike: list[tuple[list[str], Mapping[str, Any]]] = []
    for role, place in environment.host.storage.items():
        for roles, first in alike:
            if {**place.given, "path": ""} == {**first, "path": ""}:
                roles.append(role)
                break
        else:
            alike.append(([role], place.given))
    storage = {", ".join(roles): place for roles, place in alike}
    return {**environment.host.given, "storage": storage}


def not_measured(environment: EnvironmentFile) -> tuple[tuple[str, str], ...]:
    """(what was not measured, why and how to enable it); empty for runs that did not store it."""
    return tuple(map(_not_measured, environment.not_seen))


def _not_measured(one: NotSeen) -> tuple[str, str]:
    where = f" ({listed(one.servers)})" if one.servers else ""
    text = clauses(part for part in (one.found, one.fix) if part is not None)
    return f"{one.name or _ABSENT}{where}", text


def _sizes(stored: Mapping[str, DataSize]) -> Iterator[tuple[str, str]]:
    """Whole databases, and the largest of their relations."""
    for data, found in stored.items():
        if found.total_bytes is not None:
            yield data, tr("{value} in all", value=size(found.total_bytes))
        if found.reason:
            yield data, found.reason
        for one in found.largest[:_MOST_SIZES]:
            kind = _words_of(one.kind) if one.kind else _ABSENT
            yield f"{one.schema_}.{one.name}", f"{size(one.size_bytes)} ({kind})"


def server_version(environment: EnvironmentFile) -> str:
    """The version, such as `PostgreSQL 18.4`; all of several servers; empty if unknown."""
    if environment.servers:
        versions = (one.version or "" for one in environment.servers.values())
        return " · ".join(dict.fromkeys(versions))
    return environment.server.version or ""


def created_at(environment: EnvironmentFile) -> str:
    """Return when a run began, such as `2026-01-31 14:25:01 UTC`; empty where it is not known."""
    moment = environment.created_at or ""
    return moment.replace("T", " ", 1).replace("+00:00", " UTC")


def _settings(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, setting_text(_text(name, value))) for name, value in sorted(settings.items())
    )


def _flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, inner in value.items():
        if key in _SKIPPED or str(key).endswith(CODED):
            continue
        # "vm.swappiness" under "vm" needs no second "vm".
        name = str(key) if str(key).startswith(before.rstrip(", ") + ".") else f"{before}{key}"
        if isinstance(inner, Mapping):
            yield from _flat(inner, f"{name}, ")
        else:
            unit = "_bytes" if name.endswith("_bytes") and _is_number(inner) else ""
            plain = name.removesuffix(unit)
            # A kernel setting keeps the name that sysctl uses.
            said = _noted(value, str(key))
            yield plain if "." in plain else _words_of(plain), said or _text(name, inner)


def _noted(value: Mapping[str, Any], key: str) -> str:
    """The sentence or list of a key that has notes; empty where it has none."""
    if f"{key}{CODED}" not in value:
        return ""
    said = said_at(value, key)
    return listed(said) if isinstance(said, tuple) else str(said)


def _words_of(keys: str) -> str:
    """Such as `file system, path`; a key that has no message is a name, such as of a disk."""
    return listed(
        tr(key.replace("_", " "), context="key of environment.json") for key in keys.split(", ")
    )


def _text(name: str, value: Any) -> str:
    if value is None or value != value:
        return _ABSENT
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if _is_number(value) and name.endswith("_bytes"):
        return size(float(value))
    if isinstance(value, float):
        return decimals(value)
    if isinstance(value, list | tuple):
        return listed(_text("", inner) for inner in value) or tr("(none)")
    if isinstance(value, Mapping):
        return listed(f"{key} = {text}" for key, text in _flat(value)) or tr("(none)")
    return str(value) or tr("(empty)")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
