"""Which PostgreSQL settings there are, checked before any server is touched.

Enters: setting names and values from a spec, the major version if it is known.
Leaves: nothing, or a SpecError naming the key and the nearest right name.
Never: has the last word; the server under test checks again when it is opened. Settings of
extensions (with a dot) and versions without a catalogue here are left to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pgassay.errors import SpecError
from pgassay.spec.redaction import is_secret
from pgassay.spec.suggest import did_you_mean
from pgassay.spec.units import to_base

CATALOGUED = (15, 16, 18)
_BELONGS = "it belongs to the target; use target.bin or target.dsn"
_REACHED = "the load and the samplers connect by it"
_LOGGED = "checkpoints are read from the server's log"
CANNOT_VARY = {
    "application_name": "sessions are told apart by it",
    "cluster_name": "the target is recognised by it",
    "config_file": _BELONGS,
    "data_directory": _BELONGS,
    "external_pid_file": _BELONGS,
    "hba_file": _BELONGS,
    "ident_file": _BELONGS,
    "listen_addresses": _REACHED,
    "log_checkpoints": _LOGGED,
    "log_destination": _LOGGED,
    "log_line_prefix": _LOGGED,
    "logging_collector": _LOGGED,
    "port": _REACHED,
    "unix_socket_directories": _REACHED,
}
"""What no experiment may set, and why."""


@cache
def catalogue(major: int) -> Mapping[str, Mapping[str, Any]]:
    """Settings of one catalogued major version: name → context, vartype, unit, min, max, enum."""
    text = (files("pgassay.spec") / "settings" / f"postgresql_{major}.json").read_text("utf-8")
    loaded: dict[str, Mapping[str, Any]] = json.loads(text)
    return loaded


def is_known(name: str, major: int | None) -> bool:
    """Whether that version has the setting by itself; any version, where it has no catalogue."""
    versions = (major,) if major in CATALOGUED else CATALOGUED
    return any(name in catalogue(version) for version in versions)


def check_setting(key: str, name: str, value: str, major: int | None) -> None:
    """Raise SpecError (without a file) where `name = value` cannot be right on that version."""
    if name.lower() in CANNOT_VARY:
        raise SpecError(f"cannot be set here: {CANNOT_VARY[name.lower()]}", key=key)
    if is_secret(name):
        raise SpecError("its value is a secret, which would be stored with the run", key=key)
    if "\n" in value or "\0" in value:
        raise SpecError("a value is one line of text", key=key)
    if "." in name:
        return
    versions = (major,) if major is not None and major in CATALOGUED else CATALOGUED
    known = {version: catalogue(version) for version in versions}
    entries = [entries[name] for entries in known.values() if name in entries]
    if not entries:
        _refuse_unknown(key, name, major, known)
        return
    refusals = [error for entry in entries if (error := _refusal(key, name, value, entry))]
    if len(refusals) == len(entries):  # with the version unknown, one that takes it is enough
        raise refusals[-1]


def _refuse_unknown(
    key: str,
    name: str,
    major: int | None,
    known: Mapping[int, Mapping[str, Mapping[str, Any]]],
) -> None:
    names = {name for entries in known.values() for name in entries}
    elsewhere = [other for other in CATALOGUED if name in catalogue(other)]
    if elsewhere:
        fix = f"; PostgreSQL {elsewhere[-1]} has it"
    else:
        fix = did_you_mean(name, names)
        if major not in CATALOGUED and major is not None and not fix:
            return
    where = f"PostgreSQL {major}" if major in CATALOGUED else "PostgreSQL"
    raise SpecError(f"unknown setting of {where}{fix}", key=key)


def _refusal(key: str, name: str, value: str, entry: Mapping[str, Any]) -> SpecError | None:
    """Why one version would not take the value."""
    if entry["context"] == "internal":
        return SpecError("this setting is fixed when PostgreSQL is built or initialised", key=key)
    try:
        base = to_base(value, entry.get("unit"), entry["vartype"])
    except ValueError as error:
        return SpecError(str(error), key=key)
    if entry["vartype"] == "enum":
        allowed = [word.lower() for word in entry["enum"]]
        if "on" in allowed:
            allowed += ["true", "false", "yes", "no", "1", "0"]
        if base not in allowed:
            words = ", ".join(entry["enum"])
            return SpecError(f"{value!r} is not a value of {name}; known are {words}", key=key)
    if entry["vartype"] in ("integer", "real") and not (
        float(entry["min"]) <= float(base) <= float(entry["max"])
    ):
        unit = f" (in {entry['unit']})" if "unit" in entry else ""
        return SpecError(
            f"{value} is outside {entry['min']} to {entry['max']}{unit}, the range of {name}",
            key=key,
        )
    return None
