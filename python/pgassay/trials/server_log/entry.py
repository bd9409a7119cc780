"""One entry of a server's log, whatever form it was written in; whole lines out of pieces.

Enters: bytes as they are read, words of a log. Leaves: lines, texts out of bytes, `Entry` values
with severities in English. Never: keeps the details, context or statement of an entry: those hold
data.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Protocol

_FOLDER = "pgassay.trials.server_log"
_VERBOSE = re.compile(r"(?=(?:\d*\D?){0,2}\d)([0-9A-Z]{2}[0-9A-Z]{3}): ")


@dataclass(frozen=True, slots=True)
class Entry:
    """What one ereport of the server wrote."""

    time_ns: int | None
    """Unix time by the server's clock; None where the log has none."""
    pid: int | None
    severity: str
    """In English: LOG, ERROR and so on."""
    sqlstate: str | None
    message: str
    """Its lines. They may hold data of users: never store them unless a pattern rules that out."""
    database: str | None
    backend_type: str | None
    of_session: bool
    """Written by a process that serves a session, so perhaps in a user's words."""


class Form(Protocol):
    """Reads one form of log, piece by piece."""

    unread: int
    """Lines so far that made no sense."""

    def feed(self, data: bytes) -> Iterator[Entry]:
        """The entries that are complete with these further bytes."""

    def finish(self) -> Iterator[Entry]:
        """The file has ended: what was held back. Another file may follow."""


@dataclass(frozen=True)
class Words:
    """words.toml, made ready."""

    severities: Mapping[str, str]
    """As written → English."""
    further: Sequence[str]
    codecs: Sequence[str]
    foreign: re.Pattern[str]
    """Any word that is not plain ASCII."""
    languages: Sequence[str]


@cache
def words() -> Words:
    """The words that ship."""
    table = tomllib.loads((files(_FOLDER) / "words.toml").read_text("utf-8"))
    severities = {word: name for name, all_ in table["severity"].items() for word in all_}
    further = tuple(table["further"]["words"])
    foreign = [word for word in (*severities, *further) if not word.isascii()]
    return Words(
        severities=severities,
        further=further,
        codecs=tuple(table["encodings"]["codecs"]),
        foreign=re.compile("|".join(foreign)),
        languages=tuple(table["languages"]["known"]),
    )


def knows_language(lc_messages: str) -> bool:
    """Whether messages under this locale are read; empty is the server's surroundings' choice."""
    return not lc_messages or lc_messages.split(".")[0].split("_")[0] in words().languages


def decoded(line: bytes) -> str:
    """Text of a line: UTF-8, else an encoding that makes sense of it, else with marks."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        pass
    for codec in words().codecs:
        text = line.decode(codec, errors="replace")
        if words().foreign.search(text):
            return text
    return line.decode("utf-8", errors="replace")


def severity_of(word: str) -> str | None:
    """The English name of a severity; None where it is none that is known."""
    return words().severities.get(word)


def without_sqlstate(message: str) -> tuple[str | None, str]:
    """log_error_verbosity = verbose puts the SQLSTATE before the message."""
    match = _VERBOSE.match(message)
    return (match[1], message[match.end() :]) if match else (None, message)


LONGEST_LINE = 1 << 20


class LineBuffer:
    """Cuts pieces into lines; a line without its end waits for the next piece."""

    def __init__(self) -> None:
        self._rest = b""
        self._passing_over = False
        self.too_long = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that end in these bytes."""
        *whole, rest = (self._rest + data).split(b"\n")
        for line in whole:
            if self._passing_over:
                self._passing_over = False
            else:
                yield line.removesuffix(b"\r")
        self._rest = rest
        if len(rest) > LONGEST_LINE:
            self._rest = b""
            self.too_long += not self._passing_over
            self._passing_over = True

    def finish(self) -> bytes:
        """What the file ends with, after its last line end."""
        rest, self._rest, self._passing_over = self._rest, b"", False
        return rest
