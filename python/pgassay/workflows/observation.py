"""The main path of an observation: server → samples → course → report, and no verdict.

Enters: a server's connection string, what is asked of the recording. Leaves: a directory of
segments, and what they say. Never: puts a load on the server, or changes anything.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from pgassay import __version__
from pgassay.commit import commit
from pgassay.notes import Note
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.report.context import ObservationContext
from pgassay.samples.forms.environment import Server
from pgassay.samples.forms.observation import ObservationFile
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.samples.storage.files import lost_storage_is_a_trial_error
from pgassay.server.connection.session import as_target_error, identity
from pgassay.server.existing.observed import ObservedServer
from pgassay.server.undo.marking import left_on
from pgassay.trials.environment.description import describe_environment, sizes_of
from pgassay.trials.observing import Recorder
from pgassay.trials.sampling.live_view import LiveFigures
from pgassay.trials.sampling.not_measured import described, not_measured
from pgassay.workflows.changed_settings import MOST as MOST_CHANGES
from pgassay.workflows.changed_settings import changes_between, look_again
from pgassay.workflows.reporting import Reported, observation_context, reported
from pgassay.workflows.retention import make_room, store_slices

_LOOK_EVERY_S = 0.2
_TAKE_EVERY_S = 5.0
_SEGMENTS_AT_LEAST = 10
"""In what is kept, so that dropping the oldest drops little at a time."""
_MOST_WARNINGS = 200
"""Kinds that are kept when the segment they came with is dropped."""
_MORE = Note("trials/run/more-kinds")


@dataclass(frozen=True)
class Request:
    """What is asked of a recording."""

    duration_s: float | None = None
    """None: until it is stopped."""
    every_s: float = 0.1
    """Between two looks at the waits; counters are read each second, or as seldom as this."""
    segment_s: float = 600.0
    keep_s: float = 86400.0
    max_disk_bytes: int = 1 << 30
    ssh: str | None = None
    """The server's host, as ssh knows it."""
    sudo: bool = False
    """There, commands are run by sudo."""

    @property
    def length_s(self) -> float:
        """Returns the length of a segment (s), shorter where little is kept."""
        return max(1.0, min(self.segment_s, self.keep_s / _SEGMENTS_AT_LEAST))

    @property
    def segment_bytes(self) -> int:
        """Returns the size (bytes) at which a segment ends early."""
        return self.max_disk_bytes // _SEGMENTS_AT_LEAST


class ObservationListener(Protocol):
    """Follows an observation; every method returns at once."""

    def began(self, server: str, request: Request) -> None:
        """Says that the samplers are at work."""

    def sampled(self, elapsed_s: float, live: LiveFigures | None) -> None:
        """Says how far the observation is; called a few times a second."""

    def took(self, cost: Mapping[str, float]) -> None:
        """Says what sampling has cost since it began; called every few seconds."""

    def stored(self, segments: int, disk_bytes: int) -> None:
        """Says what is on disk: at the beginning, and when a segment has ended."""

    def warned(self, text: str) -> None:
        """Shows a warning of one line."""


def observe(
    dsn: str,
    request: Request,
    directory: ObservationDirectory,
    listener: ObservationListener,
    is_stopped: Callable[[], bool],
) -> Reported[ObservationDirectory, ObservationContext]:
    """Observes until the time is over or the user stops it, then reports.

    A directory that holds an observation of this server goes on, after a gap.
    """
    with closing(ObservedServer(dsn, ssh=request.ssh, sudo=request.sudo)) as server:
        _record(server, request, directory, listener, is_stopped)
    return reported(directory, observation_context(directory))


