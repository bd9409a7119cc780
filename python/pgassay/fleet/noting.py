"""Notes what the members of a fleet change, on the machine that began the run.

Enters: members, the servers they drive, the journal of the run. Leaves: every change in it, and in
this machine's change record, before its member makes it. Never: undoes anything.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pgassay.cluster.calls import Actor, answers
from pgassay.errors import PgassayError
from pgassay.fleet.asking import PATIENCE_S, WAIT_S, Answer, Ask, Place
from pgassay.fleet.existing import FoundServer
from pgassay.server.protocol import Journal
from pgassay.server.undo.change_record import RecordedJournal, this_machine


def place_of(journal: Journal) -> Place:
    """Returns the place where the members' changes are noted."""
    return Place(journal.place, journal.run, this_machine())


@contextmanager
def changes_noted(
    actors: Sequence[Actor], servers: Sequence[FoundServer], journal: Journal
) -> Iterator[None]:
    """Notes what these members change on these servers, one each, until the block ends."""
    ended = threading.Event()
    threads = [
        threading.Thread(target=_note, args=(actor, Notes(server, journal), ended), daemon=True)
        for actor, server in zip(actors, servers, strict=True)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join(PATIENCE_S)


class Notes:
    """Notes in the journal of the run what one member changes on its server."""

    def __init__(self, server: FoundServer, journal: Journal) -> None:
        self._server = server
        self._journal = RecordedJournal(journal)
        self._journal.begin(server.identity, server.address)

    def answer(self, ask: Ask) -> Answer:
        try:
            match ask.what:
                case "begin":
                    self._server.refuse_other(str(ask.value))
                case "record":
                    self._journal.record(replace(ask.value, dsn=self._server.dsn))
                case "undone":
                    self._journal.undone(str(ask.value))
        except PgassayError as error:
            return Answer(ask.number, str(error))
        return Answer(ask.number)


def _note(actor: Actor, notes: Notes, ended: threading.Event) -> None:
    """In a thread of the member's own, until it is gone: then it changes nothing any more."""
    answer: Answer | None = None
    while not ended.is_set():
        try:
            ask: Ask | None = answers([(actor, "next_ask", (answer,))], PATIENCE_S + WAIT_S)[0]
        except PgassayError:
            return
        answer = None if ask is None else notes.answer(ask)
