"""A shorter look at the host before the first trial, which other tests keep busy anyway, and at
the commits of others on an existing server.

Enters: nothing. Leaves: the time that commands watch them for. Never: leaves it out.
"""

from __future__ import annotations

from pgassay.server.existing import signs
from pgassay.trials.host import other_programs

WATCHED_S = 0.1


def watch_for_an_instant() -> None:
    """In this process, and those that are forked from it."""
    other_programs.WATCHED_S = WATCHED_S
    setattr(signs, "LOOK_S", WATCHED_S)  # noqa: B010 (mypy: it imports that name itself)
