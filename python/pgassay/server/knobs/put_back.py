"""Putting knobs of a host back, at the end of a run or after it was killed.

Enters: changes of knobs, as they were journaled. Leaves: the knobs as they were found, or a
sentence for each that is not. Never: overwrites a value that the run did not write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pgassay.errors import RestoreFailed, TargetError
from pgassay.server.change import KnobChange
from pgassay.server.hosts.host import Host, host_identity
from pgassay.server.hosts.local import HERE
from pgassay.server.knobs.knob_files import find_knob, knob_of, locked
from pgassay.server.protocol import Journal
from pgassay.server.undo.change_record import forget
from pgassay.server.undo.undo_sql import undo_text
from pgassay.spec.server.host_knobs import partner_of


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
        raise RestoreFailed(
            f"this run changed knobs of {changes[0].server.split()[0]}; recover it on that host"
        )
    with locked(host):
        # The kernel's values do not outlive a boot.
        outcome = put_back([change for change in changes if change.server == here], host)
        for change in reversed(changes):
            if change.path not in outcome.failed:
                forget(change.server, change.id)
                journal.undone(change.id)
    if outcome.failed:
        raise RestoreFailed("; ".join(outcome.failed.values()))
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
