"""The sections of an observation's report, in their order.

Enters: nothing. Leaves: `OBSERVATION_SECTIONS`. Never: renders.
"""

from __future__ import annotations

from pgassay.report.document.section import Section
from pgassay.report.sections.classic import observed
from pgassay.report.sections.incidents import found as incidents
from pgassay.report.sections.incidents import trees
from pgassay.report.sections.observation import lists, method, over_time, recognised, waits
from pgassay.report.sections.record.method import environment

OBSERVATION_SECTIONS: tuple[Section, ...] = (
    recognised.diagnosis,
    incidents.over_time,
    incidents.incidents,
    trees.lock_trees,
    lists.settings,
    over_time.throughput,
    waits.waits,
    over_time.standby,
    over_time.host,
    recognised.methods,
    observed,
    lists.checkpoints,
    lists.statements,
    lists.log,
    lists.gaps,
    method.caveats,
    environment,
    method.method,
)
