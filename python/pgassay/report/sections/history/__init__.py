"""The sections of a history of runs, in their order."""

from __future__ import annotations

from pgassay.report.document.section import Section
from pgassay.report.sections.answer.gates import gates
from pgassay.report.sections.history import changes, record

HISTORY_SECTIONS: tuple[Section, ...] = (
    gates,
    changes.over_time,
    changes.changes,
    record.limits,
    changes.beside,
    record.runs,
)
