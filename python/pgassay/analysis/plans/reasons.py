"""What differs between two plans, by rules that each know one kind of change.

Enters: the facts of two plans. Leaves: notes, the most telling first.
Never: says that a change is good, or that it is why a time differs.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from importlib.resources import files

from pgassay.analysis.plans.estimates import misestimates
from pgassay.analysis.plans.facts import PlanFacts, Reads, Spill, names_below
from pgassay.analysis.reading.plain_text import one_line
from pgassay.notes import Note

_NAMED = tomllib.loads((files(__package__) / "plans.toml").read_text("utf-8"))["nodes"]["named"]
_ADDED, _GONE = "analysis/plans/node-added", "analysis/plans/node-gone"
_JOINS_APART = ("analysis/plans/no-joins-by-partition", "analysis/plans/joins-by-partition")
_GROUPS_APART = ("analysis/plans/no-groups-by-partition", "analysis/plans/groups-by-partition")
"""No longer, and from now on."""
_WIDTH = 60
"""Of the names of all tables in one sentence, in characters."""


def reasons(before: PlanFacts, after: PlanFacts, *, rewritten: bool) -> tuple[Note, ...]:
    """Returns what the server does otherwise by the plan `after`; none where no rule knows it.
    `rewritten`: the text of the query may be another."""
    of_tables = _tables(before, after, rewritten)
    return (*of_tables, *(one for rule in _RULES for one in rule(before, after)))


def other_estimates(before: PlanFacts, after: PlanFacts) -> tuple[Note, ...]:
    """Returns misestimates of one plan only: what both have does not tell them apart."""
    old, new = misestimates(before.top), misestimates(after.top)
    known, now = ({one.of for one in own} for own in (old, new))
    return (
        *(one.note for one in new if one.of not in known),
        *(
            Note.of("analysis/plans/estimate-right", was=one.note)
            for one in old
            if one.of not in now
        ),
    )


def _scans(before: PlanFacts, after: PlanFacts) -> Iterator[Note]:
    for old, new in _pairs(before, after):
        how = {"before": old.scans, "after": new.scans}
        used = tuple(one for one in new.indexes if one not in old.indexes)
        left = tuple(one for one in old.indexes if one not in new.indexes)
        if old.partitions == new.partitions and used and left:
            yield Note.of("analysis/plans/other-index", table=new.table, before=left, after=used)
        elif used and not left:
            yield Note.of("analysis/plans/index-used", table=new.table, indexes=used, **how)
        elif left and not used:
            yield Note.of("analysis/plans/index-unused", table=new.table, indexes=left, **how)
        elif old.scans != new.scans:
            yield Note.of("analysis/plans/scan", table=new.table, **how)
        yield from _partitions(old, new)


def _skips(before: PlanFacts, after: PlanFacts) -> Iterator[Note]:
    for index in before.skips.keys() ^ after.skips.keys():
        skips = index in after.skips
        searches = (after if skips else before).skips[index]
        code = "analysis/plans/skips" if skips else "analysis/plans/no-skips"
        yield Note(code, {"index": index, "searches": searches})


def _pairs(before: PlanFacts, after: PlanFacts) -> list[tuple[Reads, Reads]]:
    """The tables that both read: by alias, and, as a rewritten query may have others, by name."""
    found = [
        (one, after.reads[alias]) for alias, one in before.reads.items() if alias in after.reads
    ]
    others = [one for alias, one in after.reads.items() if alias not in before.reads]
    for alias, old in before.reads.items():
        if alias not in after.reads:
            new = next((one for one in others if one.relations & old.relations), None)
            if new is not None:
                others.remove(new)
                found.append((old, new))
    return found


def _tables(before: PlanFacts, after: PlanFacts, rewritten: bool) -> Iterator[Note]:
    pairs = _pairs(before, after)
    read = frozenset[str]().union(*(one.relations for one in after.reads.values()))
    for old in before.reads.values():
        if not any(old is one for one, _ in pairs):
            needs_it_not = not rewritten and not old.relations & read
            code = "analysis/plans/table-unread" if needs_it_not else "analysis/plans/table-left"
            yield Note.of(code, table=old.table)
    for new in after.reads.values():
        if not any(new is one for _, one in pairs):
            yield Note.of("analysis/plans/table-read", table=new.table)


def _partitions(old: Reads, new: Reads) -> Iterator[Note]:
    if old.partitions != new.partitions:
        table = max(old, new, key=lambda one: one.partitions).table
        yield Note.of(
            "analysis/plans/partitions", table=table, before=old.partitions, after=new.partitions
        )


def _join_methods(before: PlanFacts, after: PlanFacts) -> Iterator[Note]:
    for joined, method in before.joins.items():
        other = after.joins.get(joined, method)
        if other != method:
            tables = one_line(", ".join(sorted(joined)), _WIDTH)
            yield Note.of("analysis/plans/join-method", before=method, after=other, tables=tables)


def _join_order(before: PlanFacts, after: PlanFacts) -> Iterator[Note]:
    old, new = before.order, after.order
    if old != new and set(names_below(before.top)) == set(names_below(after.top)):
        yield Note.of(
            "analysis/plans/join-order", before=one_line(old, _WIDTH), after=one_line(new, _WIDTH)
        )


def _by_partition(before: PlanFacts, after: PlanFacts) -> Iterator[Note]:
    old, new = before.joined_by_partition, after.joined_by_partition
    for joined in sorted(map(sorted, old ^ new)):
        tables = one_line(", ".join(joined), _WIDTH)
        yield Note.of(_JOINS_APART[frozenset(joined) in new], tables=tables)
    if before.groups_by_partition != after.groups_by_partition:
        yield Note(_GROUPS_APART[after.groups_by_partition])


def _groups(before: PlanFacts, after: PlanFacts) -> Iterator[Note]:
    if before.groups != after.groups and before.groups and after.groups:
        yield Note.of("analysis/plans/grouping", before=before.groups, after=after.groups)


def _partial_groups(before: PlanFacts, after: PlanFacts) -> Iterator[Note]:
    old, new = before.groups_in_workers, after.groups_in_workers
    if old == new or not (before.groups and after.groups):
        return
    if old and new:
        yield Note.of("analysis/plans/grouping-in-workers", before=old, after=new)
    else:
        kind = "analysis/plans/groups-in-workers"
        yield Note(kind if new else "analysis/plans/groups-after-workers")


def _parallel(before: PlanFacts, after: PlanFacts) -> Iterator[Note]:
    old, new = before.planned_workers, after.planned_workers
    if new and not old:
        yield Note.of("analysis/plans/parallel", workers=_workers(after))
    elif old and not new:
        yield Note.of("analysis/plans/not-parallel", workers=_workers(before))
    elif old != new:
        yield Note.of(
            "analysis/plans/other-workers", before=_workers(before), after=_workers(after)
        )


def _workers(of: PlanFacts) -> Note:
    if of.launched_workers is None:
        return Note.of("analysis/plans/workers", planned=of.planned_workers)
    return Note.of(
        "analysis/plans/workers-launched", planned=of.planned_workers, launched=of.launched_workers
    )


def _compiled(before: PlanFacts, after: PlanFacts) -> Iterator[Note]:
    if before.is_compiled != after.is_compiled:
        yield Note("analysis/plans/jit" if after.is_compiled else "analysis/plans/no-jit")


_SPILLS: tuple[tuple[Callable[[PlanFacts], Spill], str, str], ...] = (
    (lambda one: one.sorts, "analysis/plans/sort-spilled", "analysis/plans/sort-in-memory"),
    (lambda one: one.hashes, "analysis/plans/hash-spilled", "analysis/plans/hash-in-memory"),
    (
        lambda one: one.hashed_groups,
        "analysis/plans/groups-spilled",
        "analysis/plans/groups-in-memory",
    ),
)


def _spills(before: PlanFacts, after: PlanFacts) -> Iterator[Note]:
    for spill, spilled, in_memory in _SPILLS:
        old, new = spill(before), spill(after)
        if bool(old) != bool(new):
            one = new or old
            values = {"kilobytes": one.kilobytes, "batches": one.batches}
            yield Note(spilled if new else in_memory, values)


def _bitmaps(before: PlanFacts, after: PlanFacts) -> Iterator[Note]:
    old, new = before.lossy_pages, after.lossy_pages
    if new and not old:
        yield Note.of("analysis/plans/bitmap-lossy", pages=new)
    elif old and not new:
        yield Note.of("analysis/plans/bitmap-exact", pages=old)


def _nodes(before: PlanFacts, after: PlanFacts) -> Iterator[Note]:
    for kind in _NAMED:
        old, new = before.kinds[kind], after.kinds[kind]
        if bool(old) != bool(new):
            yield Note.of(_ADDED if new else _GONE, node=kind)


_RULES = (
    _scans,
    _skips,
    _join_methods,
    _join_order,
    _by_partition,
    _groups,
    _partial_groups,
    _parallel,
    _compiled,
    _spills,
    _bitmaps,
    _nodes,
)
