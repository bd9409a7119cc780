"""One of several plans of a statement that stand side by side.

Enters: the lines of a plan, and which of them begins to differ. Leaves: blocks. Never: compares.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.language import ntr
from pgassay.report.document.blocks import Code, Group, note
from pgassay.report.document.text import Span

_MOST_LINES = 60
_MARK = "▶ "


def plan_column(title: str, text: Sequence[str], differs_at: int | None) -> Group:
    """Shows a plan beneath its title; the line where it begins to differ has a mark."""
    lines = list(text[:_MOST_LINES])
    if differs_at is not None:
        beside = " " * len(_MARK)
        lines = [f"{_MARK if at == differs_at else beside}{one}" for at, one in enumerate(lines)]
    if len(text) > _MOST_LINES:
        lines.append(ntr("… {n} more line", "… {n} more lines", len(text) - _MOST_LINES))
    return Group([note((Span(title, "bold"),)), Code("\n".join(lines))])
