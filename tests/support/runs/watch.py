"""A shorter look at the host before the first trial: other tests keep it busy anyway.

Enters: nothing. Leaves: the time that `plan` and `run` watch the host for. Never: leaves it out.
"""

from __future__ import annotations

from pgassay.trials.host import other_programs

WATCHED_S = 0.1


def watch_for_an_instant() -> None:
    """In this process, and those that are forked from it."""
    other_programs.WATCHED_S = WATCHED_S
