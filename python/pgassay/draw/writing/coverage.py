"""How much of the source's load a drawn workload has.

Enters: a `Drawing`. Leaves: shares of calls and of execution time, the largest losses.
Never: judges whether that is enough.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from pgassay.draw.model import Drawing, DrawnScenario, Lost
from pgassay.notes import Note

_LARGEST = 3


@dataclass(frozen=True)
class Coverage:
    """What of the statements that the source ran is in scenarios."""

    calls: int
    """Of all statements, drawn or lost."""
    time_ms: float
    """Their execution time."""
    drawn_calls: int
    drawn_ms: float

    @property
    def calls_share(self) -> float:
        """The share of calls that scenarios have, 0 to 1."""
        return self.drawn_calls / self.calls if self.calls else 0.0

    @property
    def time_share(self) -> float:
        """The share of the execution time; of calls where no time is known."""
        return self.drawn_ms / self.time_ms if self.time_ms else self.calls_share

    def share_of(self, time_ms: float) -> float:
        """Returns the share that a part has of the execution time, 0 to 1."""
        return time_ms / self.time_ms if self.time_ms else 0.0


def coverage_of(drawing: Drawing) -> Coverage:
    """Adds up calls and times of what was drawn and of what was lost."""
    figures = [one.figures for scenario in drawing.scenarios for one in scenario.statements]
    calls = sum(one.calls for one in figures)
    time_ms = sum(one.time_ms for one in figures)
    return Coverage(
        calls + sum(one.calls for one in drawing.lost),
        time_ms + sum(one.time_ms for one in drawing.lost),
        calls,
        time_ms,
    )


def time_of(scenario: DrawnScenario) -> float:
    """Returns the execution time (ms) of a scenario's statements on the source."""
    return sum(one.figures.time_ms for one in scenario.statements)


def largest_losses(drawing: Drawing) -> list[Lost]:
    """Returns the statements that were lost with the most time, the longest first."""
    return sorted(drawing.lost, key=lambda one: (-one.time_ms, -one.calls))[:_LARGEST]


def losses_by_reason(drawing: Drawing) -> dict[str, list[Lost]]:
    """Returns what was lost by the code of its reason; the reason with the most time first."""
    found: dict[str, list[Lost]] = defaultdict(list)
    for one in sorted(drawing.lost, key=lambda one: (-one.time_ms, -one.calls)):
        found[one.reason].append(one)
    return dict(sorted(found.items(), key=lambda item: -sum(one.time_ms for one in item[1])))


def note_of_code(code: str, **values: object) -> Note:
    """Makes the note of a code of draw/notes.toml, with or without the name of the room."""
    return Note(code if "/" in code else f"draw/{code}", values)  # type: ignore[arg-type]
