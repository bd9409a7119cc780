"""Recognises messages of the server by their words.

Enters: entries. Leaves: for each that is known, its kind, its object and its figures.
Never: keeps a text that a user can put data into; the patterns are in messages.toml.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from pgassay.trials.server_log.entry import Entry

_PLACE = re.compile(r"\{(\w*)(?::(\w))?\}")
_CLASSES = {"n": r"\d+", "d": r"\d+(?:[.,]\d+)?", "w": r"\w+", "q": r".+?", "c": r"[a-z -]*"}
_LSN = r"[0-9A-F]+/[0-9A-F]+"
_WORDS_KEPT = 200
_MOST_DIGITS = 18
"""Of a figure: more fit no 64 bits, and no server writes them."""


class HostileFigure(ValueError):
    """Raised for a figure in a log that no server writes."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """The kind, object and figures of one entry of a log."""

    kind: str
    object: str = ""
    """The table, the lock's mode, a checkpoint's causes; for a crash or a PANIC, its message."""
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Message:
    kind: str
    by_server: bool
    keeps_words: bool
    figures: tuple[tuple[str, re.Pattern[str]], ...]


def recognise(entry: Entry) -> Recognised | None:
    """Returns what an entry of severity LOG is about; None where no trial needs it.

    Raises HostileFigure."""
    if entry.severity != "LOG":
        return None
    first = entry.message.split(None, 1)[0] if entry.message.strip() else ""
    by_word, anything = _heads()
    for head, message in (*by_word.get(first, ()), *anything):
        match = head.match(entry.message)
        if match is None:
            continue
        if message.by_server and entry.of_session:
            return None
        found = match.groupdict()
        object_ = found.pop("object", None) or ""
        if message.keeps_words:
            object_ = first_words(entry.message)
        numbers = {name: _number(text) for name, text in found.items() if text and name != "path"}
        for name, pattern in message.figures:
            figure = pattern.search(entry.message)
            if figure is not None and figure.lastindex:
                numbers[name] = _number(figure[figure.lastindex])
        return Recognised(message.kind, object_, numbers)
    return None


def first_words(message: str) -> str:
    """Returns the first line of a message, cut if it is long."""
    return next(iter(message.splitlines()), "")[:_WORDS_KEPT]


@cache
def frequent_kinds() -> frozenset[str]:
    """Returns the kinds of events that a busy server may write thousands of in a second."""
    return frozenset(message["kind"] for message in _table() if message.get("often"))


@cache
def server_kinds() -> frozenset[str]:
    """Returns the kinds of events that only the server's own processes write."""
    return frozenset(message["kind"] for message in _table() if message.get("by") == "server")


@cache
def _table() -> list[dict[str, Any]]:
    text = (files("pgassay.trials.server_log") / "messages.toml").read_text("utf-8")
    table: list[dict[str, Any]] = tomllib.loads(text)["message"]
    return table


_Heads = list[tuple[re.Pattern[str], _Message]]


@cache
def _heads() -> tuple[Mapping[str, _Heads], _Heads]:
    """First word of a message → patterns that begin with it; patterns that begin otherwise."""
    figures = {message["kind"]: message.get("figures", {}) for message in _table()}
    by_word: dict[str, _Heads] = {}
    anything: _Heads = []
    for message in _table():
        own = figures[message.get("figures_of", message["kind"])]
        made = _Message(
            kind=message["kind"],
            by_server=message.get("by") == "server",
            keeps_words=message.get("keep_words", False),
            figures=tuple((name, _figure(texts)) for name, texts in own.items()),
        )
        for head in message["heads"]:
            word = head.split(None, 1)[0].removesuffix("$")
            pattern = (re.compile(_pattern(head), re.ASCII), made)
            if "{" in word:
                anything.append(pattern)
            else:
                by_word.setdefault(word, []).append(pattern)
    return by_word, anything


def _figure(texts: list[str]) -> re.Pattern[str]:
    # Tried at the first digit of a number only: at each it would cost the square of their count.
    return re.compile("|".join(rf"(?<!\d){_pattern(text)}" for text in texts), re.ASCII)


def _pattern(text: str) -> str:
    """A text of messages.toml as a pattern; a captured figure is its last group."""
    pattern, position = "", 0
    for match in _PLACE.finditer(text):
        pattern += _literal(text[position : match.start()])
        position = match.end()
        name, kind = match[1], match[2]
        if kind:
            pattern += f"(?P<{name}>{_CLASSES[kind]})"
        elif name in _CLASSES:
            pattern += f"({_CLASSES[name]})"
        elif name == "lsn":
            pattern += f"({_LSN})"
        elif name == "_":
            pattern += r"\d+(?:\.\d+)?"
        else:
            pattern += r"[^\n]{1,300}?"
    rest = text[position:]
    return pattern + (_literal(rest[:-1]) + r"\Z" if rest.endswith("$") else _literal(rest))


def _literal(text: str) -> str:
    return re.escape(text).replace(r"\ ", r"\s+")


def _number(text: str) -> float:
    """A figure; a WAL position is its bytes since the beginning."""
    if max(map(len, re.split("[/.,]", text))) > _MOST_DIGITS:
        raise HostileFigure(f"a figure of {len(text)} characters")
    if "/" in text:
        high, _, low = text.partition("/")
        return float((int(high, 16) << 32) | int(low, 16))
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return float("nan")
