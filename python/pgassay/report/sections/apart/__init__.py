"""The sections of a report on runs made apart, in their order."""

from __future__ import annotations

from pgassay.report.section import Section
from pgassay.report.sections.answer.gates import gates
from pgassay.report.sections.apart import differences, record

APART_SECTIONS: tuple[Section, ...] = (
    gates,
    differences.verdicts,
    record.limits,
    record.conditions,
    differences.everything,
    record.runs,
)
