"""The shape of a plan: what two plans must share to be the same.

Enters: a plan as EXPLAIN (FORMAT JSON) gives it, with ANALYZE or without. Leaves: a `PlanShape`: a
tree without figures, a fingerprint of it, indented text; nodes and their lines. Never: keeps a cost
or a number of rows in a shape: they change from trial to trial, and the plan need not.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from pgassay.analysis.reading.plain_text import visible

_RULES = tomllib.loads((files(__package__) / "plan_shape.toml").read_text("utf-8"))
_DROPPED, _UNORDERED = frozenset(_RULES["dropped"]), frozenset(_RULES["unordered"])
_DROPPED_FROM = tuple(_RULES["dropped_from"])
_USUAL: Mapping[str, str] = _RULES["usual"]
_IN_HEADING = frozenset(_RULES["heading"])
_SAME = [(re.compile(one["pattern"]), str(one["written"])) for one in _RULES["same"]]
Node = Mapping[str, Any]
"""One node of a plan with those below it in `Plans`: as EXPLAIN gives it, or of a shape's tree."""


@dataclass(frozen=True)
class PlanShape:
    """One plan without its estimates."""

    fingerprint: str
    tree: Node
    text: tuple[str, ...]
    """Lines as in the text form of EXPLAIN, and like them without markup."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The headings of its nodes, such as `Seq Scan on item`."""
        return tuple(map(heading, every(self.tree)))


def shape_of(plan: Sequence[Mapping[str, Any]]) -> PlanShape:
    """Returns the shape of the list that EXPLAIN gives for one statement."""
    tree = _without_figures(top_of(plan))
    return PlanShape(
        hashlib.sha256(compared(tree).encode()).hexdigest()[:12],
        tree,
        tuple(line for _, line in lines_of(tree)),
    )


def top_of(plan: Sequence[Mapping[str, Any]]) -> Node:
    """Returns the first node of a plan with all that EXPLAIN says of it, members without an order
    in one that is always the same; a rule may have made several plans of one statement."""
    found = [_top(each) for each in plan if isinstance(each.get("Plan"), Mapping)]
    return found[0] if len(found) == 1 else {"Node Type": "Statements", "Plans": found}


def compared(node: Node, *, alone: bool = False) -> str:
    """Returns the text by which nodes are compared, of all versions; `alone`: without those below
    it, and without JIT, which is of the whole plan."""
    tree = _without_figures(node)
    left_out = ("Plans", "JIT") if alone else ()
    text = json.dumps({name: tree[name] for name in tree if name not in left_out}, sort_keys=True)
    for pattern, written in _SAME:
        text = pattern.sub(written, text)
    return text


def query_id_of(plan: Sequence[Mapping[str, Any]]) -> str:
    """The statement's number in pg_stat_statements; empty where the server does not tell."""
    found = plan[0].get("Query Identifier") if plan else None
    return "" if found is None else str(found)


def every(node: Node) -> Iterator[Node]:
    """Yields a node and all below it, from the top."""
    yield node
    for child in node.get("Plans", ()):
        yield from every(child)


def lines_of(
    node: Node, measured: Callable[[Node], Iterable[str]] = lambda _: (), depth: int = 0
) -> Iterator[tuple[Node, str]]:
    """Yields the lines of a plan, each with its node; `measured` yields more lines of a node."""
    kept = _kept(node)
    indent = "  " * depth
    named = kept.get("Subplan Name")
    if named:
        yield node, visible(f"{indent}{_plain(named)}")
    yield node, f"{indent}{'-> ' if depth else ''}{heading(node)}"
    inner = indent + ("     " if depth else "  ")
    said = (f"{name}: {_plain(value)}" for name, value in kept.items() if name not in _IN_HEADING)
    for line in (*said, *measured(node)):
        yield node, visible(f"{inner}{line}")
    for child in node.get("Plans", ()):
        yield from lines_of(child, measured, depth + 1)


def heading(node: Node) -> str:
    """The first line of a node, such as `Parallel Seq Scan on item i` or `Update on account`."""
    return visible(_heading(_kept(node)))


def _top(plan: Mapping[str, Any]) -> Node:
    top, compiled = _ordered(plan["Plan"]), plan.get("JIT")
    return {**top, "JIT": compiled.get("Options")} if isinstance(compiled, Mapping) else top


def _ordered(node: Node) -> Node:
    children = [_ordered(child) for child in node.get("Plans") or ()]
    if children and node.get("Node Type") in _UNORDERED:
        children.sort(key=compared)
    return {**node, "Plans": children} if children else node


def _without_figures(node: Node) -> Node:
    children = [_without_figures(child) for child in node.get("Plans", ())]
    return {**_kept(node), "Plans": children} if children else _kept(node)


def _kept(node: Node) -> dict[str, Any]:
    """What is said of a node itself, without estimates and what was measured."""
    kept = {
        name: value
        for name, value in node.items()
        if name not in _DROPPED and name != "Plans" and value is not False
        if _USUAL.get(name) != value and not name.startswith(_DROPPED_FROM)
    }
    if kept.get("Alias") == kept.get("Relation Name"):
        kept.pop("Alias", None)
    return kept


def _heading(node: Node) -> str:
    kind = str(node.get("Node Type", "?"))
    words = []
    if kind == "ModifyTable":
        words.append(str(node.get("Operation", kind)))
    else:
        words += ["Parallel"] if node.get("Parallel Aware") else []
        words += [str(node["Partial Mode"])] if "Partial Mode" in node else []
        words.append(_RULES["strategies"].get(f"{kind}/{node.get('Strategy')}", kind))
    text = " ".join(words)
    join = node.get("Join Type")
    if join is not None:
        text = f"{text.removesuffix(' Join')} {join} Join"
    if node.get("Scan Direction"):
        text += f" {node['Scan Direction']}"
    if "Index Name" in node:
        text += f" {'on' if kind == 'Bitmap Index Scan' else 'using'} {node['Index Name']}"
    thing = next(
        (node[key] for key in ("Relation Name", "Function Name", "CTE Name") if key in node), None
    )
    if thing is not None:
        schema = f"{node['Schema']}." if "Schema" in node else ""
        text += f" on {schema}{thing}"
    alias = node.get("Alias")
    return f"{text} {alias}" if alias is not None and alias != thing else text


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_plain(one) for one in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(one)}" for name, one in value.items())
    return str(value)
