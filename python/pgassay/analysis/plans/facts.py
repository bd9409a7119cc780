"""What a plan does as a whole: what it reads, joins, groups, and how it was carried out.

Enters: the first node of a plan. Leaves: `PlanFacts`. Never: compares plans.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pgassay.analysis.reading.plain_text import visible
from pgassay.analysis.reading.plan_shape import Node, every, heading

_MEMBERS = ("Append", "Merge Append")
_MEMBER = re.compile(r"_\d+$")
_JOINS = ("Nested Loop", "Hash Join", "Merge Join")
_GROUPS = ("Group", "GroupAggregate", "HashAggregate", "MixedAggregate", "Unique")


@dataclass(frozen=True)
class Reads:
    """How one table of the statement is read; its partitions together."""

    table: str
    """With its alias, where that is another name."""
    scans: tuple[str, ...]
    indexes: tuple[str, ...]
    partitions: int
    """How many were read; 1 for a table without."""
    relations: frozenset[str]
    """The names of the table or of its partitions, which do not depend on the alias."""


@dataclass(frozen=True)
class Spill:
    """What did not fit into memory."""

    kilobytes: int = 0
    batches: int = 1

    def __bool__(self) -> bool:
        return self.kilobytes > 0 or self.batches > 1


@dataclass(frozen=True)
class PlanFacts:
    """One plan."""

    top: Node

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, from the top."""
        return tuple(every(self.top))

    @cached_property
    def kinds(self) -> Counter[str]:
        """How many nodes of each type the plan has."""
        return Counter(kind_of(node) for node in self.nodes)

    @cached_property
    def reads(self) -> Mapping[str, Reads]:
        """Alias → how its table is read."""
        found: dict[str, list[Node]] = {}
        for node, member in _walked(self.top):
            if "Relation Name" in node and kind_of(node) != "ModifyTable":
                found.setdefault(_alias(node, member), []).append(node)
        return {alias: _reads(alias, nodes) for alias, nodes in found.items()}

    @cached_property
    def skips(self) -> Mapping[str, int]:
        """Index → searches of the scans that skip through it: several in one scan without a list of
        values. Only servers from 18 on count them."""
        return {
            visible(str(node["Index Name"])): node["Index Searches"]
            for node in self.nodes
            if node.get("Index Searches", 0) > max(1, node.get("Actual Loops", 1))
            if "ANY (" not in str(node.get("Index Cond"))
        }

    @cached_property
    def order(self) -> str:
        """The order of the joins, such as `(a b) c`: the outer side first, without sub-selects."""
        return _order(self.top)

    @cached_property
    def joins(self) -> Mapping[frozenset[str], tuple[str, ...]]:
        """What is joined → by which methods: one, unless partitions are joined by themselves."""
        found: dict[frozenset[str], set[str]] = {}
        for node, member in _walked(self.top):
            if kind_of(node) in _JOINS:
                found.setdefault(frozenset(names_below(node, member)), set()).add(kind_of(node))
        return {joined: tuple(sorted(kinds)) for joined, kinds in found.items()}

    @cached_property
    def joined_by_partition(self) -> frozenset[frozenset[str]]:
        """What is joined partition by partition."""
        joins = Counter(
            frozenset(names_below(node, member))
            for node, member in _walked(self.top)
            if member and kind_of(node) in _JOINS
        )
        return frozenset(joined for joined, times in joins.items() if times > 1)

    @cached_property
    def groups_by_partition(self) -> bool:
        """Whether the rows of each partition are grouped by themselves."""
        return sum(member and _is_group(node) for node, member in _walked(self.top)) > 1

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The strategies of grouping, sorted."""
        return _groups(self.nodes, "Simple", "Finalize")

    @cached_property
    def groups_in_workers(self) -> tuple[str, ...]:
        """The strategies by which parallel workers group what each of them reads, sorted."""
        gathers = (node for node in self.nodes if kind_of(node).startswith("Gather"))
        return _groups((one for node in gathers for one in every(node)), "Partial")

    @cached_property
    def planned_workers(self) -> int:
        """How many parallel workers were planned."""
        return sum(node.get("Workers Planned", 0) for node in self.nodes)

    @cached_property
    def launched_workers(self) -> int | None:
        """How many of them were started; None where the plan was not executed."""
        found = [node["Workers Launched"] for node in self.nodes if "Workers Launched" in node]
        return sum(found) if found else None

    @property
    def is_compiled(self) -> bool:
        """Whether parts of it were compiled (JIT)."""
        return bool(self.top.get("JIT"))

    @cached_property
    def sorts(self) -> Spill:
        """What sorts wrote to disk, with those of workers."""
        own = [each for node in self.nodes for each in (node, *node.get("Workers", ()))]
        disk = [each for each in own if each.get("Sort Space Type") == "Disk"]
        groups = [
            node[name].get("Sort Space Disk", {}).get("Peak Sort Space Used", 0)
            for node in self.nodes
            for name in ("Full-sort Groups", "Pre-sorted Groups")
            if name in node
        ]
        return Spill(sum(each.get("Sort Space Used", 0) for each in disk) + sum(groups))

    @cached_property
    def lossy_pages(self) -> int:
        """How many pages were read whole, as a bitmap of their rows did not fit into memory."""
        return sum(node.get("Lossy Heap Blocks", 0) for node in self.nodes)

    @cached_property
    def hashes(self) -> Spill:
        """In how many batches hash tables of joins were made, the largest."""
        return Spill(batches=max((node.get("Hash Batches", 1) for node in self.nodes), default=1))

    @cached_property
    def hashed_groups(self) -> Spill:
        """What hash tables of groups wrote to disk."""
        return Spill(sum(node.get("Disk Usage", 0) for node in self.nodes))


def kind_of(node: Node) -> str:
    """The type of a node."""
    return str(node.get("Node Type", "?"))


def names_below(node: Node, member: bool = False) -> Iterator[str]:
    """Yields the aliases of what a node reads, in the order of its children; a table of several
    partitions once, and nothing of sub-selects. `member`: of one of several partitions, whose alias
    has a number behind that of the table."""
    children = [child for child in node.get("Plans", ()) if "Subplan Name" not in child]
    if kind_of(node) in _MEMBERS:
        yield from _first(names_below(one, member=True) for one in children)
        return
    reads = "Relation Name" in node and kind_of(node) != "ModifyTable"
    if reads or (kind_of(node).endswith(" Scan") and not children and "Alias" in node):
        yield _alias(node, member)
    for child in children:
        yield from names_below(child, member)


def _order(node: Node, member: bool = False) -> str:
    children = [child for child in node.get("Plans", ()) if "Subplan Name" not in child]
    if kind_of(node) in _MEMBERS:
        return next((_order(child, member=True) for child in children), "")
    parts = [_order(child, member) for child in children]
    order = " ".join(filter(None, parts)) or " ".join(names_below(node, member))
    return f"({order})" if kind_of(node) in _JOINS else order


def _alias(node: Node, member: bool) -> str:
    alias = visible(str(node.get("Alias", node.get("Relation Name"))))
    return _MEMBER.sub("", alias) if member else alias


def _groups(nodes: Iterable[Node], *modes: str) -> tuple[str, ...]:
    """The strategies of those that group in one of these modes, each once."""
    return tuple(
        sorted(
            {
                heading(node).removeprefix("Finalize ").removeprefix("Partial ")
                for node in nodes
                if _is_group(node) and node.get("Partial Mode", "Simple") in modes
            }
        )
    )


def _is_group(node: Node) -> bool:
    return heading(node).removeprefix("Finalize ").removeprefix("Partial ") in _GROUPS


def _first(several: Iterator[Iterator[str]]) -> Iterator[str]:
    return next(several, iter(()))


def _walked(node: Node, member: bool = False) -> Iterator[tuple[Node, bool]]:
    """All nodes, from the top, each with whether it is of one of several partitions, however far
    below what appends them."""
    yield node, member
    for child in node.get("Plans", ()):
        within = member or kind_of(node) in _MEMBERS
        yield from _walked(child, within and "Subplan Name" not in child)


def _reads(alias: str, nodes: list[Node]) -> Reads:
    table = visible(str(nodes[0]["Relation Name"]))
    partitioned = len(nodes) > 1
    indexes = {visible(str(one["Index Name"])) for node in nodes for one in _of_scan(node)}
    return Reads(
        alias if partitioned or alias == table else f"{table} {alias}",
        tuple(sorted({kind_of(node) for node in nodes})),
        tuple(sorted(indexes)),
        sum(node.get("Actual Loops") != 0 for node in nodes),
        frozenset(visible(str(node["Relation Name"])) for node in nodes),
    )


def _of_scan(node: Node) -> Iterator[Node]:
    """The nodes of a scan that name an index."""
    if "Index Name" in node:
        yield node
    for child in node.get("Plans", ()):
        if kind_of(child) in ("Bitmap Index Scan", "BitmapAnd", "BitmapOr"):
            yield from _of_scan(child)
