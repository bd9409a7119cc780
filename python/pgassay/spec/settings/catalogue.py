"""Spell and check settings by the catalogues of PostgreSQL versions, before a server is opened.

Enters: setting names and values from a spec, the major version if known.
Leaves: nothing, or a `Refusal` naming the key and the nearest known name.
Never: has the last word; the server checks again when it is opened. Settings of extensions (with
a dot) and versions without a catalogue are checked only there.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BeforeValidator

from pgassay.refusals.refusal import Refusal, UnfitValue
from pgassay.spec.reading.suggest import did_you_mean
from pgassay.spec.reading.units import to_base
from pgassay.spec.secrets.redaction import is_secret

CATALOGUED = (15, 16, 18)
_BELONGS = "it is part of the target; use target.bin or target.dsn"
_REACHED = "the load and the samplers depend on it to connect"
_LOGGED = "pgassay reads checkpoints from the server's log"
CANNOT_VARY = {
    "application_name": "pgassay recognises sessions by it",
    "cluster_name": "pgassay recognises the server by it",
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
"""Settings that no experiment may change, and why."""


@cache
def catalogue(major: int) -> Mapping[str, Mapping[str, Any]]:
    """Returns the settings of one catalogued major version by name, with context, vartype, unit,
    min, max and enum."""
    text = (files(__package__) / f"postgresql_{major}.json").read_text("utf-8")
    loaded: dict[str, Mapping[str, Any]] = json.loads(text)
    return loaded


def entries_of(name: str, major: int | None = None) -> list[Mapping[str, Any]]:
    """Returns what the catalogue of that version says of a setting; of a version without a
    catalogue, what all catalogues say."""
    versions = (major,) if major in CATALOGUED else CATALOGUED
    return [catalogue(version)[name] for version in versions if name in catalogue(version)]


@cache
def _spellings() -> dict[str, str]:
    """Lower case → PostgreSQL's spelling, which differs for DateStyle and a few others."""
    return {name.lower(): name for major in CATALOGUED for name in catalogue(major)}


def _spelled(table: Any) -> Any:
    if not isinstance(table, dict) or not all(isinstance(name, str) for name in table):
        return table
    found: dict[str, Any] = {}
    written: dict[str, str] = {}
    for name, value in table.items():
        before = written.setdefault(name.lower(), name)
        if before != name:
            raise UnfitValue("setting-twice", before=before, name=name)
        found[_spellings().get(name.lower()) or name] = value
    return found


SettingNames = BeforeValidator(_spelled)
"""For a table whose keys are settings; gives them PostgreSQL's spelling, unknown ones stay."""


def names(major: int | None) -> set[str]:
    """Returns the names of the settings of that version; of a version without a catalogue, those of
    all."""
    versions = (major,) if major in CATALOGUED else CATALOGUED
    return {name for version in versions for name in catalogue(version)}


def is_known(name: str, major: int | None) -> bool:
    """Returns whether that version has the setting without an extension; of a version without a
    catalogue, whether any has."""
    return bool(entries_of(name, major))


def takes_restart(name: str) -> bool:
    """Returns whether a change of the setting takes a restart of the server.

    Settings that no catalogue knows belong to extensions, which often need one.
    """
    known = entries_of(name)
    return not known or known[-1]["context"] == "postmaster"


def check_name(key: str | None, name: str, major: int | None) -> None:
    """Raises a `Refusal` where no experiment on that version may set `name`."""
    if name.lower() in CANNOT_VARY:
        raise Refusal("setting-cannot-vary", key, why=CANNOT_VARY[name.lower()])
    if is_secret(name):
        raise Refusal("setting-is-secret", key)
    if "." not in name and not entries_of(name, major):
        _refuse_unknown(key, name, major)


def check_setting(key: str, name: str, value: str, major: int | None) -> None:
    """Raises a `Refusal` where `name = value` cannot be right on that version."""
    check_name(key, name, major)
    if "\n" in value or "\0" in value:
        raise Refusal("value-of-several-lines", key)
    entries = [] if "." in name else entries_of(name, major)
    refusals = [error for entry in entries if (error := _refusal(key, value, entry))]
    if refusals and len(refusals) == len(entries):  # of an unknown version, one suffices
        raise refusals[-1]


def _refuse_unknown(key: str | None, name: str, major: int | None) -> None:
    elsewhere = [other for other in CATALOGUED if name in catalogue(other)]
    if elsewhere:
        near = f"PostgreSQL {elsewhere[-1]} has it"
    else:
        near = did_you_mean(name, names(major))
        if major not in CATALOGUED and major is not None and not near:
            return
    where = f"PostgreSQL {major}" if major in CATALOGUED else "PostgreSQL"
    raise Refusal("setting-unknown", key, where=where, near=near)


def _refusal(key: str, value: str, entry: Mapping[str, Any]) -> Refusal | None:
    """Why one version would not take the value."""
    if entry["context"] == "internal":
        return Refusal("setting-fixed", key)
    least, most, words = entry.get("min"), entry.get("max"), entry.get("enum", ())
    found = misfit(value, entry.get("unit"), entry["vartype"], least, most, words)
    return None if found is None else found.at(key)


def misfit(
    value: str, unit: str | None, vartype: str, least: Any, most: Any, words: Collection[str]
) -> Refusal | None:
    """Returns why a value cannot be one of a setting with this unit, type, range and list of words;
    None where it can."""
    try:
        base = to_base(value, unit, vartype)
    except UnfitValue as error:
        return error.refusal
    if vartype == "enum":
        allowed = {word.lower() for word in words}
        if "on" in allowed:
            allowed |= {"true", "false", "yes", "no", "1", "0"}
        if base not in allowed:
            return Refusal("not-a-word-of-the-setting", value=value, words=", ".join(words))
    elif vartype in ("integer", "real") and not float(least) <= float(base) <= float(most):
        if unit:
            return Refusal(
                "setting-out-of-range-in-unit", value=value, least=least, most=most, unit=unit
            )
        return Refusal("setting-out-of-range", value=value, least=least, most=most)
    return None
