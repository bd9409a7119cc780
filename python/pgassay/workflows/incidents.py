"""A stored observation → its incidents.

Enters: the directory of an observation. Leaves: what a report of its incidents is made of.
Never: touches a server, or writes into the directory.
"""

from __future__ import annotations

from pathlib import Path

from pgassay import __version__
from pgassay.analysis.observation.incidents.find import find_incidents
from pgassay.analysis.observation.stored_slices import slices_in
from pgassay.report.context import IncidentsContext
from pgassay.samples.observation_directory import ObservationDirectory


def stored_incidents(path: Path) -> IncidentsContext:
    """Finds the incidents; raises DirectoryRefused where the path is no observation."""
    directory = ObservationDirectory.open(path)
    return IncidentsContext(
        run_name=directory.name,
        described=directory.described(),
        incidents=find_incidents(slices_in(directory)),
        environment=directory.environment(),
        version=__version__,
        texts=directory.statements(),
    )
