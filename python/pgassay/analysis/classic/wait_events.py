"""Wait events and the queries that met them: weights, Pareto lists, what one arm alone has.

Enters: the signals and figures of an arm's trials. Leaves: values of the classic view. Never: takes
an event that chance left out of the other arms for a difference.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from pgassay.analysis.classic.correlations import mean_of, pearson
from pgassay.analysis.classic.model import (
    LIMITS,
    EventMet,
    OnlyInOneArm,
    Pareto,
    Part,
    WeightedWait,
    label,
)
from pgassay.analysis.measures.courses.even_series import WAIT_TYPES, wait_type
from pgassay.analysis.measures.courses.figures import WAITINGS, Array, Figures
from pgassay.analysis.measures.model import ArmSignals
from pgassay.analysis.statistics.multiple_testing import yekutieli
from pgassay.notes import Term

_UNKNOWN = Term("not known")


def weighted_waits(trials: Sequence[Figures]) -> tuple[WeightedWait, ...]:
    """Weighs each type of wait, the heaviest first."""
    found = []
    for name in WAIT_TYPES:
        weight = mean_of([_weight(one, name) for one in trials])
        found.append(
            WeightedWait(
                name,
                weight,
                label(weight, LIMITS["weighted"]["labels"]),
                mean_of([pearson(one.get(WAITINGS), one.get(name)) for one in trials]),
                mean_of([_share(one, name) for one in trials]),
            )
        )
    return tuple(sorted(found, key=lambda one: -(one.weight or 0.0)))


def _weight(one: Figures, name: str) -> float | None:
    r = pearson(one.get(WAITINGS), one.get(name))
    every = _midrange(one.get(WAITINGS))
    own = _midrange(one.get(name))
    if r is None or every is None or own is None:
        return None
    return r * own / every if every else 0.0


def _midrange(values: Array | None) -> float | None:
    if values is None or not np.isfinite(values).any():
        return None
    return float(np.nanmin(values) + np.nanmax(values)) / 2.0


def _share(one: Figures, name: str) -> float | None:
    if name not in one or WAITINGS not in one:
        return None
    every = float(np.nansum(one[WAITINGS]))
    return 100.0 * float(np.nansum(one[name])) / every if every else 0.0


def pareto(signals: ArmSignals) -> tuple[Pareto, ...]:
    """Counts the types of wait that occurred, the most frequent first."""
    events, queries = _by_type(signals, "sessions"), _by_type(signals, "query")
    found = []
    for name in WAIT_TYPES:
        parts = events.get(name)
        if not parts:
            continue
        every = sum(parts.values())
        known = queries.get(name, {})
        rest = every - sum(known.values())
        if rest > 1e-9 * every:
            known = {**known, _UNKNOWN: rest}
        found.append(Pareto(name, every, _most_of(parts), _most_of(known)))
    return tuple(sorted(found, key=lambda one: -one.sessions))


def _by_type(signals: ArmSignals, source: str) -> dict[str, dict[str, float]]:
    """Type of wait → event, or query id, → average sessions over the arm's trials."""
    found: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for trial in signals.trials:
        for (own, thing, event), sessions in trial.values.items():
            if own == source:
                name = event.partition(":")[2] if source == "sessions" else thing
                found[wait_type(event)][name] += sessions / len(signals.trials)
    return found


def _most_of(parts: Mapping[str, float]) -> tuple[Part, ...]:
    """The largest parts, until their cumulative share exceeds the limit."""
    every = sum(parts.values())
    found: list[Part] = []
    cumulative = 0.0
    for name, sessions in sorted(parts.items(), key=lambda item: (-item[1], item[0])):
        if cumulative > LIMITS["pareto"]["until_pct"]:
            break
        cumulative += 100.0 * sessions / every
        found.append(Part(name, sessions, 100.0 * sessions / every, cumulative))
    return tuple(found)


def events_met(signals: ArmSignals) -> tuple[EventMet, ...]:
    """Lists events of the classic types, the one that most queries met first."""
    every = {key[1] for key in signals.keys if key[0] == "query"}
    met: dict[str, set[str]] = defaultdict(set)
    for source, query, event in signals.keys:
        if source == "query":
            met[event].add(query)
    found = []
    for event in _events(signals):
        seen = signals.total("sessions", "", event)
        found.append(
            EventMet(
                event,
                sum(one or 0.0 for one in seen) / len(seen),
                len(met[event]),
                100.0 * len(met[event]) / len(every) if every else None,
                sum(one is not None for one in seen),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.queries, -one.sessions, one.event)))


def _events(signals: ArmSignals) -> list[str]:
    return sorted(
        name for source, _, name in signals.keys if source == "sessions" and wait_type(name)
    )


def only_in_one_arm(arms: Sequence[ArmSignals]) -> tuple[OnlyInOneArm, ...]:
    """Events of exactly one arm, the surest first; none with a single arm.

    p: arms × the chance that all trials with the event lie in one arm, if it is independent of it.
    """
    if len(arms) < 2:
        return ()
    holders: dict[str, list[ArmSignals]] = defaultdict(list)
    for arm in arms:
        for event in _events(arm):
            holders[event].append(arm)
    every = sum(len(arm.trials) for arm in arms)
    rows = []
    for event, (arm, *others) in holders.items():
        seen = sum(one is not None for one in arm.total("sessions", "", event))
        own = len(arm.trials)
        p = min(1.0, len(arms) * math.comb(own, seen) / math.comb(every, seen))
        # Events of several arms are tested too, or the correction would be for the wrong number.
        rows.append((event, arm, seen, own, 1.0 if others else p, not others))
    adjusted = yekutieli(np.array([row[4] for row in rows])).tolist()
    found = [
        OnlyInOneArm(event, arm.arm, seen, own, every - own, p, clear=p <= LIMITS["tested"]["rate"])
        for (event, arm, seen, own, _, alone), p in zip(rows, adjusted, strict=True)
        if alone
    ]
    return tuple(sorted(found, key=lambda one: (one.p_adjusted, one.event)))
