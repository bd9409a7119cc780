"""Where the planner's estimates of rows are far from what was found.

Enters: the first node of a plan that was executed. Leaves: misestimates, each of the node where it
begins. Never: takes for an error that a node was not asked for all of its rows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files

from pgassay.analysis.plans.facts import kind_of, names_below
from pgassay.analysis.reading.plan_shape import Node, heading
from pgassay.notes import Note

_LIMITS = tomllib.loads((files(__package__) / "plans.toml").read_text("utf-8"))["estimates"]
_PARTLY, _REREAD = frozenset(_LIMITS["ask_for_a_part"]), frozenset(_LIMITS["read_again"])
_SAYS_NOTHING = frozenset(_LIMITS["say_nothing"])


@dataclass(frozen=True)
class Misestimate:
    """One node whose rows were estimated wrongly, of whose input none were."""

    of: frozenset[str]
    """The aliases that it reads, by which it is known in another plan."""
    node: str
    estimated: float
    """Rows of one loop, as `actual`."""
    actual: float

    @property
    def note(self) -> Note:
        """What is said of it."""
        values: Mapping[str, float] = {"estimated": self.estimated, "actual": self.actual}
        return Note.of("analysis/plans/misestimate", node=self.node, **values)


def misestimates(top: Node) -> tuple[Misestimate, ...]:
    """Returns those of a plan in its order; none where it was not executed."""
    return tuple(_of(top, asked_for_all=True, read_once=True))


def _of(node: Node, *, asked_for_all: bool, read_once: bool) -> Iterator[Misestimate]:
    kind = kind_of(node)
    children = list(node.get("Plans", ()))
    below: list[Misestimate] = []
    for child in children:
        # What a sort or a hash table takes from below it is read to the end, whoever asks.
        whole = kind in _LIMITS["ask_for_all"] or (asked_for_all and kind not in _PARTLY)
        own = "Subplan Name" not in child and whole
        once = read_once and not (kind in _REREAD and child is children[-1])
        below += _of(child, asked_for_all=own, read_once=once)
    yield from below
    if below or kind in _SAYS_NOTHING or not node.get("Actual Loops"):
        return
    estimated, actual = float(node.get("Plan Rows", 0)), float(node.get("Actual Rows", 0))
    lower, upper = sorted((max(estimated, 1.0), max(actual, 1.0)))
    is_exact = read_once if actual > estimated else asked_for_all
    if (
        is_exact
        and upper >= _LIMITS["times"] * lower
        and upper * node["Actual Loops"] >= _LIMITS["rows"]
    ):
        yield Misestimate(frozenset(names_below(node)), heading(node), estimated, actual)
