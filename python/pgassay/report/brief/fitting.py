"""Parts of text, cut to a limit together.

Enters: parts with their lines. Leaves: one text. Never: cuts without saying so, or cuts a part
below what it is promised.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from pgassay.analysis.reading.plain_text import visible
from pgassay.language import language, messages_of
from pgassay.report.inert import unlinked
from pgassay.spec.secrets.redaction import redacted

_SPACES = {"\u202f": None, "\u00a0": " "}
_PLAIN = str.maketrans({**_SPACES, "\u2212": "-", "\u2013": "-", "\u2019": "'"})
"""Typography that means nothing in plain text: thousands stand together. An English text is ASCII,
so its minus is a hyphen."""
_PLAIN_ELSEWHERE = str.maketrans(_SPACES)
_NOTE = 80
"""Bytes that the note on what was left out may take."""


@cache
def texts() -> Mapping[str, Any]:
    """Returns the titles and names that parts.toml has."""
    return messages_of(
        tomllib.loads((files(__package__) / "parts.toml").read_text("utf-8")),
        besides=("name", "key_settings", "hidden_settings", "arm_metrics"),
    )


def fit(head: str, found: Mapping[str, Sequence[str]], limit: int = 0) -> str:
    """The parts that have lines, in their order, each beneath its title; in so many bytes."""
    limit = limit or texts()["limit"]
    parts = [(one, _lines(found[one["name"]])) for one in texts()["part"] if found.get(one["name"])]
    heads = [f"\n\n{one['title']}\n" for one, _ in parts]
    text = _plain(head)
    left = limit - _size(text) - sum(map(_size, heads)) - 1
    least = [min(one["least"], _length(lines)) for one, lines in parts]
    for at, (_, lines) in enumerate(parts):
        own = _cut(lines, left - sum(least[at + 1 :]))
        text += heads[at] + own
        left -= _size(own)
    return text + "\n"


def _lines(given: Sequence[str]) -> list[str]:
    """Single lines without secrets, before anything is cut."""
    text = redacted("\n".join(given))
    return [_plain(line.rstrip()) for line in text.split("\n")]


def _plain(text: str) -> str:
    return unlinked(visible(text)).translate(_PLAIN if language() == "en" else _PLAIN_ELSEWHERE)


def _length(lines: Sequence[str]) -> int:
    return _size("\n".join(lines))


def _size(text: str) -> int:
    return len(text.encode())


def _cut(lines: Sequence[str], room: int) -> str:
    """As many whole lines as there is room for; a single line that is too long is cut."""
    if _length(lines) <= room:
        return "\n".join(lines)
    kept: list[str] = []
    for line in lines:
        if _length([*kept, line]) + 1 + _NOTE > room:
            break
        kept.append(line)
    if not kept:
        cut = str(texts()["cut"])
        begin = lines[0].encode()[: max(0, room - _NOTE - 1 - _size(cut))]
        kept = [begin.decode(errors="ignore") + cut]
    note = str(texts()["left_out"]).format(count=len(lines) - len(kept), of=len(lines))
    return "\n".join([*kept, note] if len(kept) < len(lines) else kept)
