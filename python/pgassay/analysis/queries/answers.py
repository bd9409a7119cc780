"""Queries whose answers are not the same: in executions of one arm, or in one arm and another.

Enters: how many rows each execution returned; of rewritten queries what their rows come to. Leaves:
caveats that name the queries. Never: sees what is in the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pgassay.analysis.measures.model import Caveat, TrialQueries
from pgassay.notes import Note
from pgassay.plan.model import Plan

_MOST_NAMED = 5
Rows = Mapping[int, tuple[int, ...]]
"""Execution → how many rows it returned."""


def answer_caveats(plan: Plan, trials: Sequence[TrialQueries]) -> Iterator[Caveat]:
    """Yields a caveat on queries whose rows differ between arms, and one on those whose rows vary
    by themselves, of which nothing is said between arms; neither of rows that are other ones."""
    queries = sorted({name for one in trials for name in one.rows})
    if plan.queries is None or not queries:
        return
    with_values = plan.queries.parameters
    varying = {
        name: found
        for name in queries
        if (found := _varying([one.rows.get(name, {}) for one in trials], name in with_values))
    }
    differing = {
        name: rows
        for name in queries
        if name not in varying and (rows := _differing(plan, trials, name))
    }
    for name, counts in list(differing.items())[:_MOST_NAMED]:
        by_arm = tuple(
            Note.of("analysis/queries/rows-of-arm", n=rows, label=label)
            for label, rows in counts.items()
        )
        note = Note.of("analysis/queries/other-rows", query=name, by_arm=by_arm)
        yield Caveat.of("other-rows", note)
    if len(differing) > _MOST_NAMED:
        names = tuple(list(differing)[_MOST_NAMED:])
        note = Note.of("analysis/queries/more-other-rows", n=len(names), names=names)
        yield Caveat.of("other-rows", note)
    others = tuple(
        name
        for name in queries
        if name not in varying and name not in differing and _contents_differ(trials, name)
    )
    if others:
        note = Note.of("analysis/queries/other-answers", n=len(others), names=others)
        yield Caveat.of("other-answers", note)
    if varying:
        said = tuple(
            Note.of("analysis/queries/rows-between", query=name, least=rows[0], most=rows[-1])
            for name, rows in varying.items()
        )
        note = Note.of("analysis/queries/rows-vary", n=len(said), queries=said)
        yield Caveat.of("rows-vary", note)


def answers_differ(plan: Plan, trials: Sequence[TrialQueries], query: str) -> bool:
    """Returns whether arms of these trials are known to differ in the number of rows that a query
    returned, or in the rows."""
    own = [one.rows[query] for one in trials if query in one.rows]
    if plan.queries is None or _varying(own, query in plan.queries.parameters):
        return False
    return bool(_differing(plan, trials, query)) or _contents_differ(trials, query)


def _varying(trials: Iterable[Rows], has_values: bool) -> list[int]:
    """The numbers of rows of a trial in which they vary; executions with other values may."""
    for rows in trials:
        executions = [set(counts) for counts in rows.values()]
        groups = executions if has_values or not executions else [set.union(*executions)]
        for counts in groups:
            if len(counts) > 1:
                return sorted(counts)
    return []


def _differing(plan: Plan, trials: Sequence[TrialQueries], query: str) -> dict[str, int]:
    """Label of an arm → rows, of the first execution in which arms of a block differ."""
    blocks: dict[int, dict[str, Rows]] = {}
    for one in trials:
        if query in one.rows:
            blocks.setdefault(one.block, {})[plan.arm(one.arm).label] = one.rows[query]
    for arms in blocks.values():
        for execution in next(iter(arms.values())):
            counts = {label: own[execution][0] for label, own in arms.items() if execution in own}
            if len(set(counts.values())) > 1:
                return {arm.label: counts[arm.label] for arm in plan.arms if arm.label in counts}
    return {}


def _contents_differ(trials: Iterable[TrialQueries], query: str) -> bool:
    """Whether each arm had one answer in several trials, and not all arms the same."""
    by_arm: dict[str, list[str]] = {}
    for one in trials:
        if query in one.answers:
            by_arm.setdefault(one.arm, []).append(one.answers[query])
    steady = all(len(own) > 1 == len(set(own)) for own in by_arm.values())
    return steady and len({own[0] for own in by_arm.values()}) > 1
