"""The slices of an observation as they are stored.

Enters: the directory of an observation, a period; slices. Leaves: its `Slices`; a table of slices.
Never: writes a file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pgassay.analysis.observation.slice_metrics import is_ratio
from pgassay.analysis.observation.slices import Slices, joined
from pgassay.analysis.observation.slicing import slices_of
from pgassay.analysis.reading.counters import Key, numbered
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.samples.stored_parts import StoredSegment
from pgassay.trials.model.columns import SLICES

_SECONDS, _WIDTH = ("slice", "", "seconds"), ("slice", "", "width_s")

_LONGEST_S = 86400.0


def slices_in(
    directory: ObservationDirectory, start_ns: int | None = None, end_ns: int | None = None
) -> Slices:
    """The slices of a period, or of all that was recorded; those of segments that were stored
    without are computed."""
    first, last = start_ns or 0, 2**62 if end_ns is None else end_ns
    thinned = directory.thinned()
    parts = [from_table(one.table(), one.path) for one in thinned]
    before = thinned[-1].last if thinned else 0
    # A segment may have been thinned and not be removed, because the recording was killed.
    numbers = [number for number in directory.finished() if number > before]
    parts += [slices_of_stored(directory.segment(number)) for number in numbers]
    return _without_repeated(joined([part.between(first, last) for part in parts]))


def slices_of_stored(segment: StoredSegment) -> Slices:
    """The stored slices of a segment; computed where there are none."""
    table = segment.slices()
    return slices_of(segment) if table is None else from_table(table, segment.folder)


def _without_repeated(slices: Slices) -> Slices:
    """A kill may leave an older file, all of whose slices are in the one after it."""
    later = np.unique(slices.starts_ns[::-1], return_index=True)[1]
    return slices if len(later) == len(slices) else slices.at(len(slices) - 1 - later)


def as_table(slices: Slices) -> pa.Table:
    """Slices as a table in which a value holds until the next of its signal."""
    rows = {_SECONDS: slices.seconds, _WIDTH: slices.width_s}
    rows |= {key: row for key, row in slices.values.items() if not is_ratio(key)}
    # Single precision holds seven digits, more than a sample has, and is packed in half the room.
    matrix = np.array(list(rows.values())).astype(np.float32).astype(np.float64)
    kept = np.ones(matrix.shape, bool)
    before, after = matrix[:, :-1], matrix[:, 1:]
    kept[1:, 1:] = ~((before == after) | (np.isnan(before) & np.isnan(after)))[1:]
    number, at = np.nonzero(kept)
    words = zip(*rows, strict=True)
    columns = [_words(list(own), number) for own in words]
    return pa.table([slices.starts_ns[at], *columns, matrix[kept]], schema=SLICES)


def _words(words: list[str], number: NDArray[np.int64]) -> pa.DictionaryArray:
    known = list(dict.fromkeys(words))
    place = {word: at for at, word in enumerate(known)}
    codes = np.array([place[word] for word in words], np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(codes[number]), pa.array(known, pa.string()))


def from_table(table: pa.Table, path: Path) -> Slices:
    """A table of `as_table` as slices; `path` is where it was read."""
    keys, numbers, _ = numbered(table) if table.num_rows else ([], np.empty(0, np.int64), ())
    moments, read = table["start_ns"].to_numpy(), table["value"].to_numpy()
    if keys[:1] != [_SECONDS]:
        raise DirectoryRefused("damaged", path, why="slices without seconds")
    starts = moments[numbers == 0]
    count = len(starts)
    at = np.searchsorted(starts, moments)
    places = numbers.astype(np.int64) * count + at
    begins = np.searchsorted(numbers, np.arange(len(keys)))
    if (
        (np.diff(places) <= 0).any()
        or (at == count).any()
        or (starts[at] != moments).any()
        or at[begins].any()
    ):
        raise DirectoryRefused("damaged", path, why="slices out of order")
    lengths = np.diff(places, append=len(keys) * count)
    matrix = np.repeat(read, lengths).reshape(len(keys), count)
    rows: dict[Key, NDArray[np.float64]] = dict(zip(keys, matrix, strict=True))
    seconds, width_s = (
        np.clip(np.nan_to_num(rows.pop(key, np.zeros(count))), 0.0, _LONGEST_S)
        for key in (_SECONDS, _WIDTH)
    )
    return Slices(starts, seconds, width_s, rows)
