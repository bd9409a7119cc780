"""The rows of a trace as the engine takes them.

Enters: a trace. Leaves: one dict of columns, as bytes, for each row group; a number for each
statement. Never: holds more than a row group of texts and values, or stores one.

A statement's number is that of its text with `?` for what may be a constant, in the order in which
they come. The engine counts by these numbers, so that a result has no text of the trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pgassay.spec.load.trace_file import OF_ROWS, Trace, kinds_of, row_groups

MOST_NUMBERS = 10_000
"""Statements with numbers of their own; all others share the last number."""
CONSTANT = re.compile(r"""'(?:[^']|'')*'|(?<![\w$.])\d[\w.]*""")
_LISTS = re.compile(r"\?(?:\s*,\s*\?)+")
_WORD = re.compile(r"\s*([a-zA-Z]+)")
_NO_WORD = "other"


class StatementNumbers:
    """Numbers statements as they come, and keeps the first word of each."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self.words: list[str] = []

    def number(self, text: str) -> int:
        """Returns the number of a statement."""
        shape = hash(_LISTS.sub("?", CONSTANT.sub("?", text)))
        found = self._numbers.get(shape)
        if found is None:
            found = min(len(self.words), MOST_NUMBERS - 1)
            if len(self.words) < MOST_NUMBERS:
                self._numbers[shape] = found
                word = _WORD.match(text)
                self.words.append(word[1].upper() if word else _NO_WORD)
        return found


def chunks(trace: Trace, numbers: StatementNumbers) -> Iterator[dict[str, bytes]]:
    """Iterates over a trace as what `Replay.feed` takes; raises Refusal for a damaged one."""
    first_row = 0
    for table in row_groups(trace.path, OF_ROWS):
        if table.num_rows:
            yield _chunk(table, first_row, trace, numbers)
        first_row += table.num_rows


def _chunk(
    table: pa.Table, first_row: int, trace: Trace, numbers: StatementNumbers
) -> dict[str, bytes]:
    session = table["session"].to_numpy()
    rows = np.arange(first_row, first_row + table.num_rows)
    statement, texts = _coded(table["statement"])
    name, names = _coded(table["name"])
    parameters = table["parameters"].combine_chunks()
    # Offsets of rows that are null may cover values, so they are counted anew.
    lengths = pc.fill_null(pc.list_value_length(parameters), 0).to_numpy()
    values = parameters.flatten().cast(pa.string())
    # What is no statement has no text, whatever the file says.
    kind = kinds_of(table)
    found: dict[str, Any] = {
        "session": session.astype("<i4"),
        "at_us": table["at_us"].to_numpy().astype("<i8"),
        "kind": kind,
        "statement": statement,
        "name": name,
        "failed_there": _sqlstates(table["sqlstate"]),
        "is_last": (trace.last_rows[session] == rows).astype(np.uint8),
        "first_value": np.concatenate([[0], np.cumsum(lengths)]).astype("<u4"),
        "value_is_null": _bytes(pc.is_null(values)),
        "numbers": np.array([numbers.number(one) for one in texts.to_pylist()], "<u4"),
    }
    packed = {key: value.tobytes() for key, value in found.items()}
    for key, several in (("values", values), ("statements", texts), ("names", names)):
        packed |= _texts(key, several)
    return packed


def _coded(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], pa.Array]:
    """The place of each row's text among the distinct ones, −1 for none; the distinct texts."""
    whole = column.cast(pa.string()).combine_chunks().dictionary_encode()
    places = pc.fill_null(whole.indices, -1).to_numpy().astype("<i4")
    return places, whole.dictionary


def _sqlstates(column: pa.ChunkedArray) -> NDArray[np.bytes_]:
    """Five bytes for each row, zeros where the statement did not fail."""
    places, codes = _coded(column)
    known = np.array(["", *codes.to_pylist()], "S5")
    return known[places + 1]


def _texts(key: str, texts: pa.Array) -> dict[str, bytes]:
    texts = pc.fill_null(texts, "")
    ends = np.concatenate([[0], np.cumsum(pc.binary_length(texts).to_numpy())]).astype("<u4")
    return {key: "".join(texts.to_pylist()).encode(), f"{key}_ends": ends.tobytes()}


def _bytes(flags: pa.Array | pa.ChunkedArray) -> NDArray[np.uint8]:
    return np.asarray(flags.to_numpy(zero_copy_only=False)).astype(np.uint8)
