"""The notes inside a note, for tests that do not care about their words.

Enters: a note. Leaves: its code and values, and those of the notes inside it. Never: makes a
sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pgassay.notes import Note, Value


def codes_in(note: object) -> list[str]:
    """The code of a note, then those of the notes among its values; none without a note."""
    return [one.code for one in _notes(note)]


def values_in(note: object) -> dict[str, Mapping[str, Value]]:
    """Code → values, of a note and of the notes among its values; of the first with each code."""
    found: dict[str, Mapping[str, Value]] = {}
    for one in _notes(note):
        found.setdefault(one.code, one.values)
    return found


def notes_of(value: object) -> list[Note]:
    """A value that is a note, or several of them, without those inside."""
    several = value if isinstance(value, tuple) else (value,)
    return [one for one in several if isinstance(one, Note)]


def _notes(value: object) -> Iterator[Note]:
    if isinstance(value, Note):
        yield value
        yield from (one for inner in value.values.values() for one in _notes(inner))
    elif isinstance(value, tuple):
        yield from (one for inner in value for one in _notes(inner))
