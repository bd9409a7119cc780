"""The text of postgresql.auto.conf, read and edited where the server is down.

Enters: the file's text, wanted values by name. Leaves: a value in it, or its new text, in the form
ALTER SYSTEM writes. Never: reads or writes the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

NAME = "postgresql.auto.conf"
_LINE = re.compile(
    r"^\s*(?P<name>[A-Za-z_][\w$.]*)(?:\s*=\s*|\s+)"
    r"(?:'(?P<quoted>(?:[^'\\]|''|\\.)*)'|(?P<plain>[^'#\s]\S*))\s*(?:#.*)?$"
)
_ESCAPED = re.compile(r"''|\\(.)")


def quoted(value: str) -> str:
    """Returns a value as a configuration file takes it."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def value_in(text: str, name: str) -> str | None:
    """Returns the value of a setting in the file, where the last line counts; None without one."""
    found = None
    for line in text.splitlines():
        match = _LINE.match(line)
        if match and match["name"].lower() == name.lower():
            found = match["plain"] if match["quoted"] is None else _unescaped(match["quoted"])
    return found


def with_values(text: str, wanted: Mapping[str, str | None]) -> str:
    """Returns the file with these values; None removes the line. Lines with the right value stay.
    Lines with the right value stay."""
    changed = {
        name.lower(): (name, value)
        for name, value in wanted.items()
        if value_in(text, name) != value
    }
    kept = []
    for line in text.splitlines(keepends=True):
        match = _LINE.match(line)
        if not (match and match["name"].lower() in changed):
            kept.append(line)
    added = [f"{name} = {quoted(value)}\n" for name, value in changed.values() if value is not None]
    if added and kept and not kept[-1].endswith("\n"):
        kept.append("\n")
    return "".join([*kept, *added])


def _unescaped(value: str) -> str:
    return _ESCAPED.sub(lambda match: "'" if match[1] is None else match[1], value)
