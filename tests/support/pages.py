"""What is asked of every HTML page of a report.

Enters: the page. Leaves: what is wrong with it. Never: renders.
"""

from __future__ import annotations

import re

MOST_BYTES = 600_000
"""The largest page of a run, complete in itself."""
_DRAWN_ELSEWHERE = re.compile(r'srcdoc="[^"]*"')


def repeated_regions(page: str) -> set[str]:
    """The labels that several regions of the page have."""
    labels = re.findall(r'role="region" aria-label="([^"]*)"', page)
    return {one for one in labels if labels.count(one) > 1}


def dangling(page: str) -> set[str]:
    """The ids that links of the page lead to and no element has."""
    own = _DRAWN_ELSEWHERE.sub("", page)
    return {*re.findall(r'href="#([^"]+)"', own)} - {*re.findall(r'\sid="([^"]+)"', own)}
