"""One entry of a server's log, its time, and what all forms of logs have in common.

Enters: bytes as they are read, words of a log, what a zone's abbreviations mean. Leaves: lines,
texts out of bytes, nanoseconds of Unix time, `Entry` values with severities in English.
Never: keeps the details, context or statement of an entry, which hold data, or guesses a zone: a
time with an unknown one is none.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

_FOLDER = "pgassay.trials.server_log"
_VERBOSE = re.compile(r"(?=(?:\d*\D?){0,2}\d)([0-9A-Z]{2}[0-9A-Z]{3}): ")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a log, as one ereport of the server wrote it."""

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
    application: str | None = None
    """The session's application_name, where the log's form or prefix (%a) has it."""


@dataclass(frozen=True)
class Words:
    """The words of words.toml, prepared for reading logs."""

    severities: Mapping[str, str]
    """As written → English."""
    further: Sequence[str]
    codecs: Sequence[str]
    foreign: re.Pattern[str]
    """Any word that is not plain ASCII."""
    columns: Sequence[str]
    """How a column is described in the languages that are known."""


@cache
def words() -> Words:
    """Returns the words of words.toml."""
    table = tomllib.loads((files(_FOLDER) / "words.toml").read_text("utf-8"))
    severities = {word: name for name, all_ in table["severity"].items() for word in all_}
    further = tuple(table["further"]["words"])
    foreign = [word for word in (*severities, *further) if not word.isascii()]
    return Words(
        severities=severities,
        further=further,
        codecs=tuple(table["encodings"]["codecs"]),
        foreign=re.compile("|".join(foreign)),
        columns=tuple(table["languages"]["column"]),
    )


def knows_language(log: Mapping[str, Any]) -> bool:
    """Whether messages of the server's own processes are read, by the row of log/where.sql."""
    column = bytes.fromhex(log["described_column"] or "").decode("utf-8", errors="replace")
    return not log["own_language"] and column.startswith(tuple(words().columns))


def decoded(line: bytes) -> str:
    """Decodes the text of a line: UTF-8, else an encoding that makes sense of it, else with
    marks."""
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
    """Returns the English name of a severity; None where it is none that is known."""
    return words().severities.get(word)


def is_pid(text: str) -> bool:
    """Whether a text can be the number of a process."""
    return text.isdecimal() and text.isascii() and len(text) <= 10


def without_sqlstate(message: str) -> tuple[str | None, str]:
    """Returns a message without the SQLSTATE that log_error_verbosity = verbose puts before it."""
    match = _VERBOSE.match(message)
    return (match[1], message[match.end() :]) if match else (None, message)


LONGEST_LINE = 1 << 20


class Form:
    """Reads one form of log, piece by piece; a line without its end waits for the next piece."""

    def __init__(self) -> None:
        self.unread = 0
        """Lines so far that made no sense."""
        self._rest = b""
        self._in_long_line = False

    def feed(self, data: bytes) -> Iterator[Entry]:
        """Reads further bytes; yields the entries that are complete with them."""
        *whole, rest = (self._rest + data).split(b"\n")
        for line in whole:
            if self._in_long_line:
                self._in_long_line = False
            else:
                yield from self._line(line.removesuffix(b"\r"))
        if len(rest) > LONGEST_LINE:
            self.unread += not self._in_long_line
            rest, self._in_long_line = b"", True
        self._rest = rest

    def finish(self) -> Iterator[Entry]:
        """Yields the entries that were held back, at the end of a file. Another file may follow."""
        # A line that is cut off is not read: half a number is another number.
        self.unread += bool(self._rest)
        self._rest, self._in_long_line = b"", False
        yield from self._complete()

    def _line(self, line: bytes) -> Iterator[Entry]:
        """The entries that are complete with this line."""
        raise NotImplementedError

    def _complete(self) -> Iterator[Entry]:
        """The entries that are held back for their next line."""
        return iter(())


_STAMP = re.compile(
    r"(\d{4,5})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?: (\S+))?", re.ASCII
)
_NUMERIC = re.compile(r"([+-])(\d\d):?(\d\d)?(?::?(\d\d))?", re.ASCII)
_ALWAYS = {"UTC": 0, "GMT": 0, "Z": 0, "UCT": 0}


class LogClock:
    """Reads the time stamps of one log.

    `abbreviations` are those of log_timezone in the course of a year, each with its seconds east
    of Greenwich, as the server itself reports them.
    """

    def __init__(self, abbreviations: Mapping[str, int] | None = None) -> None:
        self._known = {**_ALWAYS, **{n.upper(): s for n, s in (abbreviations or {}).items()}}
        self._second = lru_cache(maxsize=64)(self._whole_second)

    def stamp_ns(self, text: str) -> int | None:
        """Returns a time with its zone as nanoseconds of Unix time; None where either is
        unknown."""
        match = _STAMP.fullmatch(text.strip())
        if match is None:
            return None
        whole = self._second(match[0][: match.end(6)], match[8] or "")
        if whole is None:
            return None
        return whole * 10**9 + int((match[7] or "0").ljust(9, "0"))

    def _whole_second(self, text: str, zone: str) -> int | None:
        east = self._known.get(zone.upper())
        if east is None:
            east = _numeric(zone)
        if east is None:
            return None
        try:
            moment = datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
        except ValueError:
            return None
        return int(moment.timestamp()) - east


def epoch_ns(text: str) -> int:
    """Returns `%n` of log_line_prefix as nanoseconds of Unix time: seconds with milliseconds."""
    seconds, _, rest = text.partition(".")
    return int(seconds) * 10**9 + int(rest.ljust(9, "0")[:9])


def _numeric(zone: str) -> int | None:
    """Zones without a name are written as their offset: +04, -0330."""
    match = _NUMERIC.fullmatch(zone)
    if match is None:
        return None
    seconds = int(match[2]) * 3600 + int(match[3] or 0) * 60 + int(match[4] or 0)
    return seconds if match[1] == "+" else -seconds
