"""The slices of an observation as they are stored.

Enters: the directory of an observation, a period. Leaves: its `Slices`. Never: writes a file.
"""

from __future__ import annotations

from pgassay.analysis.observation.slices import Slices, joined
from pgassay.analysis.observation.slicing import slices_of
from pgassay.samples.observation_directory import ObservationDirectory


def slices_in(
    directory: ObservationDirectory, start_ns: int | None = None, end_ns: int | None = None
) -> Slices:
    """The slices of a period, or of all that was recorded; those of segments that were stored
    without are computed."""
    found = joined([slices_of(segment) for segment in directory.segments()])
    if start_ns is None and end_ns is None:
        return found
    return found.between(start_ns or 0, 2**62 if end_ns is None else end_ns)
