"""Knobs of the host for one run: journaled, written, read back, put back.

Enters: wanted values by knob name, a journal. Leaves: the values in force; after `restore`, the
host as found, or a sentence for each knob that is not; a note for each reason why vm.swappiness
cannot do anything to the server. Never: writes a knob before its undo is on disk, or over a later
change of others.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pgassay.errors import TargetError
from pgassay.notes import Note
from pgassay.refusals.refusal import RestoreRefused, SettingRefused, TargetRefused
from pgassay.server.change import KnobChange
from pgassay.server.hosts.block_devices import read_mounts
from pgassay.server.hosts.control_groups import memory_groups
from pgassay.server.hosts.host import Host, HostLock, host_identity, text_of
from pgassay.server.hosts.local import HERE
from pgassay.server.knobs.knob_files import Knob, find_knob, knob_of, locked, take_lock
from pgassay.server.protocol import Journal
from pgassay.server.undo.change_record import RecordedJournal, forget
from pgassay.server.undo.killed_run import refuse_killed_run_on
from pgassay.server.undo.undo_sql import undo_text
from pgassay.spec.server.host_knobs import normal, partner_of


@dataclass(frozen=True)
class Written:
    """One knob that a run has written: its first change, and every value that the run has
    given it."""

    first: KnobChange
    ours: frozenset[str]

    @property
    def name(self) -> str:
        return self.first.name

    @property
    def found(self) -> str:
        """The knob's value before the run."""
        return self.first.found

    @property
    def undo(self) -> str:
        """The shell command that puts the knob back."""
        return undo_text(self.first)


@dataclass
class Outcome:
    """What became of the knobs: by path, a sentence for each that is not as it was found."""

    theirs: dict[Path, str] = field(default_factory=dict)
    """Somebody else has written it since, so it was left."""
    failed: dict[Path, str] = field(default_factory=dict)


def put_back(changes: Sequence[KnobChange], host: Host = HERE) -> Outcome:
    """Puts knobs back, the newest first, and reads each one back."""
    written = _written(changes)
    outcome = Outcome()
    for path, one in reversed(written.items()):
        try:
            now = knob_of(one.first, host).read()
            if now in one.ours and now != one.found:
                _write_back(one, written, host)
            elif now != one.found:
                outcome.theirs[path] = (
                    f"{one.name} is {now} now, which this run did not write: left as it is; "
                    f"before the run: {one.undo}"
                )
        except TargetError as error:
            outcome.failed[path] = f"{error}; run this yourself: {one.undo}"
    for path, one in written.items():
        if path in outcome.theirs or path in outcome.failed:
            continue
        now = knob_of(one.first, host).read()
        if now != one.found:
            outcome.failed[path] = f"{one.name} is still {now}; run this yourself: {one.undo}"
    return outcome


def recover_host(changes: Sequence[KnobChange], journal: Journal, host: Host = HERE) -> list[str]:
    """Undoes a killed run's changes to a host; returns a sentence for each knob that is left as it
    is."""
    here = host_identity(host)
    if any(change.server.split()[0] != here.split()[0] for change in changes):
        raise RestoreRefused("knobs-of-another-host", host=changes[0].server.split()[0])
    with locked(host):
        # The kernel's values do not outlive a boot.
        outcome = put_back([change for change in changes if change.server == here], host)
        for change in reversed(changes):
            if change.path not in outcome.failed:
                forget(change.server, change.id)
                journal.undone(change.id)
    if outcome.failed:
        raise RestoreRefused("not-put-back-each", problems=tuple(outcome.failed.values()))
    return list(outcome.theirs.values())


def _write_back(one: Written, written: Mapping[Path, Written], host: Host) -> None:
    """Write what was found; of two that exclude each other, the one that was not 0."""
    partner = partner_of(one.name)
    if one.found != "0" or partner is None:
        knob_of(one.first, host).write(one.found)
        return
    if any(other.name == partner and other.found != "0" for other in written.values()):
        return  # zeroed by the kernel when its partner is put back
    # Both were 0, and the one in bytes takes no 0 itself.
    ratio = find_knob(partner if one.name.endswith("_bytes") else one.name, None, host)
    for value in ("1", "0"):
        ratio.write(value)


def _written(changes: Sequence[KnobChange]) -> dict[Path, Written]:
    """By path; the first change of a knob says what was found."""
    known: dict[Path, Written] = {}
    for change in changes:
        before = known.get(change.path, Written(change, frozenset()))
        known[change.path] = Written(before.first, before.ours | {change.value})
    return known


