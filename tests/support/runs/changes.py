"""Changes of one kind, for tests that make no others.

Enters: journaled changes. Leaves: the same, as changes of knobs. Never: undoes one.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.server.change import Change, KnobChange


def knobs_in(changes: Sequence[Change]) -> list[KnobChange]:
    """All of them; there must be no others."""
    knobs = [one for one in changes if isinstance(one, KnobChange)]
    assert len(knobs) == len(changes)
    return knobs
