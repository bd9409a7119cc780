"""Names for the levels of a factor that is not a plain setting.

Enters: a list of levels or a table of named ones, as TOML gives it. Leaves: name → level, in the
file's order, the names short, distinct and one line each; or a ValueError. Never: looks at what a
level means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

LONGEST = 60
UNCHANGED = "as it is"
"""The name of an empty text: the script of the workload, the schema as it was built."""
_TOO_FEW = "a factor needs at least two levels"


def named_levels(value: Any, names_of: Callable[[Sequence[Any]], Sequence[str]]) -> dict[str, Any]:
    """Name → level: those of a table as they are, those of a list as `names_of` calls them."""
    if isinstance(value, Mapping):
        levels = dict(value)
    elif isinstance(value, list | tuple):
        levels = _distinct(names_of(value), value)
    else:
        raise ValueError("write a list of levels, or a table of named ones")
    if len(levels) < 2:
        raise ValueError(_TOO_FEW)
    for name in levels:
        if not name.strip() or not name.isprintable() or len(name) > LONGEST:
            raise ValueError(
                f"{name!r} will not do as the name of a level; write 1 to {LONGEST} characters on"
                " one line: levels of a table have the names you give them"
            )
    return levels


def plain_names(values: Sequence[Any]) -> list[str]:
    """Numbers, words and booleans as they are written in the file."""
    return [_word(value) for value in values]


def file_names(values: Sequence[Any]) -> list[str]:
    """Paths by the end that tells them apart, without a closing `bin` or `.sql`; numbers as
    `embedded N`."""
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
            raise ValueError(f"two levels are called {name!r}; name them in a table: NAME = LEVEL")
        found[name] = value
    return found


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