class HostKnobs:
    """The knobs of a host that this run has written, to be put back at its end."""

    def __init__(self, journal: Journal, host: Host = HERE) -> None:
        self._journal = RecordedJournal(journal)
        self._host = host
        self._server = ""
        """The host's name and boot, for the record."""
        self._changes: list[KnobChange] = []
        self._lock: HostLock | None = None
        self.found: dict[str, str] = {}
        """What the knobs were when they were first looked at."""

    def check(self, wanted: Mapping[str, str], data_directory: Path | None) -> None:
        """Refuses values that this host would not take; from here on the run holds the lock on the
        knobs."""
        if not wanted:
            return
        knobs = {name: find_knob(name, data_directory, self._host) for name in wanted}
        for name, value in wanted.items():
            knobs[name].check(value)
        if self._lock is None:
            self._lock = take_lock(self._host)
            refuse_killed_run_on(self._host)
            self._server = host_identity(self._host)
            self._journal.begin(self._server)
        for name, knob in knobs.items():
            self.found.setdefault(name, knob.read())

    def apply(self, wanted: Mapping[str, str], data_directory: Path | None) -> dict[str, str]:
        """Sets the knobs to these values; returns each as it is read back."""
        if wanted and self._lock is None:
            raise TargetRefused("not-prepared", step="apply")
        if self._lock is not None and not self._lock.held():
            # It ended with a lost connection; another run may have it now.
            self._lock.release()
            self._lock = take_lock(self._host)
        shown = {}
        for name, value in wanted.items():
            knob = find_knob(name, data_directory, self._host)
            before = knob.read()
            if before != normal(value):
                self._write(knob, before, value)
            shown[name] = knob.read()
            if shown[name] != normal(value):
                raise SettingRefused(name, "knob-not-taken", wanted=value, shown=shown[name])
        return shown

    def announce(self, levels: Mapping[str, Sequence[str]], data_directory: Path | None) -> None:
        """Journals that these knobs, which `apply` has set, will have these values by turns."""
        for name, values in levels.items():
            knob = find_knob(name, data_directory, self._host)
            for value in values:
                self._record(knob, knob.read(), value)

    def alternate(self, wanted: Mapping[str, str], data_directory: Path | None) -> dict[str, str]:
        """Writes values that were announced; returns what each knob was before."""
        before = {}
        for name, value in wanted.items():
            knob = find_knob(name, data_directory, self._host)
            before[name] = knob.read()
            if before[name] != normal(value):
                knob.write(value)
        return before

    def restore(self) -> None:
        """Puts every knob back and releases the lock; raises RestoreFailed where that is not
        possible."""
        try:
            if self._changes:
                self._put_back()
        finally:
            if self._lock is not None and not self._changes:
                self._lock.release()
                self._lock = None

    def _put_back(self) -> None:
        outcome = put_back(self._changes, self._host)
        left = {**outcome.theirs, **outcome.failed}
        for change in self._changes:
            if change.path not in left:
                self._journal.undone(change.id)
        self._changes = [change for change in self._changes if change.path in left]
        if left:
            where = self._host.name or "the host"
            raise RestoreRefused("not-as-found", where=where, problems=tuple(left.values()))

    def _write(self, knob: Knob, before: str, value: str) -> None:
        partner = partner_of(knob.name)
        if partner is not None:
            other = find_knob(partner, None, self._host)
            if other.read() != "0":
                self._record(other, other.read(), "0")
        self._record(knob, before, value)
        knob.write(value)

    def _record(self, knob: Knob, before: str, value: str) -> None:
        """Journal a value before it is written."""
        which = (knob.name, knob.device)
        earlier = (one.found for one in self._changes if (one.name, one.device) == which)
        change = KnobChange(
            server=self._server,
            host=self._host.name,
            name=knob.name,
            device=knob.device,
            value=normal(value),
            found=next(earlier, before),
        )
        self._changes.append(change)
        self._journal.record(change)


SWAPPINESS = "vm.swappiness"
_SWAPS = Path("/proc/swaps")


def without_effect(
    knobs: Collection[str],
    host: Host,
    *,
    starts_server: bool,
    limits_memory: bool,
    running: int | None = None,
) -> list[Note]:
    """Why that knob, if it is among those of an experiment, changes nothing.

    `running` is a process of a server that exists; None where that is unknown.
    """
    if SWAPPINESS not in knobs:
        return []
    found = []
    swaps = text_of(host, _SWAPS)
    if swaps is not None and len(swaps.splitlines()) < 2:
        found.append(Note("server/knobs/no-swap"))
    if starts_server and not limits_memory and _its_own(host, os.getpid()):
        found.append(Note("server/knobs/own-swappiness"))
    if not starts_server and running is not None and (file := _its_own(host, running)):
        found.append(Note("server/knobs/swappiness-of-group", {"file": str(file)}))
    return found


def _its_own(host: Host, process: int) -> Path | None:
    """The file with the value of a process's group below the root of a version 1 tree."""
    trees = memory_groups(host, process, read_mounts(host))
    below = (groups[0] for controller, groups in trees if controller and len(groups) > 1)
    return next((group / "memory.swappiness" for group in below), None)
