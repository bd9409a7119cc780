"""What a change of the schema costs beside what it does to queries: room, and time to make it.

Enters: the plan, each trial's trial.json, environment.json. Leaves: a `SchemaPrice` by level.
Never: says whether it is worth it, or compares the writes, which have a verdict of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from pgassay.analysis.queries.model import SchemaPrice
from pgassay.plan.model import Factor, Plan
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.forms.trial import TrialFile
from pgassay.spec.factors.kinds import SCHEMA


def schema_prices(
    plan: Plan, trials: Sequence[TrialFile], environment: EnvironmentFile
) -> tuple[SchemaPrice, ...]:
    """Returns the price of each level of a schema but the baselines, in the order of the plan."""
    return tuple(
        SchemaPrice(
            factor=factor.name,
            baseline=factor.baseline,
            level=level,
            made_in_s=environment.schema_made_in_s.get(f"{factor.name} = {level}"),
            baseline_bytes=_bytes(plan, trials, environment, factor, factor.baseline),
            bytes=_bytes(plan, trials, environment, factor, level),
        )
        for factor in plan.factors
        if factor.kind == SCHEMA.name
        for level in factor.levels[1:]
    )


def _bytes(
    plan: Plan,
    trials: Sequence[TrialFile],
    environment: EnvironmentFile,
    factor: Factor,
    level: str,
) -> int | None:
    """The size of the database at the start of a trial: the median, which one trial that began
    with leftovers does not move; without what other levels made in it."""
    found = list(_sizes(plan, trials, factor, level))
    made = environment.schema_bytes
    others = sum(made.values()) - made.get(f"{factor.name} = {level}", 0)
    return round(median(found) - others) if found else None


def _sizes(plan: Plan, trials: Sequence[TrialFile], factor: Factor, level: str) -> Iterator[int]:
    arms = {arm.id for arm in plan.arms if arm.levels[factor.name] == level}
    for one in trials:
        before = one.fingerprint.before
        if one.arm in arms and before is not None and before.database_bytes:
            yield before.database_bytes
