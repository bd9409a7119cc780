"""Columns of values as the native module gives them, as columns of Arrow.

Enters: tags, offsets and bytes. Leaves: arrays of int64, float64, bool or PostgreSQL's text. Never:
changes a value: a number becomes one of a type only where every one of the column is exactly that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_NULL, _NUMBER, _TEXT, _BOOL = range(4)
_INTEGER = r"^-?(0|[1-9]\d{0,17})$"
_DECIMAL = r"^-?\d{0,15}\.?\d{0,15}$"
_DIGITS = 15
"""That a float64 keeps of any decimal number."""

Tagged = tuple[bytes, bytes, bytes]


def values_of(column: Tagged) -> pa.Array:
    """Returns a column: int64, float64 or bool where all its values are, else text."""
    tags, _, _ = column
    kinds = np.unique(np.frombuffer(tags, np.uint8))
    texts = texts_of(column)
    if kinds.size == 0 or (kinds == _NULL).all():
        return texts
    if np.isin(kinds, [_NULL, _BOOL]).all():
        return pc.equal(texts, "true")
    if np.isin(kinds, [_NULL, _NUMBER]).all():
        if pc.all(pc.match_substring_regex(texts, _INTEGER)).as_py():
            return texts.cast(pa.int64())
        digits = pc.utf8_length(pc.replace_substring_regex(texts, r"[-.]", ""))
        short = pc.max(digits).as_py() <= _DIGITS
        if short and pc.all(pc.match_substring_regex(texts, _DECIMAL)).as_py():
            return texts.cast(pa.float64())
    return texts


def texts_of(column: Tagged) -> pa.Array:
    """Returns a column as texts, with NULL."""
    tags, offsets, texts = column
    known = np.frombuffer(tags, np.uint8) != _NULL
    whole = pa.LargeStringArray.from_buffers(
        len(tags),
        pa.py_buffer(offsets),
        pa.py_buffer(texts),
        pa.py_buffer(np.packbits(known, bitorder="little").tobytes()),
    )
    return whole.cast(pa.string())


def joined(columns: Sequence[Tagged]) -> Tagged:
    """Returns columns one below the other."""
    ends = np.cumsum([0, *(len(texts) for _, _, texts in columns)])
    offsets = [
        np.frombuffer(own, np.int64)[1 if number else 0 :] + ends[number]
        for number, (_, own, _) in enumerate(columns)
    ]
    tags, _, texts = zip(*columns, strict=True)
    return b"".join(tags), np.concatenate(offsets).tobytes(), b"".join(texts)


def all_numbers(column: Tagged) -> bool:
    """Whether each value is a number."""
    return set(column[0]) == {_NUMBER}


def literal_of(column: Tagged) -> str | None:
    """Returns the one value of a column as SQL; None where it varies or no script can have it."""
    tags, _, _ = column
    distinct = pc.unique(texts_of(column))
    if len(set(tags)) != 1 or len(distinct) != 1:
        return None
    value: str | None = distinct[0].as_py()
    if value is None:
        return "NULL"
    if tags[0] != _TEXT:
        return str(value)
    if "\\" in value or re.search(r":\w|[\n\r]", value):
        return None
    return "'" + value.replace("'", "''") + "'"
