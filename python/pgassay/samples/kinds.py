"""What a directory is: a run, an observation or a trace.

Enters: a path. Leaves: its directory. Never: reads a file.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.samples.run_directory import RunDirectory
from pgassay.samples.trace_directory import TraceDirectory


def directory_at(path: Path) -> RunDirectory | ObservationDirectory | TraceDirectory:
    """The directory of its kind; refuses a folder that is none."""
    for kind in (ObservationDirectory, TraceDirectory):
        if kind.is_at(path):
            return kind(path)
    return RunDirectory.open(path)
