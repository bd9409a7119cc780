"""How notes are stored in JSON: each beside its sentence in English, which older versions read.

Enters: notes, or a stored object. Leaves: JSON values, or notes. Never: fails on a note that this
version does not know, or trusts a stored one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pgassay.notes import Note, Single, Value, legacy


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


def noted(stored: Any) -> Any:
    """Returns a stored value in which every note stands under the key of its sentence.

    Raises LookupError for a note that this version does not know.
    """
    if isinstance(stored, list):
        return [noted(one) for one in stored]
    if not isinstance(stored, Mapping):
        return stored
    if stored.keys() == {"code", "values"}:
        found = _shown(stored)
        if found is None:
            raise LookupError(stored["code"])
        return found
    sentences = {key: noted(one) for key, one in stored.items() if not key.endswith(CODED)}
    notes = {key.removesuffix(CODED): one for key, one in stored.items() if key.endswith(CODED)}
    return sentences | {key: noted(one) for key, one in notes.items() if one is not None}


def _known(stored: Any, sentence: Any) -> Any:
    return _shown(stored) or (legacy(sentence) if isinstance(sentence, str) else sentence)


def _shown(stored: Any) -> Note | None:
    """The note of a stored one; None where it has no sentence here."""
    try:
        found = _note(stored, _DEEPEST)
        str(found)
    except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError):
        return None
    return found


_DEEPEST = 12
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
