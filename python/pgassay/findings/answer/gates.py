"""The gates of a run in words.

Enters: gates with their outcomes. Leaves: one `GateLine` per check. Never: decides an outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pgassay.analysis.gates.model import GateCheck, GateOutcome, GateResult
from pgassay.analysis.statistics.values import Interval
from pgassay.language import clauses, colon, tr
from pgassay.notes import Note
from pgassay.quantities import signed_bound

NOT_MEASURED = Note("analysis/gates/not-measured")


@dataclass(frozen=True)
class GateLine:
    """One check of a gate in words."""

    outcome: GateOutcome
    name: str
    """The gate as it was written, the level and the load, without figures; the gate alone where its
    metric was not measured."""
    sentence: str
    """The gate, what changes and by how much."""


def gate_lines(results: Sequence[GateResult]) -> Iterator[GateLine]:
    """A line for every check, gate by gate; one for a gate whose metric was not measured."""
    for result in results:
        text, limit = result.gate.text, result.gate.limit
        if not result.checks:
            said = f"{text}{colon()}{NOT_MEASURED}"
            yield GateLine(result.outcome, text, said)
        for one in result.checks:
            name = f"{text}{colon()}{_subject(one)}"
            yield GateLine(one.outcome, name, f"{text}{colon()}{check_words(one, limit)}")


def _subject(check: GateCheck) -> str:
    """The level, and the load where there are several."""
    one = check.comparison
    at = "" if one.step is None else tr(" at {load}", load=one.load)
    return f"{one.factor} = {one.level}{at}"


def check_words(check: GateCheck, limit: float) -> str:
    """Such as `wal_compression = pglz changes it by +1.2 % (95 % CI −0.3 to +2.7 %)`."""
    change, interval = change_text(check, limit), interval_text(check, limit)
    subject = _subject(check)
    words = (
        f"{subject}{colon()}{change} ({interval})"
        if check.change is None
        else tr(
            "{subject} changes it by {change} ({interval})",
            subject=subject,
            change=change,
            interval=interval,
        )
    )
    return clauses([words, reason_text(check)]) if check.reason else words


def reason_text(check: GateCheck) -> str:
    """Why it is undecided, and which change would not have been."""
    reason = str(check.reason or "")
    if check.caught_pct is None:
        return reason
    change = f"{signed_bound(round(check.caught_pct, 1), 0.0)}"
    beyond = tr("a change of {change} would fail in 9 of 10 such runs", change=change)
    return clauses([reason, beyond])


def change_text(check: GateCheck, limit: float) -> str:
    """The change with its sign and unit."""
    return tr("no change known") if check.change is None else _amount(check.change, check, limit)


def interval_text(check: GateCheck, limit: float) -> str:
    """The interval that shows the outcome: 90 % where the gate holds, else 95 %."""
    holds = check.outcome is GateOutcome.HOLDS
    interval: Interval | None = check.ci90 if holds else _own95(check)
    if interval is None:
        return tr("no interval")
    low, high = (_amount(end, check, limit) for end in interval)
    return tr("{level} % CI {low} to {high}", level=90 if holds else 95, low=low, high=high)


def _own95(check: GateCheck) -> Interval | None:
    """As every table shows it."""
    one = check.comparison
    return (one.ci95 if check.unit == "points" else one.ci95_pct) or check.ci95


def _amount(value: float, check: GateCheck, limit: float) -> str:
    text = signed_bound(value, limit)
    return text if check.unit == "%" else text.replace(" %", tr(" points"))
