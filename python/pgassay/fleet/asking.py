"""The journal of a run, as a member of a fleet on another machine writes it, and who notes it here.

Enters: changes that the member is about to make. Leaves: each in the journal of the run, and in the
change record, on the machine that began it, before it is made. Never: keeps a change on its own
machine, or lets one be made that is not in that journal.

The machine that began the run asks for what is to be noted (`next_ask`) and says when it is; so it
alone writes the run directory, and what undoes a member's changes is where `recover` is run.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pgassay.cluster.calls import Actor, answers
from pgassay.errors import PgassayError, TargetError
from pgassay.fleet.existing import FoundServer
from pgassay.notes import Note, note_of
from pgassay.refusals.refusal import TargetRefused
from pgassay.server.change import Change
from pgassay.server.protocol import Journal
from pgassay.server.undo.change_record import RecordedJournal, this_machine

PATIENCE_S = 60.0
"""The journal is written in milliseconds, on a busy disk in seconds."""
WAIT_S = 1.0
"""How long one call waits for something to note."""


@dataclass(frozen=True)
class Place:
    """The run's own journal: its file, the name drawn for it, the user and machine it is on."""

    place: str
    run: str
    machine: str


@dataclass(frozen=True)
class Ask:
    """What is to be noted: the identity of the server, a change, the id of one that is undone."""

    number: int
    what: Literal["begin", "record", "undone"]
    value: Any


@dataclass(frozen=True)
class Answer:
    """The answer to a member: that its change is noted, or why it is not."""

    number: int
    refusal: Note | None = None


@dataclass
class _Open:
    ask: Ask
    done: threading.Event = field(default_factory=threading.Event)
    refusal: Note | None = None


class AskingJournal(RecordedJournal):
    """Returns from a call when the machine that began the run has answered."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._numbers = itertools.count(1)
        self._asks: queue.Queue[Ask] = queue.Queue()
        self._open: dict[int, _Open] = {}

    @property
    def place(self) -> str:
        return self._place.place

    @property
    def run(self) -> str:
        return self._place.run

    @property
    def machine(self) -> str:
        return self._place.machine

    def begin(self, server: str, reached: str = "") -> None:
        """Raises TargetError where this machine has been led to another server."""
        self._ask("begin", server)

    def record(self, change: Change) -> None:
        self._ask("record", change)

    def undone(self, change_id: str) -> None:
        # Undoing goes on where nobody answers: undoing once more what was undone does no harm.
        with suppress(TargetError):
            self._ask("undone", change_id)

    def next_ask(self, answer: Answer | None) -> Ask | None:
        """Takes the answer to the last ask; returns the next one, or None where there is
        none yet."""
        if answer is not None:
            open_ask = self._open.get(answer.number)
            if open_ask is not None:
                open_ask.refusal = answer.refusal
                open_ask.done.set()
        with suppress(queue.Empty):
            return self._asks.get(timeout=WAIT_S)
        return None

    def _ask(self, what: Literal["begin", "record", "undone"], value: Any) -> None:
        number = next(self._numbers)
        waiting = self._open[number] = _Open(Ask(number, what, value))
        self._asks.put(waiting.ask)
        try:
            if not waiting.done.wait(PATIENCE_S):
                raise TargetRefused("change-not-noted", machine=self.machine, seconds=PATIENCE_S)
            if waiting.refusal:
                raise TargetRefused("change-not-taken-there", why=waiting.refusal)
        finally:
            del self._open[number]


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
            return Answer(ask.number, note_of(error))
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
