"""Knobs of the host for one run: journalled, written, read back, put back.

Enters: wanted values by knob name, a journal. Leaves: the values in force; after `restore`, the
host as found. Never: writes a knob before its undo is on disk, or over somebody's later change.
"""

from __future__ import annotations

import contextlib
import shlex
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pgassay.errors import RestoreFailed, SettingRejected, SetupError, TargetError
from pgassay.server.hosts.host import Host, HostLock, HostUnreachable
from pgassay.server.hosts.knob_files import Knob, find_knob, knob_at
from pgassay.server.hosts.knob_record import (
    Written,
    clear,
    host_identity,
    locked,
    recorded_knobs,
    take_lock,
    write_knobs,
)
from pgassay.server.hosts.local import HERE
from pgassay.server.protocol import Change, Journal
from pgassay.spec.server.host_knobs import BLOCK, normal, partner_of


class HostKnobs:
    """The knobs of a host that this run has written."""

    def __init__(self, journal: Journal, host: Host = HERE) -> None:
        self._journal = journal
        self._host = host
        self._written: dict[str, Written] = {}
        self._changes: dict[str, list[str]] = {}
        self._lock: HostLock | None = None
        self.found: dict[str, str] = {}
        """What the knobs were when they were first looked at."""
        self._left: list[Written] = []
        """Knobs of a killed run that could not be put back: they stay recorded."""
        self.notes: list[str] = []
        """Sentences on knobs of a killed run that could not be put back."""

    def check(self, wanted: Mapping[str, str], data_directory: Path | None) -> None:
        """Refuse what this host would not take; the lock is held from here on."""
        if not wanted:
            return
        knobs = {name: find_knob(name, data_directory, self._host) for name in wanted}
        for name, value in wanted.items():
            knobs[name].check(value)
        if self._lock is None:
            self._lock = take_lock(self._host)
            self.notes = settle_left_over(self._host)
            self._left = recorded_knobs(self._host)
        self._refuse_left(knobs)
        for name, knob in knobs.items():
            self.found.setdefault(name, knob.read())

    def _refuse_left(self, knobs: Mapping[str, Knob]) -> None:
        """Refuse knobs with the value of a killed run: it would count as the host's own."""
        for one in self._left:
            for name, knob in knobs.items():
                if one.path == str(knob.path) or one.name == partner_of(name):
                    raise TargetError(
                        f"{name}: a killed run has written {one.name} of {self._host.label}, and it"
                        f" cannot be put back; run this yourself: {undo_of(one)}"
                    )

    def apply(self, wanted: Mapping[str, str], data_directory: Path | None) -> dict[str, str]:
        """Bring the knobs to these values; each as read back."""
        if wanted and self._lock is None:
            raise TargetError("knobs of the host are checked before they are written")
        if self._lock is not None and not self._lock.held():
            # It went with a lost connection; nobody may have come between.
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
                raise SettingRejected(
                    name, f"{name}: asked for {value}, the kernel has made it {shown[name]}"
                )
        return shown

    def restore(self) -> None:
        """Put everything back and let go of the lock; RestoreFailed where that is not possible."""
        try:
            if self._written:
                self._put_back()
        finally:
            if self._lock is not None and not self._written:
                self._lock.release()
                self._lock = None

    def _put_back(self) -> None:
        settled = settle(list(self._written.values()), self._host)
        left = {**settled.theirs, **settled.failed}
        for path in [path for path in self._written if path not in left]:
            for change_id in self._changes.pop(path, []):
                self._journal.undone(change_id)
            del self._written[path]
        with contextlib.suppress(*([HostUnreachable] if left else [])):
            write_knobs([*self._left, *self._written.values()], self._host)
        if left:
            where = self._host.name or "the host"
            raise RestoreFailed(f"{where} is not as it was found: {'; '.join(left.values())}")

    def _write(self, knob: Knob, before: str, value: str) -> None:
        partner = partner_of(knob.name)
        if partner is not None:
            other = find_knob(partner, None, self._host)
            if other.read() != "0":
                self._note(other, other.read(), "0", f"the kernel's, for {knob.name}")
        self._note(knob, before, value, f"echo {shlex.quote(value)} > {knob.path}")
        knob.write(value)

    def _note(self, knob: Knob, before: str, value: str, do: str) -> None:
        """Record and journal a value before it is written."""
        path = str(knob.path)
        known = self._written.get(path) or Written(knob.name, path, before, ())
        self._written[path] = Written(
            known.name, path, known.found, tuple(dict.fromkeys((*known.ours, normal(value))))
        )
        change = Change(
            id=uuid.uuid4().hex,
            what=f"{knob.name} of {self._host.label}",
            do=do,
            undo=undo_of(self._written[path]),
            server=host_identity(self._host),
            host=self._host.name,
            value=normal(value),
            found=known.found,
            knob=path,
        )
        self._changes.setdefault(path, []).append(change.id)
        self._journal.record(change)
        write_knobs([*self._left, *self._written.values()], self._host)


