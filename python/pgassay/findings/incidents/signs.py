"""What an incident was like, in notes: its first sign, its size, how its cause would be tested.

Enters: incidents. Leaves: notes. Never: calls a sign the cause.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.observation.incidents.model import Blocked, Incident, Incidents, Sign
from pgassay.notes import Note, Value

_RULE = "findings/incidents/signs"
_HOURS = 24.0
"""Fewer hours do not show what is usual."""


def kind_of(incident: Incident) -> Note:
    """Returns the name of an incident: that of its first sign."""
    return Note(f"{_RULE}/kind.{incident.kind}")


def sign_of(sign: Sign) -> Note:
    """Returns a sign with its figure and the usual one."""
    values: dict[str, Value] = {"value": sign.value, "usual": sign.usual, "objects": sign.objects}
    return Note(f"{_RULE}/sign.{sign.kind}", values)


def test_of(incident: Incident) -> Note:
    """Returns the experiment that would settle whether the first sign is the cause."""
    return Note(f"{_RULE}/test.{incident.kind}")


def root_of(one: Blocked) -> Note:
    """Returns what is at the root of a lock tree."""
    form = "single" if one.root_pid is not None else "several"
    root = Note.of(f"{_RULE}/root.{form}", whose=one.whose or "?", pid=one.root_pid or 0)
    return Note.of(f"{_RULE}/root.aged", root=root, age=one.root_xact_ms / 1e3)


def caveats(found: Incidents) -> Iterator[Note]:
    """Yields what makes these incidents less sure than they look."""
    yield Note.of(f"{_RULE}/caveats.associated", shortest=2.0 * found.width_s)
    hours = (found.end_ns - found.start_ns) / 3.6e12
    if not found.days:
        form = "short" if hours < _HOURS else "days"
        yield Note.of(f"{_RULE}/caveats.{form}", span=3600.0 * hours)
