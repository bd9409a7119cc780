"""What a reader should know of a plan or a trial: a code with typed values, never a sentence.

Enters: a code and its values. Leaves: a `Note`, its sentence in the language in force.
Never: compares, cuts or matches a sentence.

`note_catalogues.py` says where the sentence of a code lies, `stored_notes.py` how a note is stored.

A place has a format: of Python; of `FORMATS` for numbers; of `_JOINED` for several values, which
`{names}` lists; `{name:lower}` shows a `Term` in lower case, `{name:capital}` a note with a capital
letter first, `{name:message}` the translation of a text that is a message itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from enum import StrEnum
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
        """Whether it can hit any trial by chance, and matters only where it hit arms unequally."""
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
        if self.code == LEGACY:
            return str(self.values["text"])
        entry = entry_of(self.code)
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
    "then": successively,
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
        return tr(self) if spec == "message" else super().__format__(spec)


def _shown(value: object) -> object:
    if isinstance(value, float):
        return _Figure(value)
    if type(value) is int:
        return _Count(value)
    if type(value) is str:
        return _Text(value)
    return _Several(value) if isinstance(value, tuple) else value


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
