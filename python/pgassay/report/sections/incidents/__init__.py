"""The sections of the incidents of an observation, in their order."""

from __future__ import annotations

from pgassay.report.document.section import Section
from pgassay.report.sections.incidents import found, suspect, trees
from pgassay.report.sections.observation import lists

INCIDENT_SECTIONS: tuple[Section, ...] = (
    found.over_time,
    found.incidents,
    trees.lock_trees,
    lists.settings,
    suspect.suspect,
    found.limits,
)
