"""Names for the levels of factors whose values are files, numbers or SQL.

Enters: a list of levels or a table of named levels, as TOML gives it. Leaves: name → level, in the
file's order, with short and distinct names on one line each; or a ValueError. Never: interprets a
level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pgassay.refusals.refusal import UnfitValue

LONGEST = 60
UNCHANGED = "as it is"
"""The name of the level "": the workload's own script, or the schema as built."""


def named_levels(value: Any, names_of: Callable[[Sequence[Any]], Sequence[str]]) -> dict[str, Any]:
    """Returns the levels of a factor by name: the names of a table, or those that `names_of` makes
    for a list."""
    if isinstance(value, Mapping):
        levels = dict(value)
    elif isinstance(value, list | tuple):
        levels = _distinct(names_of(value), value)
    else:
        raise UnfitValue("levels-not-a-list-or-table")
    if len(levels) < 2:
        raise UnfitValue("too-few-levels")
    for name in levels:
        if not name.strip() or not name.isprintable() or len(name) > LONGEST:
            raise UnfitValue("level-without-name", name=name, most=LONGEST)
    return levels


def plain_names(values: Sequence[Any]) -> list[str]:
    """Names levels that are numbers, words or booleans by their text in the file."""
    return [_word(value) for value in values]


def file_names(values: Sequence[Any]) -> list[str]:
    """Names paths by the shortest ending that differs, without `/bin` or `.sql`; a version N is
    named `embedded N`."""
    paths = [_parts(value) for value in values]
    return [_ending(own, [other for other in paths if other != own]) for own in paths]


def _parts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, str):
        return (f"embedded {_word(value)}",)
    if not value.strip():
        return (UNCHANGED,)
    parts = PurePosixPath(value.strip().removesuffix(".sql")).parts
    return parts[:-1] if len(parts) > 1 and parts[-1] == "bin" else parts


def _ending(own: tuple[str, ...], others: Sequence[tuple[str, ...]]) -> str:
    for length in range(1, len(own) + 1):
        end = own[-length:]
        if all(other[-length:] != end for other in others):
            return "/".join(end)
    return "/".join(own)


def _distinct(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in zip(names, values, strict=True):
        if name in found:
            raise UnfitValue("levels-called-alike", name=name)
        found[name] = value
    return found


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
