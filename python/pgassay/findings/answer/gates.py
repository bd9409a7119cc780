"""What is said of the gates of a run.

Enters: gates with their outcomes. Leaves: one `GateLine` per check, and its parts. Never: decides
an outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pgassay.analysis.gates.model import GateCheck, GateOutcome, GateResult
from pgassay.analysis.statistics.values import Interval
from pgassay.findings.wording import change
from pgassay.notes import Note
from pgassay.plan.steps import at_load

_RULE = "findings/answer/gates"
NOT_MEASURED = Note("analysis/gates/not-measured")


@dataclass(frozen=True)
class GateLine:
    """What is said of one check of a gate."""

    outcome: GateOutcome
    name: Note | str
    """The gate as it was written, the level and the load, without figures; the gate alone where its
    metric was not measured."""
    sentence: Note
    """The gate, what changes and by how much."""


def gate_lines(results: Sequence[GateResult]) -> Iterator[GateLine]:
    """Yields a line for every check, gate by gate; one for a gate without a measured metric."""
    for result in results:
        gate, limit = result.gate.text, result.gate.limit
        if not result.checks:
            said = Note.of(f"{_RULE}/sentence", gate=gate, said=NOT_MEASURED)
            yield GateLine(result.outcome, gate, said)
        for one in result.checks:
            own = one.written(result.gate)
            name = Note.of(f"{_RULE}/name", gate=own, subject=_subject(one))
            said = Note.of(f"{_RULE}/sentence", gate=own, said=claim_of(one, limit))
            yield GateLine(one.outcome, name, said)


def _subject(check: GateCheck) -> Note:
    """The level, and the load where there are several."""
    one = check.comparison
    return Note.of(
        f"{_RULE}/subject", factor=one.factor, level=one.level, at=at_load(one.step, one.step_unit)
    )


def claim_of(check: GateCheck, limit: float) -> Note:
    """Returns what a check found, such as `wal_compression = pglz changes it by +1.2 %`, with its
    interval."""
    claim = Note.of(
        f"{_RULE}/check.{'unknown' if check.change is None else 'changes'}",
        subject=_subject(check),
        change=change_of(check, limit),
        interval=interval_of(check, limit),
    )
    reason = reason_of(check) if check.reason else None
    return claim if reason is None else Note.of(f"{_RULE}/several", said=(claim, reason))


def reason_of(check: GateCheck) -> Note | None:
    """Returns why a check is undecided, and which change would not have been."""
    if check.caught_pct is None:
        return check.reason
    caught = Note.of(f"{_RULE}/check.caught", change=change(round(check.caught_pct, 1)))
    return Note.of(f"{_RULE}/several", said=(check.reason or "", caught))


def change_of(check: GateCheck, limit: float) -> Note:
    """Returns the change with its sign and unit."""
    if check.change is None:
        return Note(f"{_RULE}/check.no_change")
    return change(check.change, limit, in_points=check.unit == "points")


def interval_of(check: GateCheck, limit: float) -> Note:
    """Returns the interval that shows the outcome: 90 % where the gate holds, else 95 %."""
    holds, in_points = check.outcome is GateOutcome.HOLDS, check.unit == "points"
    interval: Interval | None = check.ci90 if holds else _own95(check)
    if interval is None:
        return Note(f"{_RULE}/check.no_interval")
    low, high = (change(end, limit, in_points=in_points) for end in interval)
    return Note.of(f"{_RULE}/check.interval", level=90 if holds else 95, low=low, high=high)


def _own95(check: GateCheck) -> Interval | None:
    """As every table shows it."""
    one = check.comparison
    return (one.ci95 if check.unit == "points" else one.ci95_pct) or check.ci95
