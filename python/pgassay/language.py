"""The language of a report: messages and numbers as its reader writes them.

Enters: English messages, a language. Leaves: the same messages in the language that is in force;
English where the catalogue has none. Never: translates what a user or PostgreSQL named, nor a
machine format: those are made while English is in force.

A message in a function is `tr("{n} blocks", n=n)` or `ntr("{n} block", "{n} blocks", n)`. One that
is made before a language is in force (a column, a text of a TOML file) is a `Message`: it is
English to every comparison, and translated where it is shown. `make messages` collects all.
"""

from __future__ import annotations

import gettext
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeVar, cast, get_args

from pgassay.refusals.refusal import SetupRefused

Language = Literal["en", "ru", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
_HTML_CODES = {"zh": "zh-Hans"}
_SEPARATORS = {"en": ("\u202f", "."), "ru": ("\u202f", ","), "zh": (",", ".")}
"""Between thousands, before decimals."""
_JOINTS = {"zh": ("\u3001", "\uff1b")}
"""Between the items of a list, between clauses; `, ` and `; ` elsewhere."""
_COLONS = {"zh": "\uff1a"}
_COMMAS = {"zh": "\uff0c"}
T = TypeVar("T")
_in_force: ContextVar[str] = ContextVar("language", default="en")


@contextmanager
def in_language(language: str) -> Iterator[None]:
    """Puts a language in force: messages and notes that are shown inside are in it."""
    if language not in LANGUAGES:
        raise SetupRefused("no-such-language", language, known=", ".join(LANGUAGES))
    before = _in_force.set(language)
    try:
        yield
    finally:
        _in_force.reset(before)


def language() -> str:
    """Returns the code of the language in force, such as `ru`."""
    return _in_force.get()


def html_code() -> str:
    """Returns the language in force as HTML names it."""
    return _HTML_CODES.get(language(), language())


def tr(text: str, /, context: str = "", **values: Any) -> str:
    """Returns a message in the language in force, with its values; `context` tells apart two
    meanings."""
    said = catalogue()
    raw = str.__str__(text)
    if not raw:
        return raw  # gettext gives the head of the catalogue for an empty text
    found = said.pgettext(context, raw) if context else said.gettext(raw)
    return found.format(**values) if values else found


def ntr(singular: str, plural: str, n: int, /, **values: Any) -> str:
    """Returns a message about a number of things, which is `{n}` in it."""
    return catalogue().ngettext(singular, plural, n).format(n=n, **values)


def listed(items: Iterable[object]) -> str:
    """Joins items in one line, as the language in force separates them."""
    return _JOINTS.get(language(), (", ", "; "))[0].join(map(str, items))


def colon() -> str:
    """Returns what stands between a name and what is said of it."""
    return _COLONS.get(language(), ": ")


def comma() -> str:
    """Returns what stands between a name and a detail of it, such as its unit."""
    return _COMMAS.get(language(), ", ")


def clauses(items: Iterable[object]) -> str:
    """Joins clauses, or items that hold commas, in one line."""
    return _JOINTS.get(language(), (", ", "; "))[1].join(map(str, items))


def enumerated(items: Sequence[str]) -> str:
    """Joins words, such as `a, b and c`."""
    return _ended(items, tr(" and "))


def alternatives(items: Sequence[str]) -> str:
    """Joins words as alternatives, such as `a, b or c`."""
    return _ended(items, tr(" or "))


def successively(items: Iterable[str]) -> str:
    """Joins what happens one after the other, such as `a then b`."""
    return tr(" then ").join(items)


def _ended(items: Sequence[str], last: str) -> str:
    return last.join(filter(None, (listed(items[:-1]), *items[-1:])))


def sentences(items: Iterable[str]) -> str:
    """Joins sentences in one line."""
    return sentence_gap().join(filter(None, map(str.strip, items)))


def sentence_gap() -> str:
    """Returns what stands between two sentences."""
    return "" if language() == "zh" else " "


class Message(str):
    """A message that is translated where it is shown: by `str`, `format`, an f-string, Jinja."""

    __slots__ = ()

    def __str__(self) -> str:
        return tr(self)

    def __format__(self, spec: str) -> str:
        return format(tr(self), spec)

    def format(self, *args: object, **values: object) -> str:
        return tr(self).format(*args, **values)

    def __add__(self, other: str) -> str:
        return tr(self) + other

    def __radd__(self, other: str) -> str:
        return other + tr(self)

    def lower(self) -> str:
        return tr(self).lower()

    def upper(self) -> str:
        return tr(self).upper()

    def capitalize(self) -> str:
        return tr(self).capitalize()


def messages_of(table: T, keys: Collection[str] = (), *, besides: Collection[str] = ()) -> T:
    """Returns a TOML table with `Message`s for the texts under these keys, or under all but
    those."""
    return cast(T, _with_messages(table, keys, besides, taken=not keys))


def _with_messages(
    table: object, keys: Collection[str], besides: Collection[str], *, taken: bool
) -> object:
    if isinstance(table, str):
        return Message(table) if taken else table
    if isinstance(table, list):
        return [_with_messages(value, keys, besides, taken=taken) for value in table]
    if not isinstance(table, dict):
        return table
    return {
        key: value
        if key in besides
        else _with_messages(value, keys, besides, taken=taken or key in keys)
        for key, value in table.items()
    }


def localised(number: str) -> str:
    """Returns a number that Python wrote, such as `-1,234.5`, as the reader writes it, with a true
    minus."""
    thousands, point = _SEPARATORS[language()]
    return number.translate({ord(","): thousands, ord("."): point, ord("-"): "\u2212"})


def decimals(value: float, spec: str = "") -> str:
    """Formats a number in Python's format, with the point of the language in force.

    Where the format asks for a sign, that of a negative number is a true minus. A number that the
    format would write as `6.5e+02` is written out.
    """
    text = format(value, spec)
    if "e+" in text:
        text = format(float(text), f"{spec[:1] if spec[:1] in '+-' else ''}.0f")
    text = text.replace(".", _SEPARATORS[language()][1])
    return text.replace("-", "\u2212", 1) if spec.startswith("+") else text


def catalogue() -> gettext.NullTranslations:
    """Returns the catalogue of the language in force."""
    return _catalogue(language())


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    if language == "en":
        return gettext.NullTranslations()
    import polib  # English needs none

    text = (files(__package__) / "languages" / f"{language}.po").read_text("utf-8")
    return gettext.GNUTranslations(io.BytesIO(polib.pofile(text).to_binary()))
