"""What a reader should know of a plan or a trial: a code with typed values, never a sentence.

Enters: a code and its values. Leaves: a `Note`, its sentence in the language in force.
Never: compares, cuts or matches a sentence.

`note_catalogues.py` says where the sentence of a code lies, `stored_notes.py` how a note is stored.

A place has a format: of Python; of `FORMATS` for numbers; of `_JOINED` for several values, which
`{names}` lists; `{name:lower}` shows a `Term` in lower case, `{name:capital}` a note with a capital
letter first, `{name:message}` the translation of a text that is a message itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from string import Formatter
from typing import Any, Self

from pgassay.errors import PgassayError
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
    successively,
    tr,
)
from pgassay.language import catalogue as translations
from pgassay.note_catalogues import LEGACY, REFUSALS, entry_of
from pgassay.quantities import FORMATS


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
        """Returns whether what the note says can hit any trial by chance, so that it matters only
        where it hit arms unequally."""
        return bool(self._about.get("disturbs"))

    @property
    def _about(self) -> Mapping[str, Any]:
        """The entry of its catalogue, or of the note that it only says of whom it is."""
        inner = self.values.get("note")
        return inner._about if isinstance(inner, Note) else entry_of(self.code)

    @property
    def without_figures(self) -> Hashable:
        """The code with those values that are no numbers."""
        return self.code, _without_figures(tuple(self.values.values()))

    def __hash__(self) -> int:
        return hash((self.code, frozenset(self.values.items())))

    def __str__(self) -> str:
        """The sentence, in the language in force."""
        return "".join(words for words, _ in self._written())

    @property
    def pieces(self) -> list[Piece]:
        """The sentence in as few pieces as its marks allow."""
        by_mark = groupby(self._written(), itemgetter(1))
        return [("".join(words for words, _ in own), marked) for marked, own in by_mark]

    def _written(self) -> Iterator[Piece]:
        """What the catalogue has between the values, and the values."""
        if self.code == LEGACY:
            yield str(self.values["text"]), False
            return
        entry = entry_of(self.code)
        template = tr(entry["text"])
        if "counted" in entry:
            number = int(self.values[entry["counted"]])  # type: ignore[arg-type]
            template = translations().ngettext(entry["one"], entry["text"], number)
        for words, marked in _filled(template, self._at):
            yield words, marked or "mark" in entry

    def _at(self, name: str, form: str) -> Iterator[Piece]:
        """The value of a place, whose format may have a value inside."""
        return _value(self.values[name], form.format_map(self.values))

    def __format__(self, spec: str) -> str:
        """The sentence; with a capital letter first by the format `capital`."""
        said = str(self)
        return said[:1].upper() + said[1:] if spec == "capital" else format(said, spec)


Piece = tuple[str, bool]
"""Words, and whether they have a mark."""
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
    "statements": "; ".join,
    "then": successively,
}
"""How several values are joined."""


class _Figure(float):
    """A number that is formatted as the language in force writes it."""

    def __format__(self, spec: str) -> str:
        if own := FORMATS.get(spec):
            return own(float(self))
        if spec.startswith(","):
            return localised(format(float(self), f"z{spec}"))
        return decimals(float(self), spec or "g")


class _Count(int):
    """A whole number; it has the same formats."""

    def __format__(self, spec: str) -> str:
        own = FORMATS.get(spec)
        return super().__format__(spec) if own is None else own(float(self))


class _Text(str):
    """A text that may be a message itself."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        """The text; its translation, if it has one, by the format `message`; by the format `lower`
        that of the term which was stored as this text."""
        if spec == "message":
            return tr(self)
        return format(Term(self), spec) if spec == "lower" else super().__format__(spec)


def _shown(value: object) -> object:
    if isinstance(value, float):
        return _Figure(value)
    if type(value) is int:
        return _Count(value)
    return _Text(value) if type(value) is str else value


def _value(value: Value, form: str = "") -> Iterator[Piece]:
    """A value in its format, in pieces if it is a note or has some."""
    if isinstance(value, tuple):
        several = [[*_value(one)] for one in value]
        joint = _JOINED[form]([f"{{{at}}}" if one else "" for at, one in enumerate(several)])
        yield from _filled(joint, lambda at, _: several[int(at)])
    elif isinstance(value, Note):
        for at, (words, marked) in enumerate(value.pieces):
            begins = form == "capital" and not at
            yield words[:1].upper() + words[1:] if begins else words, marked
    elif words := format(_shown(value), form):
        yield words, False


def _filled(template: str, value: Callable[[str, str], Iterable[Piece]]) -> Iterator[Piece]:
    """The words of a template, and between them the values of its places, by name and format."""
    for words, name, form, _ in Formatter().parse(template):
        if words:
            yield words, False
        if name is not None:
            yield from value(name, form or "")


def legacy(sentence: str) -> Note:
    """Makes a note of which only the sentence is known."""
    return Note(LEGACY, {"text": sentence})


def note_of(error: BaseException | None) -> Note:
    """Returns the note that an error was raised with, or that of its code; of an error without
    either, such as one of the operating system, its message as a note."""
    error = getattr(error, "refusal", error)
    said = error.args[0] if error is not None and error.args else None
    if isinstance(said, Note):
        return said
    code = getattr(error, "code", None)
    if not isinstance(code, str):
        return legacy(str(error))
    values: Mapping[str, Any] = getattr(error, "values", {})
    note = Note(f"{REFUSALS}/{code}", {name: _stored(value) for name, value in values.items()})
    where = getattr(error, "key", None) or getattr(error, "named", None)
    return Note.of("trials/run/of-key", key=where, why=note) if where else note


def _stored(value: object) -> Value:
    """A value of a refusal as one of a note: an error is its own note, a path its text."""
    return tuple(map(_single, value)) if isinstance(value, tuple) else _single(value)


def _single(value: object) -> Single:
    if isinstance(value, PgassayError):
        return note_of(value)
    return value if isinstance(value, str | int | float | Note) else str(value)
