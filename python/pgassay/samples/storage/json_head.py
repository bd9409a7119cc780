"""Single values of a large JSON file, of which only the beginning is read where that is enough.

Enters: the path of a file that holds one object. Leaves: values by key. Never: checks the rest of
the file where the keys are at its beginning.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pgassay.json_text import decoded, first_decoded

HEAD_BYTES = 8192
_BLANK = " \t\r\n"


def values_of(path: Path, *names: str) -> dict[str, Any]:
    """Returns those of the keys that the object has; ValueError where the file holds no object."""
    found = first_values_of(path, *names)
    if len(found) < len(names):
        whole = object_in(path)
        found = {name: whole[name] for name in names if name in whole}
    return found


def first_values_of(path: Path, *names: str) -> dict[str, Any]:
    """Returns those of the keys whose values are whole in the first kilobytes of the file."""
    with path.open("rb", buffering=0) as file:
        # A character may be cut in two where they end.
        head = codecs.getincrementaldecoder("utf-8")().decode(file.read(HEAD_BYTES))
    found: dict[str, Any] = {}
    for key, value in _first_pairs(head):
        if key in names:
            found[key] = value
            if len(found) == len(names):  # what follows need not be decoded
                break
    return found


def object_in(path: Path) -> dict[str, Any]:
    """Reads the whole object."""
    found = decoded(path.read_bytes())
    if not isinstance(found, dict):
        raise ValueError(f"{path}: not a JSON object")
    return found


def _first_pairs(text: str) -> Iterator[tuple[str, Any]]:
    """Keys and values of the outermost object, as far as they are whole in the text."""
    at = _after(text, 0, "{")
    while at is not None:
        try:
            key, at = first_decoded(text, at)
            colon = _after(text, at, ":")
            if colon is None:
                return
            value, at = first_decoded(text, colon)
        except ValueError:
            return
        comma = _after(text, at, ",")
        if comma is None:  # a number may go on behind the end of the text
            return
        yield key, value
        at = comma


def _after(text: str, at: int, mark: str) -> int | None:
    """The place of what follows a mark; None where the mark does not come next."""
    at = _skipped(text, at)
    return _skipped(text, at + 1) if text[at : at + 1] == mark else None


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at
