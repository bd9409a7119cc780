"""Reads a server's log from a given moment on.

Enters: a function that opens sessions of the server. Leaves: events, and notes about the log.
Never: makes a run fail: where a log cannot be read, a note names the line that would allow it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from pgassay import _core
from pgassay.errors import TargetError
from pgassay.notes import Note
from pgassay.server.hosts.host import Host
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement
from pgassay.trials.server_log.entry import Form, LogClock, knows_language
from pgassay.trials.server_log.events import EventTally, LogEvent, server_kinds
from pgassay.trials.server_log.follow import LogFollower
from pgassay.trials.server_log.forms import CsvForm, JsonForm, StderrForm
from pgassay.trials.server_log.line_prefix import line_pattern
from pgassay.trials.server_log.log_files import LogUnreadable
from pgassay.trials.server_log.place import Missing, Place, find_place
from pgassay.trials.server_log.server_clock import ServerClock

_COARSEST_NS = 2_000_000_000
"""%t cuts a time down to its second."""


@dataclass(frozen=True)
class LogReading:
    """What a log says about one period."""

    events: tuple[LogEvent, ...] | None
    """None where there was no log to read."""
    has_checkpoints: bool
    """Whether the server writes them into the log that is read, in a language that is known."""
    notes: tuple[Note, ...] = ()
    """What is missing and how to enable it, one line each."""
    described: dict[str, Any] = field(default_factory=dict)
    """For trial.json: where it was read, in which form, how much of it."""

    @property
    def crash(self) -> str:
        """The message of the PANIC that took the server down, else the line of a process that was
        ended by a signal; empty where there is none."""
        events = self.events or ()
        panics = [f"PANIC: {event.object}" for event in events if event.severity == "PANIC"]
        ended = [event.object for event in events if event.kind == "crash"]
        return next(iter((*panics, *ended)), "")


class ServerLog:
    """Follows one server's log from the moment it is made."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        host: str,
        own_file: Path | None = None,
        *,
        machine: Host | None = None,
        clock: ServerClock | None = None,
    ) -> None:
        """Without a `clock`, times of the log are taken as they are."""
        self._notes: list[Note] = []
        self._since_ns = _core.now_ns()
        self._clock_of_server = clock or ServerClock(connect)
        self._place: Place | None = None
        self._follower: LogFollower | None = None
        try:
            with connect() as session:
                found = find_place(session, connect, host, own_file, machine)
                if isinstance(found, Missing):
                    self._notes.append(
                        Note.of("trials/server_log/not-read-fix", why=found.reason, fix=found.fix)
                    )
                    return
                self._clock = _log_clock(session)
            self._follower = found.follow()
            self._place = found
        except (psycopg.Error, TargetError, LogUnreadable, OSError) as error:
            why = str(error).splitlines()[0]
            self._notes.append(Note("trials/server_log/not-read", {"why": why}))
            return
        self._form = _form_of(found, self._clock)
        self._is_understood = knows_language(found.settings)
        if not found.settings["checkpoints"]:
            self._notes.append(Note("trials/server_log/no-checkpoints"))

    @property
    def has_checkpoints(self) -> bool:
        """Whether there is a log to read, and the server writes checkpoints into it that are
        understood."""
        place = self._place
        return place is not None and bool(place.settings["checkpoints"]) and self._is_understood

    def read(self, *, goes_on: bool = False) -> LogReading:
        """Reads everything since the last reading; what is not yet whole waits where it
        `goes_on`."""
        place, follower = self._place, self._follower
        if place is None or follower is None:
            return LogReading(None, has_checkpoints=False, notes=tuple(self._notes))
        ours_ns = self._clock_of_server.ours_ns
        tally = EventTally(ours_ns=ours_ns, since_ns=self._since_ns - _COARSEST_NS)
        notes = list(self._notes)
        before, read = self._form.unread, 0
        passed_over, cut_short = follower.passed_over, follower.cut_short
        try:
            for piece in follower.pieces():
                read += len(piece or b"")
                for entry in self._form.finish() if piece is None else self._form.feed(piece):
                    tally.add(entry)
        except (LogUnreadable, OSError) as error:
            # What was read counts; what is held of an entry may not go on where reading does.
            notes.append(Note("trials/server_log/not-to-end", {"error": str(error)}))
            goes_on = False
            if not read:
                return LogReading(None, self.has_checkpoints, tuple(notes))
        if not goes_on or not read:
            # Nothing came for a while: what could have been going on is whole.
            for entry in self._form.finish():
                tally.add(entry)
        described = {
            "where": place.where,
            "form": place.form,
            "bytes": read,
            "entries": tally.entries,
            "unread_lines": self._form.unread - before + tally.unread,
            "entries_without_time": tally.without_time,
            "bytes_passed_over": follower.passed_over - passed_over,
            "cut_short": follower.cut_short - cut_short,
            "events_left_out": tally.left_out,
        }
        events = tally.events()
        # Words of the server's own that were recognised prove the language.
        self._is_understood |= any(event.kind in server_kinds() for event in events)
        notes += _notes_on(described)
        if not self._is_understood:
            language = place.settings["language"]
            notes.append(Note("trials/server_log/language", {"language": language}))
        return LogReading(events, self.has_checkpoints, tuple(notes), described)


def _form_of(place: Place, clock: LogClock) -> Form:
    """The reader of a log's form."""
    if place.form == "jsonlog":
        return JsonForm(clock)
    if place.form == "csvlog":
        return CsvForm(clock)
    pattern = line_pattern(place.settings["prefix"])
    if pattern is None:
        raise LogUnreadable("log_line_prefix has no time")
    return StderrForm(pattern, clock)


def _log_clock(session: Connection) -> LogClock:
    """What the abbreviations of log_timezone mean, asked of the server."""
    with session.transaction():
        session.execute(statement("log/use_log_timezone"), prepare=False)
        rows = session.execute(statement("log/abbreviations"), prepare=False).fetchall()
    return LogClock({name: east for name, east in rows if name})


def _notes_on(described: dict[str, Any]) -> list[Note]:
    found = []
    if unread := described["unread_lines"]:
        found.append(Note("trials/server_log/unread-lines", {"unread": unread}))
    if described["entries_without_time"]:
        found.append(Note("trials/server_log/no-time-zone"))
    if described["bytes_passed_over"]:
        size = described["bytes_passed_over"] / 2**20
        found.append(Note("trials/server_log/grew-too-fast", {"size": size}))
    if described["cut_short"]:
        found.append(Note("trials/server_log/cut-short"))
    if left_out := described["events_left_out"]:
        found.append(Note("trials/server_log/left-out", {"left_out": left_out}))
    return found
