"""How two plans of a statement differ.

Enters: nothing. Leaves: frozen values. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgassay.notes import Note


@dataclass(frozen=True)
class PlanSide:
    """One of two plans that differ."""

    text: tuple[str, ...]
    """Its lines as in the text form of EXPLAIN, without costs; with estimated and actual rows and
    blocks where it was executed."""
    differs_at: int | None
    """The place in `text` of the first node that differs; None where all nodes are the same."""
    misestimates: tuple[Note, ...] = ()
    """Where an estimate of rows is far from what was found, at the nodes where that begins."""


@dataclass(frozen=True)
class PlanChange:
    """How the plan of a level differs from that of the baseline."""

    same_nodes: bool
    """Whether nodes, conditions, indexes and planned workers are the same, so that only what the
    server did with them differs: it used a file for a sort, or started fewer workers."""
    reasons: tuple[Note, ...]
    """What differs, the most telling first; none where no rule knows it."""
    baseline: PlanSide
    level: PlanSide
