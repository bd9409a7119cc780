"""The order of executions in a session, and their times.

Enters: queries as each arm sends them, a session, a seed. Leaves: an `Execution` each. Never: uses
the system's randomness: the arms of a block have the same order and the same values of parameters.

A query's executions of a pass follow each other, after one that does not count, so that its pages
are in the caches whatever ran before it: values that are stored apart from their row, too, which
EXPLAIN reads from version 17 on, and before only a plain execution. A short query has several
passes, for what slows a session down, such as the processor that its process is on, lasts for
seconds. The order of queries is random in each. Where a session has several arms each query is run
in all of them, in random order, before it is run again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pgassay.plan.orders import permuted
from pgassay.server.statements import statement
from pgassay.spec.load.of_queries import passes_of
from pgassay.trials.load.query_set.session import Executed, QuerySession, condition_of
from pgassay.trials.load.query_set.texts import SentQuery

Values = Mapping[str, bytes | None]
"""The values of variables in one execution."""


@dataclass(frozen=True)
class ArmQueries:
    """The queries of one arm, and the settings that its transactions have."""

    arm: str
    queries: Mapping[str, SentQuery]
    settings: Mapping[str, str] = field(default_factory=dict)
    hides: bytes = b""
    """SQL that its transactions begin with, so that they are without the indexes of other arms."""


@dataclass(frozen=True, slots=True)
class Execution:
    """One execution of a query."""

    query: str
    arm: str
    repeat: int
    """From 1; 0 where it does not count."""
    found: Executed
    is_explained: bool = False
    pid: int = 0
    """The server's process of its session."""

    @property
    def failed(self) -> bool:
        """Whether it failed."""
        return bool(self.found.sqlstate)

    @property
    def ms(self) -> float:
        """How long it took, in milliseconds."""
        return (self.found.ended_ns - self.found.began_ns) / 1e6


@dataclass(frozen=True)
class _Round:
    """One execution of a query in each arm."""

    repeat: int
    """0 where it does not count."""
    explained: str = ""
    """The statement that explains it; empty for a plain execution."""
    with_answer: bool = False


def run_session(
    session: QuerySession,
    arms: Sequence[ArmQueries],
    *,
    repeats: Mapping[str, int],
    is_warm: bool,
    rows: Mapping[str, Sequence[Values]],
    seed: str,
    answers: Collection[str],
    explains_output: bool,
    report: Callable[[Execution], bool],
) -> None:
    """Runs every query in all arms; `report` gets each execution and says whether to go on. `rows`
    are the values of the parameters of each execution of a query; the first does not count, and the
    last is that of the executions whose answer is taken, of the queries in `answers`.
    `explains_output`: EXPLAIN reads what sending the rows reads."""
    source = random.Random(seed)
    failed: set[tuple[str, str]] = set()
    passes = {name: passes_of(repeats[name]) for name in arms[0].queries}
    for name, at in _order(passes, source):
        first, last = (repeats[name] * edge // passes[name] for edge in (at, at + 1))
        counted = [_Round(number) for number in range(first + 1, last + 1)]
        explained = "explain_query_output" if explains_output else "explain_query"
        others = [_Round(0, explained)]
        is_explained = any(arm.queries[name].is_explained for arm in arms)
        if name in answers or (is_warm and is_explained and not explains_output):
            others.append(_Round(0, with_answer=name in answers))
        if at:
            others = [_Round(0)]
        given: Sequence[Values] = rows.get(name, [{}] * (repeats[name] + 2))
        for one in [*others, *counted] if is_warm else [*counted, *others]:
            for arm in permuted(arms, source):
                if (name, arm.arm) in failed:
                    continue
                done = _execute(session, arm, name, one, given)
                if done.failed:
                    failed.add((name, arm.arm))
                if not report(done) or session.is_lost:
                    return


def _order(passes: Mapping[str, int], source: random.Random) -> Iterator[tuple[str, int]]:
    """Yields the queries of one pass after the other, with its number from 0."""
    for at in range(max(passes.values())):
        yield from ((name, at) for name in permuted([*passes], source) if at < passes[name])


def _execute(
    session: QuerySession, arm: ArmQueries, name: str, one: _Round, given: Sequence[Values]
) -> Execution:
    query = arm.queries[name]
    text, explains = query.text, query.is_explained and bool(one.explained)
    if explains:
        text = statement(f"plans/{one.explained}").replace(b"{statement}", text)
    row = given[-1 if one.with_answer else one.repeat]
    values = [row[variable] for variable in query.variables]
    found = session.execute(
        text,
        values,
        arm.settings,
        with_answer=one.with_answer,
        hides=arm.hides,
        before=_before(arm, query),
    )
    if not explains:  # of the user's data nothing is kept
        found = replace(found, first=None)
    if values and found.message:  # the server's message may have a value in it
        found = replace(found, message=condition_of(found.sqlstate))
    return Execution(name, arm.arm, one.repeat, found, explains, session.pid)


def _before(arm: ArmQueries, query: SentQuery) -> bytes:
    """What a session knows of a table is invalid once an index of it was dropped."""
    if not arm.hides or not query.is_explained:
        return b""
    return statement("plans/reload_caches").replace(b"{statement}", query.text)
