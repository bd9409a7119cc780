"""Find texts without quotes, or with one alone, in a TOML file, the most frequent mistake in one.

Enters: text that tomllib cannot read. Leaves: the line and the words without quotes, if quotes make
the text one that tomllib can read. Never: changes a file.
"""

from __future__ import annotations

import re
import tomllib

_PAIR = re.compile(r"(\s*[\w.\"'-]+\s*=\s*)(\[?)([^#{}\[\]=]*?)(\]?\s*(?:#.*)?)")
_MOST_LINES = 2000


def without_quotes(text: str) -> tuple[int, str] | None:
    """Returns the number of the first line whose value lacks quotes, and the first such word of it;
    None where quotes alone do not mend the text."""
    lines = text.splitlines()
    found: list[tuple[int, str]] = []
    if len(lines) > _MOST_LINES:
        return None
    for place, line in enumerate(lines):
        pair = _PAIR.fullmatch(line)
        if pair is None or bool(pair[2]) != pair[4].startswith("]"):
            continue
        words = pair[3].split(",") if pair[2] else [pair[3]]
        bare = [word.strip() for word in words if word.strip() and not _is_value(word)]
        if bare:
            found.append((place + 1, bare[0]))
            quoted = ", ".join(w if _is_value(w) else _quoted(w) for w in words)
            lines[place] = f"{pair[1]}{pair[2]}{quoted}{pair[4]}"
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
