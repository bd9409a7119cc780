"""The sections of a report on runs made apart, in their order."""

from __future__ import annotations

from pgassay.report.document.section import Section
from pgassay.report.sections.answer.gates import gates
from pgassay.report.sections.apart import curves, differences, record, sampled

APART_SECTIONS: tuple[Section, ...] = (
    gates,
    differences.verdicts,
    curves.by_load,
    record.limits,
    record.conditions,
    curves.throughput,
    curves.quantiles,
    sampled.speed,
    sampled.infrastructure,
    differences.everything,
    record.runs,
)
