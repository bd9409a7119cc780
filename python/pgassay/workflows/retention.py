"""What is kept of an observation: samples for a time, slices of them for weeks.

Enters: the directory of an observation, a segment that has just ended, limits. Leaves: slices of
every segment; the samples that are not too old and have room. Never: drops the newest segment, or
samples whose slices are not on disk.
"""

from __future__ import annotations

import pyarrow.compute as pc

from pgassay.analysis.observation.slices import joined
from pgassay.analysis.observation.slicing import slices_of
from pgassay.analysis.observation.stored_slices import as_table, from_table, slices_of_stored
from pgassay.samples.observation_directory import ObservationDirectory

MINUTE_S, LATER_S = 60, 600
"""The length of a slice of a dropped segment; of one that is older than a week."""
_LATER_AFTER_NS = 7 * 86400 * 10**9
_SLICES_OF_A_FILE = 240
"""It is written anew with each segment."""


def store_slices(directory: ObservationDirectory, number: int) -> None:
    """Computes and stores the slices of a segment that has ended."""
    directory.write_slices(number, as_table(slices_of(directory.segment(number))))


def make_room(
    directory: ObservationDirectory, *, now_ns: int, keep_s: float, most_bytes: int
) -> int:
    """Drops the oldest samples, whose slices stay, then the oldest slices; returns how many
    segments were dropped."""
    _merge_old(directory, now_ns)
    dropped, held = 0, directory.bytes_of_samples()
    for number in directory.finished()[:-1]:
        segment = directory.segment(number)
        is_old = segment.summary().ended_ns < now_ns - round(keep_s * 1e9)
        if not is_old and held <= most_bytes:
            break
        held += _thin(directory, number) - segment.bytes()
        directory.drop(number)
        dropped += 1
    for file in directory.thinned():
        if held <= most_bytes:
            break
        held -= file.bytes()
        directory.remove_thinned(file)
    return dropped


def _thin(directory: ObservationDirectory, number: int) -> int:
    """Adds the slices of a segment, merged, to the last file of thinned ones; returns by how many
    bytes it grew."""
    parts = [slices_of_stored(directory.segment(number))]
    files = directory.thinned()
    last = files[-1] if files and files[-1].width_s == MINUTE_S else None
    if last is not None:
        found = from_table(last.table(), last.path)
        if len(found) < _SLICES_OF_A_FILE:
            parts.insert(0, found)
        else:
            last = None
    before = 0 if last is None else last.bytes()
    table = as_table(joined(parts).merged(MINUTE_S))
    return directory.write_thinned(table, last=number, width_s=MINUTE_S, instead_of=last) - before


def _merge_old(directory: ObservationDirectory, now_ns: int) -> None:
    """Merges the slices of files that are older than a week."""
    for file in directory.thinned():
        if file.width_s != MINUTE_S:
            continue
        table = file.table()
        if pc.max(table["start_ns"]).as_py() > now_ns - _LATER_AFTER_NS:
            break
        merged = from_table(table, file.path).merged(LATER_S)
        directory.write_thinned(as_table(merged), last=file.last, width_s=LATER_S, instead_of=file)
