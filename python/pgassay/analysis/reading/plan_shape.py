"""The shape of a plan: what two plans must share to be the same.

Enters: a plan as EXPLAIN (FORMAT JSON) gives it. Leaves: a `PlanShape`: a tree without estimates, a
fingerprint of it, indented text. Never: keeps a cost or a number of rows: they change from trial to
trial with the statistics, and the plan need not.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from pgassay.analysis.reading.plain_text import visible

_RULES = tomllib.loads((files(__package__) / "plan_shape.toml").read_text("utf-8"))
_DROPPED, _UNORDERED = frozenset(_RULES["dropped"]), frozenset(_RULES["unordered"])
_USUAL: Mapping[str, str] = _RULES["usual"]
_IN_HEADING = frozenset(_RULES["heading"])


@dataclass(frozen=True)
class PlanShape:
    """One plan without its estimates."""

    fingerprint: str
    tree: Mapping[str, Any]
    text: tuple[str, ...]
    """Lines as in the text form of EXPLAIN, and like them without markup."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The headings of its nodes, such as `Seq Scan on item`."""
        return tuple(visible(_heading(node)) for node in _every(self.tree))


def shape_of(plan: Sequence[Mapping[str, Any]]) -> PlanShape:
    """Returns the shape of the list that EXPLAIN gives for one statement; a rule may have made
    several of it."""
    found = [_one(each) for each in plan if isinstance(each.get("Plan"), Mapping)]
    tree = found[0] if len(found) == 1 else {"Node Type": "Statements", "Plans": found}
    canonical = json.dumps(tree, sort_keys=True, ensure_ascii=True)
    return PlanShape(
        hashlib.sha256(canonical.encode()).hexdigest()[:12],
        tree,
        tuple(visible(line) for line in _lines(tree, 0)),
    )


def query_id_of(plan: Sequence[Mapping[str, Any]]) -> str:
    """The statement's number in pg_stat_statements; empty where the server does not tell."""
    found = plan[0].get("Query Identifier") if plan else None
    return "" if found is None else str(found)


def _one(plan: Mapping[str, Any]) -> dict[str, Any]:
    tree = _node(plan["Plan"])
    compiled = plan.get("JIT")
    return {**tree, "JIT": compiled.get("Options")} if isinstance(compiled, Mapping) else tree


def _node(node: Mapping[str, Any]) -> dict[str, Any]:
    kept = {
        name: value
        for name, value in node.items()
        if name not in _DROPPED and name != "Plans" and value is not False
        if _USUAL.get(name) != value
    }
    if kept.get("Alias") == kept.get("Relation Name"):
        kept.pop("Alias", None)
    children = [_node(child) for child in node.get("Plans") or ()]
    if children and node.get("Node Type") in _UNORDERED:
        children.sort(key=lambda child: json.dumps(child, sort_keys=True))
    return {**kept, "Plans": children} if children else kept


def _every(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _every(child)


def _lines(node: Mapping[str, Any], depth: int) -> Iterator[str]:
    indent = "  " * depth
    named = node.get("Subplan Name")
    if named:
        yield f"{indent}{_plain(named)}"
    yield f"{indent}{'-> ' if depth else ''}{_heading(node)}"
    inner = indent + ("     " if depth else "  ")
    for name, value in node.items():
        if name not in _IN_HEADING:
            yield f"{inner}{name}: {_plain(value)}"
    for child in node.get("Plans", ()):
        yield from _lines(child, depth + 1)


def _heading(node: Mapping[str, Any]) -> str:
    """Such as `Parallel Seq Scan on item i`, `Hash Left Join`, `Update on account`."""
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
