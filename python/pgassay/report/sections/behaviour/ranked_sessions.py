"""What active sessions were busy with: the largest statements and scenarios.

Enters: the context. Leaves: means of each arm, ranked. Never: counts sessions that wait for their
client, for which the server does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pgassay.analysis.measures.courses.chart_series import ChartSeries
from pgassay.language import Message, tr
from pgassay.report.charts.over_time.sessions import Ranked
from pgassay.report.context import ReportContext
from pgassay.report.sections.behaviour.statements import statement_names

_ENOUGH = 0.8
"""Rows are listed until they take this share of all active sessions."""
_FEWEST, _MOST = 3, 8
_MOST_BARS = 10
"""At most this many bars of all arms together: with many arms fewer rows are listed."""
_LEAST = 0.005
"""Rows with fewer average sessions, which would be shown as zero, are left out."""
_BETWEEN, _NO_STATEMENT = Message("between transactions"), Message("no statement, such as COMMIT")
ByArm = Mapping[str, float]


def active_sessions(trial: ChartSeries) -> Mapping[str, float]:
    """Average sessions of a trial by wait event; those that wait for their client are left out."""
    return {name: value for name, value in trial.events.items() if not name.startswith("Client:")}


def arm_means(
    context: ReportContext, trials: Sequence[tuple[str, Mapping[str, float]]]
) -> dict[str, dict[str, float]]:
    """Averages figures over the trials of each arm: name → arm → mean.

    A trial without the name counts as zero.
    """
    by_arm = {
        arm.id: [values for own, values in trials if own == arm.id]
        for arm in context.analysis.answer.arms
    }
    names = {name for own in by_arm.values() for values in own for name in values}
    return {
        name: {
            arm: sum(values.get(name, 0.0) for values in own) / max(len(own), 1)
            for arm, own in by_arm.items()
        }
        for name in names
    }


def ranked_sessions(context: ReportContext) -> list[Ranked]:
    """Ranks what sessions were busy with by statement and by scenario; events have a table.

    A list that was not sampled is left out; there are none where arms alternate within trials.
    """
    if context.plan.alternates:
        return []
    return list(_ranked(context))


def _ranked(context: ReportContext) -> Iterator[Ranked]:
    events = arm_means(context, [(one.arm, active_sessions(one)) for one in context.series])
    totals = _totals(events)
    names = statement_names(context)
    statements = _sampled(context, "query", names)
    if statements:
        yield _largest(tr("By statement"), _with_rest(statements, totals, _NO_STATEMENT), totals)
    scenarios = _sampled(context, "scenario")
    if len(scenarios) > 1:
        yield _largest(tr("By scenario"), _with_rest(scenarios, totals, _BETWEEN), totals)


def _sampled(
    context: ReportContext, source: str, names: Mapping[str, str] | None = None
) -> dict[str, dict[str, float]]:
    """Averages sessions by statement or scenario: name → arm → mean; waits for clients left out."""
    found: dict[str, dict[str, float]] = {}
    for arm in context.analysis.explanation.signals:
        for trial in arm.trials:
            for (own, thing, event), value in trial.values.items():
                if own == source and not event.startswith("Client:"):
                    name = thing if names is None else names.get(thing, f"queryid {thing}")
                    by_arm = found.setdefault(name, {})
                    by_arm[arm.arm] = by_arm.get(arm.arm, 0.0) + value / len(arm.trials)
    return found


def _with_rest(means: Mapping[str, ByArm], totals: ByArm, name: str) -> dict[str, ByArm]:
    """Adds the sessions that none of the named things explains, under `name`."""
    known = _totals(means)
    rest = {arm: max(total - known.get(arm, 0.0), 0.0) for arm, total in totals.items()}
    return {**means, name: rest}


def _totals(means: Mapping[str, ByArm]) -> dict[str, float]:
    found: dict[str, float] = {}
    for values in means.values():
        for arm, value in values.items():
            found[arm] = found.get(arm, 0.0) + value
    return found


def _largest(title: str, means: Mapping[str, ByArm], totals: ByArm) -> Ranked:
    ranked = sorted(means.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    every, taken = sum(totals.values()), 0.0
    rows: list[tuple[str, ByArm]] = []
    most = max(_FEWEST, min(_MOST, _MOST_BARS // max(len(totals), 1)))
    for name, values in ranked[:most]:
        if taken >= _ENOUGH * every and len(rows) >= _FEWEST:
            break
        if max(values.values()) >= _LEAST:
            rows.append((name, values))
            taken += sum(values.values())
    return Ranked(title, rows, totals)
