"""What a profile leaves.

Enters: nothing. Leaves: the value `Profile`. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pgassay.language import Message
from pgassay.notes import Note

Kind = Literal["cpu", "off-cpu"]
TITLES: dict[Kind, str] = {"cpu": "CPU time", "off-cpu": "Time spent waiting"}

COST = Message(
    "the server's own processes pay more: as measured, a transaction at full speed took up to a"
    " third more CPU time at 99 Hz (docs/profiles.md)"
)
"""Said beside what perf itself used."""

INLINE = "-inline.svg"
"""The ending of a drawing without a script, for a page."""


def difference_stem(baseline: str, arm: str, kind: str) -> str:
    """Returns the name of the files of a difference, without their ending."""
    return f"{baseline}-{arm}.{kind}"


@dataclass(frozen=True)
class Profile:
    """Where a server's processes spent their time, by stack."""

    kind: Kind
    stacks: str
    """Folded: frames from the outermost on, joined by `;`, a blank, a weight."""
    unit_ns: float
    """The nanoseconds that one weight stands for."""
    started_ns: int
    seconds: float
    """From the first sample to the last."""
    samples: int
    unnamed: int
    """Samples in a function without a name."""
    cut_off: int
    """Samples whose stack was longer than the copy of it."""
    perf_cpu_s: float
    """CPU time of perf itself meanwhile."""
    transactions: float | None = None
    """Of the load, in these seconds; of all databases where there is no load of ours."""
    notes: tuple[Note, ...] = ()

    @property
    def ns(self) -> float:
        """The time that the stacks of the profile stand for, in nanoseconds."""
        return sum(weight for _, weight in self.each_stack()) * self.unit_ns

    def each_stack(self) -> list[tuple[list[str], int]]:
        """Iterates over the stacks: frames from the outermost on, and the weight."""
        parts = (line.rpartition(" ") for line in self.stacks.splitlines())
        return [(stack.split(";"), int(weight)) for stack, _, weight in parts]
