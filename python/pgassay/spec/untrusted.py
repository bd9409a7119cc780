"""What an experiment file may not ask for where its author is not trusted.

Enters: the file as TOML (checked already), untrusted.toml. Leaves: nothing, or a SpecError that
names every refused key, a line each. Never: takes a key for harmless that is not listed so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pgassay.refusals.refusal import Refusal, refuse
from pgassay.spec.settings.catalogue import entries_of

OPTION = "--untrusted"


@cache
def rules() -> Mapping[str, Any]:
    """Returns the lists of untrusted.toml: keys that are harmless, paths, settings, and refused
    keys with the reason."""
    return tomllib.loads((files(__package__) / "untrusted.toml").read_text("utf-8"))


def refuse_harmful(table: Mapping[str, Any], file: str) -> None:
    """Raise SpecError where a key may run, reach, change, read or write more than a trial needs."""
    keys = ((".".join(path), _reason(path, value)) for path, value in _keys(table, ()))
    found = {key: reason for key, reason in keys if reason is not None}
    refuse((Refusal("untrusted-key", key, reason=found[key]) for key in found), file)


def harmful_keys(text: str) -> list[tuple[str, Any]]:
    """Returns the keys of an experiment file that `refuse_harmful` refuses, with their values; none
    of a file that cannot be read, which is refused where it is."""
    try:
        keys = _keys(tomllib.loads(text), ())
        return [(".".join(path), value) for path, value in keys if _reason(path, value)]
    except (ValueError, RecursionError):
        return []


def _reason(path: tuple[str, ...], value: Any) -> str | None:
    """Why a key is refused; None for a harmless one."""
    known = rules()
    if any(_fits(path, key) for key in known["harmless"]):
        return None
    if any(_fits(path, key) for key in known["paths"]):  # `texts.text_of` refuses other ones
        named = value if isinstance(value, list) else [value]
        return "it has an absolute path" if any(map(_is_absolute, named)) else None
    if any(_fits(path, key) for key in known["settings"]):
        return None if is_harmless_setting(path[2:]) else "its value may name a program or a file"
    return next(
        (str(why) for key, why in known["refused"].items() if _fits(path, key)),
        "it is not known to be harmless",
    )


def _is_absolute(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(("/", "~")) and not value.startswith("/*")


def is_harmless_setting(name: tuple[str, ...]) -> bool:
    """Returns whether a setting takes a number, a word, a switch or one of the listed texts;
    settings of extensions are unknown."""
    entries = entries_of(name[0]) if len(name) == 1 else []
    is_text = any(one["vartype"] == "string" for one in entries)
    return bool(entries) and (not is_text or name[0] in rules()["harmless_texts"])


def _fits(path: tuple[str, ...], key: str) -> bool:
    """Whether a key of a file is this one, or below it."""
    wanted = tuple(key.split("."))
    return path[: len(wanted)] == wanted


def _keys(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every key with its value, through tables and lists of tables."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _keys(inner, (*path, name))
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        for one in value:
            yield from _keys(one, path)
    else:
        yield path, value
