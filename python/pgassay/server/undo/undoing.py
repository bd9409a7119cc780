"""Runs several steps of undoing; one that fails does not stop the others.

Enters: what puts each back. Leaves: all of them done, or one RestoreFailed with what each said.
Never: swallows an interrupt of the user.
"""

from __future__ import annotations

from collections.abc import Callable

from pgassay.errors import TargetError
from pgassay.refusals.refusal import RestoreRefused


def undo_each(*steps: Callable[[], None]) -> None:
    """Runs every step in its order, also after one that failed.

    One failure is raised as it is, several as one RestoreFailed.
    """
    problems: list[TargetError] = []
    interrupt: BaseException | None = None
    for step in steps:
        try:
            step()
        except TargetError as error:
            problems.append(error)
        except BaseException as error:  # a last Ctrl-C: the others are put back all the same
            interrupt = error
    if interrupt is not None:
        raise interrupt
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise RestoreRefused("not-put-back-each", problems=tuple(problems))
