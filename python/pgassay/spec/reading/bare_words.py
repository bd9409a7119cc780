"""Find texts without quotes, or with one alone, in a TOML file, the most frequent mistake in one.

Enters: text that tomllib cannot read. Leaves: the line and the words without quotes, if quotes make
the text one that tomllib can read. Never: changes a file.
"""

from __future__ import annotations

import re
import tomllib

_KEY = re.compile(r"[\w.\"'-]+")
_MOST = 100_000
"""Characters of a text beyond which nothing is looked for."""


def without_quotes(text: str) -> tuple[int, str] | None:
    """Returns the number of the first line whose value lacks quotes, and the first such word of it;
    None where quotes alone do not mend the text."""
    if len(text) > _MOST:
        return None
    lines = text.splitlines()
    found: list[tuple[int, str]] = []
    for place, line in enumerate(lines):
        key, _, rest = line.partition("=")
        value = rest.partition("#")[0].strip()
        is_list = value.startswith("[") and value.endswith("]")
        inner = value[1:-1] if is_list else value
        if not _KEY.fullmatch(key.strip()) or any(mark in inner for mark in "{}[]="):
            continue
        words = inner.split(",") if is_list else [inner]
        bare = [word.strip() for word in words if word.strip() and not _is_value(word)]
        if bare:
            found.append((place + 1, bare[0]))
            quoted = ", ".join(w if _is_value(w) else _quoted(w) for w in words)
            lines[place] = f"{key}= [{quoted}]" if is_list else f"{key}= {quoted}"
    try:
        tomllib.loads("\n".join(lines))
    except (ValueError, RecursionError):
        return None
    return found[0] if found else None


def _quoted(word: str) -> str:
    return "'" + word.strip().strip("\"'") + "'"


def _is_value(word: str) -> bool:
    try:
        tomllib.loads(f"x = {word}")
    except ValueError:
        return False
    return True
