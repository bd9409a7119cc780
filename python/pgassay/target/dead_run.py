"""Whether the runs that have left something are dead, and stay so while it is undone.

Enters: their changes. Leaves: their directories held, as they held them. Never: looks at a server:
the lock there is free through every restart, and no lock at all on another one.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from pgassay.errors import TargetError
from pgassay.target.local_host import lock_run
from pgassay.target.protocol import Change


@contextmanager
def stays_dead(changes: Sequence[Change], own: str = "") -> Iterator[None]:
    """Holds the directories of these runs; TargetError where one is alive. `own` is the journal of
    ours, which holds its directory already."""
    with ExitStack() as stack:
        for folder in folders_of(changes, own):
            # Of one whose directory is gone nothing is known.
            with suppress(OSError):
                lock = lock_run(folder)
                if lock is None:
                    raise TargetError(
                        f"another pgassay run, {folder}, is using this server; wait for it to end,"
                        " or end it"
                    )
                stack.callback(lock.release)
        yield


def is_alive(changes: Sequence[Change]) -> bool:
    """Whether one of these runs is."""
    try:
        with stays_dead(changes):
            return False
    except TargetError:
        return True


def recovering(folders: Sequence[Path]) -> str:
    """What a person types to have these runs undone."""
    given = [shlex.quote(str(folder)) for folder in folders] or ["RUN"]
    return " and ".join(f"`pgassay recover {one}`" for one in given)


def folders_of(changes: Sequence[Change], own: str = "") -> list[Path]:
    """The directories of the runs that made these changes."""
    places = dict.fromkeys(one.journal for one in changes if one.journal not in ("", own))
    return list(dict.fromkeys(Path(place).parent for place in places))
