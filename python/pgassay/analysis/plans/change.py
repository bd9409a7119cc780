"""How the plan of a level differs from that of its baseline.

Enters: the first nodes of two plans of a statement. Leaves: a `PlanChange`, or None.
Never: judges which plan is better.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.plans.estimates import misestimates
from pgassay.analysis.plans.facts import PlanFacts
from pgassay.analysis.plans.model import PlanChange, PlanSide
from pgassay.analysis.plans.reasons import other_estimates, reasons
from pgassay.analysis.reading.plain_text import visible
from pgassay.analysis.reading.plan_shape import Node, compared, heading, lines_of
from pgassay.notes import Note

_BLOCKS = {
    "Shared Hit Blocks": "hit",
    "Shared Read Blocks": "read",
    "Shared Dirtied Blocks": "dirtied",
    "Temp Read Blocks": "temporary read",
    "Temp Written Blocks": "temporary written",
}


def plan_change(before: Node, after: Node, *, rewritten: bool = False) -> PlanChange | None:
    """Compares two plans by their first nodes (`top_of` an answer of EXPLAIN, or a shape's tree);
    `rewritten`: the text of the query may be another.

    Returns None where the server did the same in both.
    """
    nodes = _first_difference(before, after)
    if nodes is None and compared(before) != compared(after):
        nodes = before, after  # JIT, which is of the whole plan
    both = PlanFacts(before), PlanFacts(after)
    found = reasons(*both, rewritten=rewritten)
    if nodes is None and not found:
        return None
    if nodes is not None and not found and heading(nodes[0]) == heading(nodes[1]):
        found = (_conditions(*nodes),)
    if nodes is not None:
        found += other_estimates(*both)
    old, new = nodes or (None, None)
    return PlanChange(nodes is None, found, _side(before, old), _side(after, new))


def _conditions(one: Node, other: Node) -> Note:
    """What differs between two nodes of one kind that no rule of whole plans knows."""
    keys = [", ".join(map(visible, node.get("Sort Key", ()))) for node in (one, other)]
    if keys[0] != keys[1]:
        return Note.of("analysis/plans/sort-key", before=keys[0], after=keys[1])
    return Note.of("analysis/plans/conditions", node=heading(other))


def _first_difference(one: Node, other: Node) -> tuple[Node, Node] | None:
    """The first nodes from the top that are not the same, or whose numbers of children differ."""
    children, others = one.get("Plans", ()), other.get("Plans", ())
    if len(children) != len(others) or compared(one, alone=True) != compared(other, alone=True):
        return one, other
    pairs = (_first_difference(*pair) for pair in zip(children, others, strict=True))
    return next((pair for pair in pairs if pair is not None), None)


def _side(top: Node, differs: Node | None) -> PlanSide:
    lines = list(lines_of(top, _measured))
    return PlanSide(
        tuple(line for _, line in lines),
        next((at for at, (node, _) in enumerate(lines) if node is differs), None),
        tuple(one.note for one in misestimates(top)),
    )


def _measured(node: Node) -> Iterator[str]:
    """What was measured of a node, in lines like those of EXPLAIN; blocks are with those below."""
    if "Actual Loops" not in node:
        return
    loops = node["Actual Loops"]
    rows = f"{node.get('Actual Rows', 0):g}" if loops else "never executed"
    again = f", {loops} loops" if loops > 1 else ""
    yield f"Rows: {rows} ({node.get('Plan Rows', 0)} estimated){again}"
    blocks = [f"{node[name]} {said}" for name, said in _BLOCKS.items() if node.get(name)]
    if blocks:
        yield f"Blocks: {', '.join(blocks)}"
    if node.get("Sort Space Type") == "Disk" or node.get("Disk Usage"):
        yield f"Disk: {node.get('Sort Space Used') or node['Disk Usage']} kB"
    if node.get("Hash Batches", 1) > 1:
        yield f"Batches: {node['Hash Batches']}"
    if "Workers Launched" in node:
        yield f"Workers Launched: {node['Workers Launched']}"
