"""Wait events by arm: sessions in each, their change from the baseline arm, and who met them.

Enters: the plan, the signals of its trials, comparisons. Leaves: `WaitEvent`s. Never: counts the
same statement twice, or takes an event that no look found in a trial for unknown: it is zero there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pgassay.analysis.compare.many import Measured, Place, figures_by_arm
from pgassay.analysis.compare.model import FEW_BLOCKS
from pgassay.analysis.measures.model import TrialSignals
from pgassay.analysis.sampled.model import WaitEvent
from pgassay.plan.model import Plan

_SESSIONS, _QUERY = "sessions", "query"
_OF_THE_CLIENT = "Client:"
"""The server does nothing in these."""
_FLOOR = 0.005
"""Average sessions below which a difference is never called clear."""
_MOST_STATEMENTS = 3


def wait_events(plan: Plan, trials: Sequence[TrialSignals]) -> tuple[WaitEvent, ...]:
    """Returns the events that sessions of the load were found in, those of most sessions in any arm
    first; none where arms alternate."""
    looked = [one for one in trials if one.samples]
    if plan.alternates or not looked:
        return ()
    every = {name for one in looked for name in one.samples}
    names = sorted(name for name in every if not name.startswith(_OF_THE_CLIENT))
    measured = [Measured(dict(_sessions(looked, name)), floor=_FLOOR) for name in names]
    found = [
        WaitEvent(
            name,
            figures,
            {arm.id: sum(_samples(looked, arm.id, name)) for arm in plan.arms},
            {arm.id: sum(map(bool, _samples(looked, arm.id, name))) for arm in plan.arms},
            tuple(_statements(plan, looked, name)),
        )
        for name, figures in zip(names, figures_by_arm(plan, measured, (), FEW_BLOCKS), strict=True)
    ]
    return tuple(sorted(found, key=_order))


def _order(one: WaitEvent) -> tuple[float, str]:
    return -max(each.mean or 0.0 for each in one.figures), one.event


def _sessions(trials: Sequence[TrialSignals], name: str) -> Iterator[tuple[Place, float]]:
    return (((t.block, t.arm), t.values.get((_SESSIONS, "", name), 0.0)) for t in trials)


def _samples(trials: Sequence[TrialSignals], arm: str, name: str) -> list[int]:
    return [one.samples.get(name, 0) for one in trials if one.arm == arm]


def _statements(
    plan: Plan, trials: Sequence[TrialSignals], name: str
) -> Iterator[tuple[str, float]]:
    """Yields the statements that were found in an event most often in any arm."""
    most: dict[str, float] = {}
    for arm in plan.arms:
        own = [one for one in trials if one.arm == arm.id]
        found: dict[str, float] = {}
        for one in own:
            for (source, query, event), sessions in one.values.items():
                if source == _QUERY and event == name:
                    found[query] = found.get(query, 0.0) + sessions / len(own)
        most |= {query: max(most.get(query, 0.0), value) for query, value in found.items()}
    yield from sorted(most.items(), key=lambda item: (-item[1], item[0]))[:_MOST_STATEMENTS]
