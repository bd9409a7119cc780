"""The codes of notes, for tests that do not care about their words.

Enters: a note. Leaves: its code and those of the notes inside it. Never: makes a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.notes import Note


def codes_in(note: Note | None) -> list[str]:
    """The code of a note, then those of the notes among its values; none without a note."""
    return [] if note is None else list(_codes(note))


def _codes(note: Note) -> Iterator[str]:
    yield note.code
    for value in note.values.values():
        if isinstance(value, Note):
            yield from _codes(value)
