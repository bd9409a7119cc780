"""The sections of a comparison of two periods, in their order."""

from __future__ import annotations

from pgassay.report.document.section import Section
from pgassay.report.sections.periods import changes, groups, record

PERIOD_SECTIONS: tuple[Section, ...] = (
    changes.most,
    changes.over_time,
    changes.settings,
    changes.suspect,
    record.limits,
    *groups.GROUP_SECTIONS,
)