def refusals_on(
    wanted: Mapping[str, Sequence[str]], data_directory: Path | None, host: Host = HERE
) -> list[str]:
    """Knobs that a host would refuse; those of the disk only if the data directory is known."""
    found = []
    for name, values in wanted.items():
        if name.startswith(BLOCK) and data_directory is None:
            continue
        try:
            for value in values:
                find_knob(name, data_directory, host).check(value)
        except TargetError as error:
            where = f"on {host.name}" if host.name else "here"
            found.append(f"a run {where} would be refused: {error}")
    return found


def undo_of(written: Written) -> str:
    """The shell command that puts a knob back."""
    return f"echo {shlex.quote(written.found)} > {written.path}"


@dataclass
class Settled:
    """Outcome of putting knobs back: by path, a sentence for each knob that is not as found."""

    theirs: dict[str, str] = field(default_factory=dict)
    """Somebody has written it since, so it was left."""
    failed: dict[str, str] = field(default_factory=dict)


def settle(written: Sequence[Written], host: Host = HERE) -> Settled:
    """Put knobs back, the newest first; only a value of ours is overwritten."""
    by_name = {one.name: one for one in written}
    settled = Settled()
    for one in reversed(written):
        try:
            now = knob_at(one.path, one.name, host).read()
            if now in one.ours and now != one.found:
                _put(one, by_name, host)
            elif now != one.found:
                settled.theirs[one.path] = (
                    f"{one.name} is {now} now, which this run did not write: left as it is; "
                    f"before the run: {undo_of(one)}"
                )
        except TargetError as error:
            settled.failed[one.path] = f"{error}; run this yourself: {undo_of(one)}"
    for one in written:
        if one.path in settled.theirs or one.path in settled.failed:
            continue
        now = knob_at(one.path, one.name, host).read()
        if now != one.found:
            settled.failed[one.path] = (
                f"{one.name} is still {now}; run this yourself: {undo_of(one)}"
            )
    return settled


def _put(one: Written, by_name: Mapping[str, Written], host: Host) -> None:
    """Write what was found; of two that exclude each other, the one that was not 0."""
    partner = partner_of(one.name)
    if one.found != "0" or partner is None:
        knob_at(one.path, one.name, host).write(one.found)
        return
    other = by_name.get(partner)
    if other is not None and other.found != "0":
        return  # zeroed by the kernel when its partner is put back
    # Both were 0, and the one in bytes takes no 0 itself.
    ratio = find_knob(partner if one.name.endswith("_bytes") else one.name, None, host)
    for value in ("1", "0"):
        ratio.write(value)


def settle_left_over(host: Host = HERE) -> list[str]:
    """Undo what a killed run has left on a host; the caller holds the lock."""
    written = recorded_knobs(host)
    if not written:
        return []
    settled = settle(written, host)
    write_knobs([one for one in written if one.path in settled.failed], host)
    return [*settled.theirs.values(), *settled.failed.values()]


def sweep_host(host: Host = HERE) -> None:
    """Undo what a killed run has left, unless a run that is alive has the host's knobs."""
    if recorded_knobs(host):
        with contextlib.suppress(TargetError, SetupError), locked(host):
            settle_left_over(host)


def recover_host(changes: Sequence[Change], journal: Journal, host: Host = HERE) -> list[str]:
    """Undo a killed run's changes to a host; a sentence for each knob left as it is."""
    here = host_identity(host)
    if any(change.server.split()[0] != here.split()[0] for change in changes):
        raise RestoreFailed(
            f"this run changed knobs of {changes[0].server.split()[0]}; recover it on that host"
        )
    with locked(host):
        # The kernel's values do not outlive a boot.
        settled = settle(_as_written([c for c in changes if c.server == here]), host)
        for change in reversed(changes):
            if change.knob not in settled.failed:
                journal.undone(change.id)
        if settled.failed:
            raise RestoreFailed("; ".join(settled.failed.values()))
        done = {change.knob for change in changes}
        if left := recorded_knobs(host):
            write_knobs([one for one in left if one.path not in done], host)
        else:
            clear(host)
    return list(settled.theirs.values())


def _as_written(changes: Sequence[Change]) -> list[Written]:
    known: dict[str, Written] = {}
    for change in changes:
        name = change.what.split()[0]
        before = known.get(change.knob) or Written(name, change.knob, change.found or "", ())
        known[change.knob] = Written(name, change.knob, before.found, (*before.ours, change.value))
    return list(known.values())
