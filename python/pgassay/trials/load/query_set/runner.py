"""The order of executions in a session, and their times.

Enters: queries as each arm sends them, a session, a seed. Leaves: an `Execution` each. Never: uses
the system's randomness: the arms of a block have the same order and the same values of parameters.

A query's executions follow each other, so that its pages are in the caches whatever ran before it;
the order of queries is random. Where a session has several arms each query is run in all of them,
in random order, before it is run again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pgassay.plan.orders import permuted
from pgassay.server.statements import statement
from pgassay.trials.load.query_set.session import Executed, QuerySession, condition_of
from pgassay.trials.load.query_set.texts import SentQuery

Values = Sequence[bytes | None]


@dataclass(frozen=True)
class ArmQueries:
    """The queries of one arm, and the settings that its transactions have."""

    arm: str
    queries: Mapping[str, SentQuery]
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
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


def run_session(
    session: QuerySession,
    arms: Sequence[ArmQueries],
    *,
    repeats: Mapping[str, int],
    is_warm: bool,
    rows: Mapping[str, Sequence[Values]],
    seed: str,
    report: Callable[[Execution], bool],
) -> None:
    """Runs every query in all arms; `report` gets each execution and says whether to go on. `rows`
    are the values of the parameters of each execution of a query; the first does not count."""
    source = random.Random(seed)
    for name in permuted(list(arms[0].queries), source):
        counted = repeats[name]
        given: Sequence[Values] = rows.get(name, [()] * (counted + 1))
        failed: set[str] = set()
        rounds = range(counted + 1) if is_warm else [*range(1, counted + 1), 0]
        for repeat in rounds:
            for arm in permuted(arms, source):
                if arm.arm in failed:
                    continue
                done = _execute(session, arm, name, repeat, given[repeat])
                if done.failed:
                    failed.add(arm.arm)
                if not report(done) or session.is_lost:
                    return


def _execute(
    session: QuerySession, arm: ArmQueries, name: str, repeat: int, values: Values
) -> Execution:
    query = arm.queries[name]
    text, explains = query.text, query.is_explained and repeat == 0
    if explains:
        text = statement("plans/explain_query").replace(b"{statement}", text)
    found = session.execute(text, values, arm.settings)
    if values and found.message:  # the server's message may have a value in it
        found = replace(found, message=condition_of(found.sqlstate))
    return Execution(name, arm.arm, repeat, found, explains, session.pid)
