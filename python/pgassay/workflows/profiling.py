"""The path of a profile: a running server → folded stacks → files, and no verdict.

Enters: a server's connection string, what is asked. Leaves: a directory of files.
Never: puts a load on the server, or changes anything.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from pgassay.errors import PgassayError
from pgassay.notes import Note, note_of
from pgassay.samples.profiles import ProfileDirectory
from pgassay.server.connection.session import as_target_error
from pgassay.server.existing.observed import ObservedServer
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement
from pgassay.trials.profile.files import files_of
from pgassay.trials.profile.model import Kind, Profile
from pgassay.trials.profile.perf import program
from pgassay.trials.profile.taking import Processes, taking, wait_for

_MORE_S = 300.0
"""A session may last so much longer than the profiles, for perf to write its text."""


@dataclass(frozen=True)
class Request:
    """What is asked of a profile."""

    seconds: float = 20.0
    hz: int = 99
    off_cpu: bool = False


def profile_server(
    dsn: str,
    request: Request,
    directory: ProfileDirectory,
    say: Callable[[str], None],
    is_stopped: Callable[[], bool],
) -> tuple[str, list[Profile], list[Note]]:
    """Profiles a server; returns its name, the profiles and what could not be had.
    When it is to stop, what was recorded so far is a profile."""
    program()
    kinds: tuple[Kind, ...] = ("cpu", "off-cpu") if request.off_cpu else ("cpu",)
    taken, notes = list[Profile](), list[Note]()
    with closing(ObservedServer(dsn)) as server:
        facts, _ = server.facts()
        label = server.parameters.label
        with server.connect(lasts_s=len(kinds) * request.seconds + _MORE_S) as session:
            processes = Processes(session, server.host(facts))
            for kind in kinds:
                if is_stopped():
                    notes.append(Note("trials/profile/stopped-before", {"kind": kind}))
                    break
                say(f"profiling {label} for {request.seconds:g} s: {kind}")
                try:
                    taken.append(_profile(session, processes, kind, request, is_stopped))
                except PgassayError as error:
                    if not taken and is_stopped():
                        raise KeyboardInterrupt from error
                    if not taken:
                        raise
                    notes.append(note_of(error))
    if not taken:
        raise KeyboardInterrupt
    for profile in taken:
        directory.write_files(files_of(profile, label))
    directory.finish({"": taken}, notes)
    return label, taken, notes


def _profile(
    session: Connection,
    processes: Processes,
    kind: Kind,
    request: Request,
    is_stopped: Callable[[], bool],
) -> Profile:
    with taking(processes, kind, request.seconds, request.hz) as one:
        one.follow(_transactions(session))
        wait_for(one, request.seconds, lambda: one.follow(_transactions(session)), is_stopped)
        one.follow(_transactions(session))
        return one.profile()


def _transactions(session: Connection) -> float:
    with as_target_error("counting transactions"):
        row = session.execute(statement("trials/all_transactions"), prepare=False).fetchone()
    return float(row[0]) if row else 0.0
