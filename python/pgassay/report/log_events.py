"""The words for events in the server's log.

Enters: kinds of events. Leaves: those that are listed, with their words, in listed order.
Never: counts anything.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

from pgassay.language import messages_of


def event_words(kinds: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(kind, its words) of those that are listed, in the order of the list."""
    ranked = sorted(kinds)
    for listed, words in _listed().items():
        for kind in ranked:
            if kind == listed or (listed.endswith(" ") and kind.startswith(listed)):
                yield kind, words.format(kind.removeprefix(listed))


@cache
def _listed() -> dict[str, str]:
    """Kind of event → what it is called; {} stands for its cause or SQLSTATE."""
    words: dict[str, str] = messages_of(
        tomllib.loads((files(__package__) / "log_events.toml").read_text("utf-8"))
    )
    return words
