"""What each statement took in one trial, by pg_stat_statements, and how it was planned.

Enters: a stored trial. Leaves: `TrialStatements`: growth by statement over the whole load;
`SeenPlan` values.
Never: compares trials, or reads texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.reading.plan_shape import PlanShape, query_id_of, shape_of
from pgassay.notes import Note
from pgassay.samples.stored_parts import StoredTrial
from pgassay.spec.endpoints import statement_of
from pgassay.trials.sampling.queries import STATEMENTS


@dataclass(frozen=True)
class TrialStatements:
    """The statements of one trial over its load with the warm-up, because the server counts that
    too."""

    block: int
    arm: str
    transactions: int
    grown: Mapping[str, Mapping[str, float]]
    """queryid → column → growth; one more, `(others)`, has all statements beyond the first 100."""


def read_statements(
    trial: StoredTrial, sources: TrialSources | None = None
) -> TrialStatements | None:
    """Reads what each statement took; None where they were not read, or nothing was run."""
    counters = (sources or TrialSources(trial)).postgres
    grown: dict[str, dict[str, float]] = defaultdict(dict)
    for key in counters.keys():  # noqa: SIM118 (not a mapping)
        if key[0] == STATEMENTS.source:
            _, values = counters.points(key)
            if len(values) > 1:
                grown[key[1]][key[2]] = max(0.0, float(values[-1] - values[0]))
    summary = trial.summary()
    transactions = summary.load.transactions
    if not grown or not transactions:
        return None
    return TrialStatements(summary.block, summary.arm, transactions, dict(grown))


def statement_means(
    trial: StoredTrial, sources: TrialSources, endpoints: Collection[str]
) -> dict[str, float]:
    """Returns the mean execution time of a call (ms) of the statements among the endpoints, such as
    `transfer:9.mean`.

    A statement's figures are found by the query id of its plan in this trial, so that a rewritten
    form, or a table made anew, is the same statement. Planning is not included.
    """
    lines = {of: name for name in endpoints if (of := statement_of(name)) is not None}
    read = read_statements(trial, sources) if lines else None
    if read is None:
        return {}
    found: dict[str, float] = {}
    for one in (each for arm in trial.plans() for each in arm.statements):
        name, grown = lines.get((one.scenario, one.line)), read.grown.get(query_id_of(one.plan), {})
        if name is not None and grown.get("calls"):
            found.setdefault(name, grown["exec_time_ms"] / grown["calls"])
    return found


@dataclass(frozen=True)
class SeenPlan:
    """The plan of one statement in one arm of a trial."""

    block: int
    arm: str
    scenario: str
    line: int
    sql: str
    queryid: str
    """In pg_stat_statements; empty where the server does not tell."""
    shape: PlanShape | None
    reason: Note | None
    """Why there is no plan."""


def read_plans(trial: StoredTrial) -> tuple[SeenPlan, ...]:
    """Reads the plans of every arm that was asked; none where the run has no plans."""
    stored = trial.plans()
    if not stored:
        return ()
    block = trial.summary().block
    return tuple(
        SeenPlan(
            block,
            arm.arm,
            found.scenario,
            found.line,
            found.sql,
            query_id_of(found.plan),
            shape_of(found.plan) if found.plan else None,
            found.reason,
        )
        for arm in stored
        for found in arm.statements
    )