def _record(
    server: ObservedServer,
    request: Request,
    directory: ObservationDirectory,
    listener: ObservationListener,
    is_stopped: Callable[[], bool],
) -> None:
    left = left_on(server.parameters)
    if left:
        listener.warned(left)
    facts, standby = server.facts()
    environment = describe_environment(facts, server.kind, host=server.host(facts))
    environment["standby"] = standby
    with as_target_error("looking at what can be measured"), server.connect() as session:
        environment["not_seen"] = described({"": not_measured(session)})
        database = session.info.dbname
        environment["sizes"] = {database: sizes_of(session)}
        system = identity(session)
    before = directory.begun()
    changed = () if before is None else before.changed_settings
    changed += changes_between(
        directory.environment().server,
        Server.model_validate(environment["server"]),
        Recorder.now_ns(),
    )
    about = ObservationFile(
        pgassay=__version__,
        pgassay_commit=commit(),
        server=server.parameters.label,
        system_identifier=system,
        database=database,
        is_standby=standby,
        duration_s=request.duration_s,
        every_s=request.every_s,
        segment_s=request.length_s,
        keep_s=request.keep_s,
        max_disk_bytes=request.max_disk_bytes,
        dropped_segments=0 if before is None else before.dropped_segments,
        notes=() if before is None else before.notes,
        changed_settings=changed[-MOST_CHANGES:],
    )
    if before is not None and not before.is_of(about):
        raise DirectoryRefused("observes-another-server", directory.path, server=before.server)
    directory.write_environment(environment)
    with Recorder(server, facts, request.every_s) as recorder, lost_storage_is_a_trial_error():
        directory.write_file(directory.MARK, about)
        listener.began(server.parameters.label, request)
        number, over = directory.go_on(), False
        notes: dict[Hashable, Note] = {note.without_figures: note for note in about.notes}
        looked_ns = recorder.now_ns()
        listener.stored(len(directory.finished()), directory.bytes_of_samples())
        while not over:
            number += 1
            over = _record_segment(
                number, recorder, request, directory, listener, is_stopped, notes
            )
            if about.notes != tuple(notes.values()):
                # Before the segment that has them may be dropped.
                about = about.model_copy(update={"notes": tuple(notes.values())})
                directory.write_file(directory.MARK, about)
            if recorder.is_answering:
                now_ns = recorder.now_ns()
                known = directory.environment().server
                found, changed = look_again(server, facts, known, since_ns=looked_ns, now_ns=now_ns)
                looked_ns = now_ns
                if changed:
                    kept = (*about.changed_settings, *changed)[-MOST_CHANGES:]
                    about = about.model_copy(update={"changed_settings": kept})
                    directory.write_environment({**environment, "server": found})
            store_slices(directory, number)
            dropped = make_room(
                directory,
                now_ns=recorder.now_ns(),
                keep_s=request.keep_s,
                # Room for the one that comes next.
                most_bytes=request.max_disk_bytes - request.segment_bytes,
            )
            ended_by = ("stopped" if is_stopped() else "duration") if over else None
            dropped += about.dropped_segments
            about = about.model_copy(update={"dropped_segments": dropped, "ended_by": ended_by})
            directory.write_file(directory.MARK, about)
            listener.stored(len(directory.finished()), directory.bytes_of_samples())


def _record_segment(
    number: int,
    recorder: Recorder,
    request: Request,
    directory: ObservationDirectory,
    listener: ObservationListener,
    is_stopped: Callable[[], bool],
    notes: dict[Hashable, Note],
) -> bool:
    """Record one segment; whether it is the last. `notes`: kind of note → the latest of it."""

    def over() -> bool:
        late = request.duration_s is not None and recorder.age_s >= request.duration_s
        return late or is_stopped()

    with directory.write_segment(number) as segment:
        taken_s = 0.0
        while not over() and recorder.segment_age_s < request.length_s:
            time.sleep(_LOOK_EVERY_S)
            listener.sampled(recorder.age_s, recorder.live_figures())
            if recorder.segment_age_s - taken_s >= _TAKE_EVERY_S:
                taken_s = recorder.segment_age_s
                segment.add(recorder.take())
                listener.took(recorder.cost())
                if segment.bytes() >= request.segment_bytes:
                    break
        last = over()
        if last:
            recorder.stop()
        segment.add(recorder.take())
        end = recorder.end_segment(last=last)
        segment.finish(end)
    directory.add_statements(end.statements)
    for note in end.notes:
        kind = note.without_figures
        if kind not in notes:
            listener.warned(str(note))
            if len(notes) >= _MOST_WARNINGS:
                notes.setdefault(_MORE, _MORE)
                continue
        notes[kind] = note
    return last
