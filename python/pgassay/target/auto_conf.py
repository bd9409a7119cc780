"""postgresql.auto.conf as text, for when its server is down and ALTER SYSTEM cannot be had.

Enters: the file's text, wanted values by name. Leaves: what it says, or its new text, in the form
ALTER SYSTEM writes. Never: reads or writes the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pgassay.target.cluster import quoted

NAME = "postgresql.auto.conf"
_LINE = re.compile(
    r"^\s*(?P<name>[A-Za-z_][\w$.]*)(?:\s*=\s*|\s+)"
    r"(?:'(?P<quoted>(?:[^'\\]|''|\\.)*)'|(?P<plain>[^'#\s]\S*))\s*(?:#.*)?$"
)
_ESCAPED = re.compile(r"''|\\(.)")


def value_in(text: str, name: str) -> str | None:
    """What the file says of a setting: the last line counts."""
    found = None
    for line in text.splitlines():
        match = _LINE.match(line)
        if match and match["name"].lower() == name.lower():
            found = match["plain"] if match["quoted"] is None else _unescaped(match["quoted"])
    return found


def with_values(text: str, wanted: Mapping[str, str | None]) -> str:
    """The file with these values; None is without a line. What says so already stays as it is."""
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
