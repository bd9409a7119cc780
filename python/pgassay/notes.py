"""What a reader should know of a plan or a trial: a code with typed values, never a sentence.

Enters: a code and its values. Leaves: a `Note`, its JSON form, its sentence in the language in
force. Never: compares, cuts or matches a sentence.

The code `plan/no-checkpoints` is the entry `[no-checkpoints]` in notes.toml of the package
`pgassay.plan`: its `text` with places for the values; `one`, the singular, where the value that
`counted` names decides; its `importance` where that is not "size"; `disturbs` where chance can
bring it to any trial; `mark` where a piece of a sentence looks different, such as an interval. The
code `findings/answer/limits/losses.none` is the text `none` of the table `losses` in limits.toml,
the file beside a module that is one of `RULES`.

A place has a format: of Python; of `FORMATS` for numbers; of `_JOINED` for several values, which
`{names}` lists; `{name:lower}` shows a `Term` in lower case, `{name:capital}` a note with a capital
letter first, `{name:message}` the translation of a text that is a message itself.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Self

from pgassay.language import (
    Message,
    T,
    alternatives,
    clauses,
    decimals,
    enumerated,
    listed,
    localised,
    messages_of,
    sentences,
    tr,
)
from pgassay.language import catalogue as translations
from pgassay.quantities import FORMATS

ROOMS = (
    "analysis/apart",
    "analysis/classic",
    "analysis/compare",
    "analysis/curves",
    "analysis/gates",
    "analysis/measures",
    "analysis/methods",
    "analysis/noise",
    "analysis/statistics",
    "analysis/verdicts",
    "findings",
    "findings/answer",
    "plan",
    "server/copied",
    "server/data",
    "server/knobs",
    "server/settings",
    "spec/factors",
    "spec/load",
    "spec/server",
    "trials/checkpoints",
    "trials/environment",
    "trials/guards",
    "trials/host",
    "trials/load",
    "trials/plans",
    "trials/profile",
    "trials/run",
    "trials/sampling",
    "trials/server_log",
    "trials/trace",
)
"""Packages that have a notes.toml."""
RULES = (
    "findings/answer/endpoints",
    "findings/answer/explanations",
    "findings/answer/factors",
    "findings/answer/gates",
    "findings/answer/limits",
    "findings/answer/time_parts",
    "findings/answer/trade_offs",
    "findings/answer/verdicts",
    "findings/apart/verdicts",
    "findings/behaviour/associations",
    "findings/behaviour/checkpoint_causes",
    "findings/behaviour/checkpoints",
    "findings/behaviour/curves",
    "findings/behaviour/mode_queues",
    "findings/behaviour/modes",
    "findings/behaviour/plans",
    "findings/behaviour/wal_locks",
    "findings/diagnosis/recognised",
    "findings/noise/aa_run",
    "findings/noise/fitness",
    "findings/noise/forecast",
)
"""Modules whose sentences stand in the TOML file beside them."""
LEGACY = "legacy"
"""The code of a note of which only the sentence is known: in runs of older versions, and where the
code that makes it has no notes yet."""


class Importance(StrEnum):
    """What a note could change, the most first."""

    VERDICT = "verdict"
    """It could change the verdict."""
    SIZE = "size"
    """It could change the size of the effect, or what the verdict holds for."""
    DETAIL = "detail"
    """It cannot change the result by an amount that matters."""


@dataclass(frozen=True)
class Note:
    """A code with its values: a text, a number, several of them, or a note inside the sentence."""

    code: str
    values: Mapping[str, Value] = field(default_factory=dict)

    @classmethod
    def of(cls, code: str, /, **values: Value) -> Note:
        """Makes a note with its values by name."""
        return cls(code, values)

    @property
    def importance(self) -> Importance:
        """By its catalogue; that of a legacy note is not known, so it is "size"."""
        return Importance(self._about.get("importance", Importance.SIZE))

    @property
    def disturbs(self) -> bool:
        """Whether it can hit any trial by chance, and matters only where it hit arms unequally."""
        return bool(self._about.get("disturbs"))

    @property
    def _about(self) -> Mapping[str, Any]:
        """The entry of its catalogue, or of the note that it only says of whom it is."""
        inner = self.values.get("note")
        return inner._about if isinstance(inner, Note) else _entry(self.code)

    @property
    def without_figures(self) -> Hashable:
        """The code with those values that are no numbers."""
        return self.code, _without_figures(tuple(self.values.values()))

    def __hash__(self) -> int:
        return hash((self.code, frozenset(self.values.items())))

    def __str__(self) -> str:
        """The sentence, in the language in force."""
        if self.code == LEGACY:
            return str(self.values["text"])
        entry = _entry(self.code)
        shown: dict[str, Any] = {name: _shown(value) for name, value in self.values.items()}
        if "counted" in entry:
            forms = entry["one"], entry["text"], int(shown[entry["counted"]])
            return translations().ngettext(*forms).format(**shown)
        said = Message(entry["text"]).format(**shown)
        return f"{_EDGE}{said}{_EDGE}" if "mark" in entry and _marking.get() else said

    @property
    def pieces(self) -> list[tuple[str, bool]]:
        """Each piece of the sentence, and whether it is one that has a mark."""
        marking = copy_context()
        marking.run(_marking.set, True)
        said = marking.run(str, self).split(_EDGE)
        return [(one, at % 2 == 1) for at, one in enumerate(said)]

    def __format__(self, spec: str) -> str:
        """The sentence; with a capital letter first by the format `capital`."""
        said = str(self)
        return said[:1].upper() + said[1:] if spec == "capital" else format(said, spec)


_marking: ContextVar[bool] = ContextVar("marking", default=False)
_EDGE = "\ufdd0"  # no character, so no text has it: it stands around a marked piece
Single = str | int | float | Note
Value = Single | tuple[Single, ...]


def _without_figures(value: object) -> Hashable:
    if isinstance(value, Note):
        return value.without_figures
    if isinstance(value, tuple):
        return tuple(_without_figures(one) for one in value if not isinstance(one, int | float))
    return str(value)


class Term(Message):
    """A word of pgassay's own as a value: it is translated where the note is shown."""

    __slots__ = ()

    def __new__(cls, word: str) -> Self:
        """The word in English."""
        return super().__new__(cls, str.__str__(word))

    def __format__(self, spec: str) -> str:
        """As it is, or, by the format `lower`, as within a sentence: an abbreviation stays."""
        shown = str(self)
        if spec == "lower":
            return shown if shown[1:2].isupper() else shown[:1].lower() + shown[1:]
        return format(shown, spec)


