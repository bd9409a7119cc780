"""What log_line_prefix puts before a message, read in linear time whatever a session writes there.

Enters: the setting; lines. Leaves: the fields that are of use, the severity and the message. Never:
goes back on a choice: names of users and applications are any text, and trying each way to divide
it would cost the product of their lengths.

A prefix is a row of anchors (literals, numbers, times) with texts between them. Each anchor is
looked for from the end of the one before, and its first place is taken. That finds a reading
wherever there is one: what is skipped only lengthens the next text. Fields that nothing separates
are one text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

from pgassay.trials.server_log.entry import words

# Source: log_status_format in src/backend/utils/error/elog.c of PostgreSQL 13 to 18.
_TEXTS = {"a": 63, "b": 95, "d": 63, "h": 1025, "i": 255, "L": 1025, "r": 1025, "u": 63}
"""Any text, empty without a session: the longest."""
_NAMES = {"a": "application", "b": "backend_type", "d": "database", "u": "user"}
# Source: pgstat_get_backend_desc and GetBackendTypeDesc of PostgreSQL 13 to 18: those with a blank.
_TYPES_OF_WORDS = re.compile(
    " *(?:client backend|parallel worker|autovacuum (?:launcher|worker)"
    "|background (?:writer|worker)|standalone backend|dead-end (?:client )?backend"
    "|logical replication [a-z]+(?: worker)?|slotsync worker|io worker)"
)
_OF_SESSIONS = frozenset("adhLru")
_RUNS = {
    "c": (r"[0-9a-f.]", 3, 25),
    "e": (r"[0-9A-Z]", 5, 5),
    "l": (r"\d", 1, 20),
    "p": (r"\d", 1, 10),
    "P": (r"\d", 0, 10),
    "Q": (r"[-\d]", 1, 20),
    "v": (r"[-\d/]", 0, 32),
    "x": (r"\d", 1, 20),
}
"""Characters of a class: the least and the most."""
_DATE = r"\d{4,5}-\d\d-\d\d \d\d:\d\d:\d\d"
_IN_ZONE = r"[\w+-]"
_ZONE = f" {_IN_ZONE}{{1,40}}"
_TIMES = {
    "m": _DATE + r"\.\d{3}" + _ZONE,
    "n": r"\d{1,10}\.\d{3}",
    "s": _DATE + _ZONE,
    "t": _DATE + _ZONE,
}
_KEPT = {"m": "stamp", "t": "stamp", "n": "epoch", "p": "pid", "e": "sqlstate"}
_ESCAPE = re.compile(r"%(-?\d*)(.)", re.DOTALL)
_WIDEST = 1000
_LONGEST_ANCHOR = 64
"""More than any field but a text has."""

Fields = Mapping[str, str | None]
_Anchor = tuple[str, Callable[[str, int, int], re.Match[str] | None], tuple[str, ...]]
"""The name of the text before it, how it is found, its groups."""


@dataclass(frozen=True)
class _Token:
    """A literal, or one escape of the setting."""

    literal: str = ""
    letter: str = ""
    width: int = 0
    """What it is padded to; below zero on the right."""


@dataclass
class _Chain:
    """Anchors with the texts before them, each under its name."""

    anchors: list[tuple[str, str]] = field(default_factory=lambda: [("", "")])
    most: int = 0
    """No line has more characters before its severity."""

    def compiled(self) -> list[_Anchor]:
        *first, (name, last) = self.anchors
        ready = [*first, (name, last + _severities())]
        return [_compiled(text, pattern, index) for index, (text, pattern) in enumerate(ready)]


def _compiled(text: str, pattern: str, index: int) -> _Anchor:
    anchor = re.compile(pattern, re.ASCII)
    return text, anchor.search if index else anchor.match, tuple(anchor.groupindex)


class LinePattern:
    """Reads the first lines of entries that begin with one log_line_prefix."""

    def __init__(self, setting: str) -> None:
        tokens = list(_tokens(setting))
        at = next((i for i, token in enumerate(tokens) if token.letter == "q"), len(tokens))
        # Processes without a session stop at the first %q.
        whole = [token for token in tokens if token.letter != "q"]
        ways = [_chain(whole)] + ([_chain(whole[:at])] if at < len(tokens) else [])
        self._ways = [(way.most, way.compiled()) for way in ways]
        every = [
            name for _, way in self._ways for text, _, groups in way for name in (text, *groups)
        ]
        self._none: dict[str, str | None] = dict.fromkeys(name for name in every if name)
        self.has_time = bool({"stamp", "epoch"} & self._none.keys())

    def match(self, line: str) -> Fields | None:
        """Returns the fields of a line, with `severity` or `further`, and `message`; None for any
        other line."""
        for most, anchors in self._ways:
            found = _read(line, most, anchors)
            if found is not None:
                return self._none | found
        return None


def line_pattern(setting: str) -> LinePattern | None:
    """Returns the pattern of a log_line_prefix; None where the prefix has none of %m, %t, %n: such
    a log cannot be put on a time axis."""
    pattern = LinePattern(setting)
    return pattern if pattern.has_time else None


def _read(line: str, most: int, anchors: list[_Anchor]) -> dict[str, str | None] | None:
    found: dict[str, str | None] = {}
    at = 0
    for text, find, groups in anchors:
        # A blank within a type of process is not the one that ends it.
        of_words = _TYPES_OF_WORDS.match(line, at) if text == "backend_type" else None
        match = find(line, of_words.end() if of_words else at, most)
        if match is None:
            return None
        if text:
            found[text] = line[at : match.start()].strip()
        for name in groups:
            value = match[name]
            found[name] = value and value.strip()
        at = match.end()
    found["message"] = line[at:]
    return found


def _severities() -> str:
    severities = "|".join(map(re.escape, words().severities))
    further = "|".join(map(re.escape, words().further))
    return rf"(?:(?P<severity>{severities}):  |(?P<further>{further}): )"


def _tokens(setting: str) -> Iterator[_Token]:
    literal, position = "", 0
    for match in _ESCAPE.finditer(setting):
        literal += setting[position : match.start()]
        position = match.end()
        letter = match[2]
        if letter == "%":
            literal += "%"
        elif letter == "q" or letter in _TEXTS or letter in _RUNS or letter in _TIMES:
            if literal:
                yield _Token(literal)
            literal = ""
            # A lone minus is no width.
            width = int(match[1]) if match[1].strip("-") else 0
            yield _Token(letter=letter, width=max(-_WIDEST, min(width, _WIDEST)))
    literal += setting[position:].removesuffix("%")
    if literal:
        yield _Token(literal)


def _chain(tokens: list[_Token]) -> _Chain:
    chain, known = _Chain(), set[str]()
    run: list[_Token] = []
    """Adjoining fields that are read as one text."""
    for token, follows in zip_longest(tokens, tokens[1:]):
        if _is_text(token, follows, known):
            if not run:
                chain.anchors.append(("", ""))
            run.append(token)
            longest = _TEXTS.get(token.letter, _LONGEST_ANCHOR)
            chain.most += max(longest, abs(token.width))
            chain.anchors[-1] = (_name(run, known), "")
            continue
        known.add(chain.anchors[-1][0])
        run = []
        text, pattern = chain.anchors[-1]
        chain.anchors[-1] = (text, pattern + _anchor(token, known))
        chain.most += max(len(token.literal), _LONGEST_ANCHOR, abs(token.width))
    chain.most += _LONGEST_ANCHOR
    return chain


def _is_text(token: _Token, follows: _Token | None, known: set[str]) -> bool:
    """Whether a field is any text, or ends where nobody can tell."""
    if token.letter in _TEXTS:
        return True
    if token.literal or token.letter == "n" or (_is_kept(token, known) and token.letter in _TIMES):
        return False
    if token.letter in _TIMES and token.width:
        return True
    class_, least, most = _RUNS.get(token.letter, (_IN_ZONE, 1, 40))
    if least == most or follows is None or follows.letter in _TEXTS:
        return False
    if follows.letter:
        return follows.width > 0 or re.match(class_, "5", re.ASCII) is not None
    return re.match(class_, follows.literal, re.ASCII) is not None


def _is_kept(token: _Token, known: set[str]) -> bool:
    """Whether the field is of use and the first of its kind."""
    return token.letter in _KEPT and _KEPT[token.letter] not in known


def _name(run: list[_Token], known: set[str]) -> str:
    """Of a text; names of a session that nothing separates still show that there is one."""
    if len(run) == 1:
        name = _NAMES.get(run[0].letter, "")
        return "" if name in known else name
    letters = {token.letter for token in run}
    is_of_session = letters <= _OF_SESSIONS and letters & set("adu")
    return "names" if is_of_session and "names" not in known else ""


def _anchor(token: _Token, known: set[str]) -> str:
    """The pattern of a literal, a time or a number; nothing in it can be read in two ways, but for
    the zone of the time that is kept, before a literal that may belong to it."""
    if token.literal:
        return re.escape(token.literal)
    group = f"?P<{_KEPT[token.letter]}>" if _is_kept(token, known) else "?:"
    known.add(_KEPT.get(token.letter, ""))
    wide = abs(token.width)
    if token.letter in _TIMES:
        whole = "+" if group == "?:" and token.letter != "n" else ""
        blanks = f" {{0,{wide}}}" if wide else ""
        return f"{blanks}({group}{_TIMES[token.letter]}{whole}){blanks}"
    class_, least, most = _RUNS[token.letter]
    if not wide:
        return f"({group}{class_}{{{least},{most}}}+)"
    # Padding is exact: as many blanks as characters are lacking.
    ways = [
        f"{class_}{{{n}}} {{{wide - n}}}" if token.width < 0 else f" {{{wide - n}}}{class_}{{{n}}}"
        for n in range(least, min(most, wide - 1) + 1)
    ]
    if wide <= most:
        ways.append(f"{class_}{{{max(wide, least)},{most}}}+")
    return f"({group}{'|'.join(ways)})"
