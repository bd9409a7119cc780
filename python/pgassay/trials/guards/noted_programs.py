"""The note of a trial on other programs, for its guard and for readers of stored trials.

Enters: names of programs. Leaves: the code of the note, a value of it. Never: imports what reads a
server, as readers of stored trials need none of that.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay.notes import Note, Value

FOREIGN_CPU = "foreign-cpu"
"""The guard whose limits are those of other programs."""
OTHER_PROGRAMS = "trials/guards/other-programs"
_MOST_NAMED = 3


def named(programs: Sequence[str]) -> Value:
    """Returns the names of the largest programs for the end of a sentence; empty without any."""
    return Note.of("trials/guards/named", names=tuple(programs[:_MOST_NAMED])) if programs else ""