def terms_of(table: T, keys: Collection[str] = (), *, besides: Collection[str] = ()) -> T:
    """A TOML table in which the texts under these keys, or under all but those, are terms."""
    return messages_of(table, keys, besides=besides)


_JOINED: Mapping[str, Callable[[Sequence[str]], str]] = {
    "": listed,
    "and": enumerated,
    "clauses": clauses,
    "or": alternatives,
    "plus": " + ".join,
    "sentences": sentences,
}
"""How several values are joined."""


class _Figure(float):
    """A number that is formatted as the language in force writes it."""

    def __format__(self, spec: str) -> str:
        if own := FORMATS.get(spec):
            return own(float(self))
        if spec.startswith(","):
            return localised(format(float(self), spec))
        return decimals(float(self), spec or "g")


class _Count(int):
    """A whole number; it has the same formats."""

    def __format__(self, spec: str) -> str:
        own = FORMATS.get(spec)
        return super().__format__(spec) if own is None else own(float(self))


class _Several(tuple[object, ...]):
    """Values in one line."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        """As `_JOINED` has it."""
        return _JOINED[spec]([f"{_shown(one)}" for one in self])


class _Text(str):
    """A text that may be a message itself."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        """The text; its translation, if it has one, by the format `message`."""
        return tr(self) if spec == "message" and self else super().__format__(spec)


def _shown(value: object) -> object:
    if isinstance(value, float):
        return _Figure(value)
    if type(value) is int:
        return _Count(value)
    if type(value) is str:
        return _Text(value)
    return _Several(value) if isinstance(value, tuple) else value


@cache
def _entry(code: str) -> Mapping[str, Any]:
    """Of the catalogue of its room; nothing for legacy notes. Raises KeyError where none has it."""
    room, _, name = code.rpartition("/")
    return {} if code == LEGACY else catalogue(room)[name]


@cache
def catalogue(room: str) -> Mapping[str, Mapping[str, Any]]:
    """Code without its room, or rule, → entry."""
    if room not in (*ROOMS, *RULES):
        raise KeyError(room)
    path = f"{room}/notes.toml" if room in ROOMS else f"{room}.toml"
    table = tomllib.loads(files("pgassay").joinpath(*path.split("/")).read_text("utf-8"))
    return table if room in ROOMS else {key: {"text": said} for key, said in _texts(table)}


def _texts(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """The texts in a table by their dotted keys."""
    for key, value in table.items():
        if isinstance(value, str):
            yield f"{before}{key}", value
        elif isinstance(value, Mapping):
            yield from _texts(value, f"{before}{key}.")


def legacy(sentence: str) -> Note:
    """Makes a note of which only the sentence is known."""
    return Note(LEGACY, {"text": sentence})


UNSAID = legacy("")
"""A note that says nothing."""


def note_of(error: BaseException | None) -> Note:
    """Returns the note that an error was raised with, else its message as a note."""
    said = error.args[0] if error is not None and error.args else None
    return said if isinstance(said, Note) else legacy(str(error))


def note_to_json(note: Note) -> dict[str, Any]:
    """Returns a note as it is stored."""
    return {"code": note.code, "values": {name: _stored(one) for name, one in note.values.items()}}


def _stored(value: object) -> object:
    if isinstance(value, tuple):
        return [_stored(one) for one in value]
    return note_to_json(value) if isinstance(value, Note) else value


CODED = "_coded"
"""The ending of a stored key that has the note of the sentence under the key without it."""
Said = Note | str | Sequence[Note] | Mapping[str, Note] | None


def coded(key: str, said: Said, codes: str = "") -> dict[str, Any]:
    """Returns the sentence of a note under `key` of a stored object, and the note under
    `codes`, by default `KEY_coded`.

    The same of a list of notes, or of notes by name; a text that is no note, or none, is alone.
    """
    codes = codes or f"{key}{CODED}"
    if said is None or isinstance(said, str):
        return {key: said or ""}
    if isinstance(said, Note):
        return {key: str(said), codes: note_to_json(said)}
    if isinstance(said, Mapping):
        sentences = {name: str(one) for name, one in said.items()}
        return {key: sentences, codes: {name: note_to_json(one) for name, one in said.items()}}
    return {key: list(map(str, said)), codes: list(map(note_to_json, said))}


def said_at(stored: Mapping[str, Any], key: str, codes: str = "") -> Any:
    """Returns the note, the tuple of notes or the notes by name that `coded` has stored under a
    key; None where there is no text.

    A sentence without a note that this version knows (an older version has no notes, a newer one
    has others) makes a legacy note; what is no sentence is returned as it is.
    """
    said, known = stored.get(key), stored.get(codes or f"{key}{CODED}")
    if isinstance(said, Mapping):
        known = known if isinstance(known, Mapping) else {}
        return {name: _known(known.get(name), one) for name, one in said.items()}
    if isinstance(said, list | tuple):
        if not isinstance(known, list) or len(known) != len(said):
            known = [None] * len(said)
        return tuple(map(_known, known, said))
    return _known(known, said) if said else None


def _known(stored: Any, sentence: Any) -> Any:
    try:
        found = _note(stored, _DEEPEST)
        str(found)
    except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError):
        return legacy(sentence) if isinstance(sentence, str) else sentence
    return found


_DEEPEST = 6
"""Notes in notes: a file may come from anybody."""


def _note(stored: Mapping[str, Any], levels: int) -> Note:
    values = {name: _value(one, levels - 1) for name, one in stored["values"].items()}
    return Note(stored["code"], values)


def _value(stored: Any, levels: int) -> Value:
    if isinstance(stored, Mapping) and levels:
        return _note(stored, levels)
    if isinstance(stored, list) and not any(isinstance(one, list) for one in stored):
        return tuple(_single(one, levels) for one in stored)
    return _single(stored, levels)


def _single(stored: Any, levels: int) -> Single:
    if isinstance(stored, Mapping) and levels:
        return _note(stored, levels)
    if not isinstance(stored, str | int | float):
        raise TypeError(f"{type(stored)} is no value of a note")
    return stored
