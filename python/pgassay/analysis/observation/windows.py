"""An observation as windows of equal length, which rules and tables take for the trials of an arm.

Enters: stored segments. Leaves: `ArmSignals`. Never: makes a window longer than it must be for a
problem of part of the time to be seen, or shorter than a slice where the observation is long.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.analysis.measures.model import ArmSignals
from pgassay.analysis.observation.slices import SLICE_S, joined
from pgassay.analysis.observation.slicing import slices_of
from pgassay.analysis.observation.stored_slices import slices_of_stored
from pgassay.samples.stored_parts import StoredSegment

OBSERVED = "observed"
"""What the arm is called."""
FEWEST, _MOST = 6, 12
"""Windows of an observation."""


def observed_windows(segments: Sequence[StoredSegment]) -> ArmSignals:
    """Windows of the time in which these segments were recorded; those that were read for less than
    half of it are left out."""
    start_ns, end_ns = segments[0].summary().started_ns, segments[-1].summary().ended_ns
    seconds = max(end_ns - start_ns, 1) / 1e9
    count = min(max(FEWEST, int(seconds / SLICE_S)), _MOST)
    width_s = seconds / count
    if width_s < SLICE_S:
        found = joined([slices_of(segment, width_s) for segment in segments])
    else:
        found = joined([slices_of_stored(segment) for segment in segments])
    return found.signals(OBSERVED, width_s)
