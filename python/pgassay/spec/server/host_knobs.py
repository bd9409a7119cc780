"""Check knobs of the host before any host is read.

Enters: knob names and values of `[factors.host]` and `[settings.host]`.
Leaves: nothing, or a `Refusal` naming the key and the fix.
Never: has the last word; the host under test checks again before the first trial.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BeforeValidator

from pgassay.refusals.refusal import Refusal
from pgassay.spec.reading.suggest import did_you_mean
from pgassay.spec.settings.catalogue import is_known

BLOCK, HUGE = "block.", "transparent_hugepage."
_READ_AT_START = ("vm.nr_hugepages", "vm.nr_overcommit_hugepages", "kernel.shm", "kernel.sem")
"""Beginnings of the names of knobs that a server uses only from its next start on."""
_SYSCTL = re.compile(r"(vm|kernel|net)(\.[A-Za-z0-9_-]+)+")
_NUMBER = re.compile(r"-?\d+")


@cache
def _catalogue() -> Mapping[str, Mapping[str, Any]]:
    text = (files(__package__) / "host_knobs.toml").read_text("utf-8")
    return tomllib.loads(text)


def _flattened(table: Any) -> Any:
    """Join nested tables: to TOML, `vm.swappiness = 1` without quotes is a table in a table."""
    if not isinstance(table, dict):
        return table
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": v for inner, v in _flattened(value).items()}
        else:
            flat[name] = value
    return flat


DottedNames = BeforeValidator(_flattened)
"""For a table whose keys contain dots, quoted or not."""


def place_of_setting(name: str) -> str | None:
    """Returns the table, `postgres` or `host`, that has settings or knobs whose name is or begins
    with this word; None where it is neither."""
    if is_known(name.lower(), None):
        return "postgres"
    prefix = f"{name}."
    return "host" if prefix in (BLOCK, HUGE) or _SYSCTL.fullmatch(f"{prefix}x") else None


def partner_of(name: str) -> str | None:
    """Returns the knob that the kernel sets to 0 when this one is written; None without one."""
    pairs: Mapping[str, str] = _catalogue()["excludes"]
    return pairs.get(name) or next((b for b, ratio in pairs.items() if ratio == name), None)


def normal(value: str) -> str:
    """Returns a knob's value in the spelling in which values are compared."""
    return " ".join(str(int(w)) if _NUMBER.fullmatch(w) else w for w in value.split())


def is_read_at_start(name: str) -> bool:
    """Whether a server uses a new value only from its next start on."""
    return name.startswith(_READ_AT_START)


def acts_after_restart(name: str) -> bool:
    """Whether a new value shows in full only after a restart of the server.

    Huge pages are among these: memory that the server has already mapped stays as it is.
    """
    return name.startswith(HUGE) or is_read_at_start(name)


def check_knob(key: str, name: str, value: str) -> None:
    """Raise a `Refusal` if `name = value` is wrong on every host."""
    check_name(key, name)
    if not value.strip() or not value.isprintable():
        raise Refusal("value-of-several-lines", key)
    facts = _facts(name)
    words = facts.get("words")
    if words and value not in words:
        raise Refusal("knob-not-a-word", key, value=value, name=name, words=", ".join(words))
    least, most = facts.get("min"), facts.get("max")
    if least is None:
        return
    if not _NUMBER.fullmatch(value.strip()):
        raise Refusal("knob-not-a-number", key, value=value, name=name)
    if int(value) < least or (most is not None and int(value) > most):
        allowed = f"{least} or more" if most is None else f"{least} to {most}"
        raise Refusal("knob-out-of-range", key, value=value, name=name, allowed=allowed)


def check_name(key: str, name: str) -> None:
    """Raise a `Refusal` if no experiment may write a knob of that name."""
    found = _catalogue()
    for pattern, reason in found["refused"].items():
        if re.fullmatch(pattern, name):
            raise Refusal("knob-refused", key, why=reason)
    for prefix, table in ((BLOCK, "block"), (HUGE, "huge")):
        if name.startswith(prefix) or name == prefix.rstrip("."):
            names = [prefix + one for one in found[table]]
            if name not in names:
                bare = f"known are {', '.join(names)}"
                near = bare if name == prefix.rstrip(".") else did_you_mean(name, names)
                raise Refusal("knob-unknown", key, near=near)
            return
    if not _SYSCTL.fullmatch(name):
        every = [*found["known"], *(BLOCK + n for n in found["block"])]
        if near := did_you_mean(name, every):
            raise Refusal("knob-unknown", key, near=near)
        raise Refusal("knob-unknown-prefix", key, block=BLOCK, huge=HUGE)


def _facts(name: str) -> Mapping[str, Any]:
    found = _catalogue()
    table, short = "known", name
    for prefix, other in ((BLOCK, "block"), (HUGE, "huge")):
        if name.startswith(prefix):
            table, short = other, name.removeprefix(prefix)
    facts: Mapping[str, Any] = found[table].get(short, {})
    return facts
