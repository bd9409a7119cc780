"""The classic view of a run: every arm's figures side by side.

Enters: the even series and signals of its trials, environment.json. Leaves: a `ClassicView`.
Never: compares arms; the verdicts do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pgassay.analysis.classic.correlations import correlations, mean_of
from pgassay.analysis.classic.host_rules import dirty_pages, disk_types, rule_shares
from pgassay.analysis.classic.model import (
    LIMITS,
    ClassicArm,
    ClassicCorrelation,
    ClassicTrend,
    ClassicView,
    SharedBuffers,
    Spread,
    label,
)
from pgassay.analysis.classic.trends import incident, trends
from pgassay.analysis.classic.wait_events import events_met, only_in_one_arm, pareto, weighted_waits
from pgassay.analysis.measures.courses.even_series import (
    WAIT_TYPES,
    EvenSeries,
    interval_width_s,
)
from pgassay.analysis.measures.courses.figures import WAITINGS, Figures, figures
from pgassay.analysis.measures.model import ArmSignals
from pgassay.samples.forms.environment import EnvironmentFile, Host

_SPREADS = (
    ("speed", "per minute"),
    ("commits", "per s"),
    (WAITINGS, "sessions"),
    *((name, "sessions") for name in WAIT_TYPES),
    ("changed", "rows"),
    ("r", "tasks"),
    ("swap_kb", "kB"),
)
_STATEMENTS = "statements"


def classic_view(
    arms: Sequence[str],
    series: Sequence[EvenSeries],
    signals: Sequence[ArmSignals],
    environment: EnvironmentFile,
    knobs: Mapping[str, Mapping[str, str]] | None = None,
    *,
    has_load: bool = True,
) -> ClassicView | None:
    """Arms in the given order; None without any interval. `knobs`: an arm's settings of the host,
    where it has others than environment.json. `has_load` is false for an observation."""
    by_arm = {arm: [one for one in series if one.arm == arm and one.intervals] for arm in arms}
    by_arm = {arm: own for arm, own in by_arm.items() if own}
    if not by_arm:
        return None
    width_s = interval_width_s(min(one.seconds for own in by_arm.values() for one in own))
    vm = {arm: {**environment.host.vm, **(knobs or {}).get(arm, {})} for arm in by_arm}
    trials = {arm: [figures(one, width_s, vm[arm]) for one in own] for arm, own in by_arm.items()}
    found = correlations(trials, by_arm)
    disks = sorted({disk for own in by_arm.values() for one in own for disk in one.disks})
    known = {one.arm: one for one in signals}
    return ClassicView(
        interval_s=width_s,
        intervals=min(int(one.seconds // width_s) for own in by_arm.values() for one in own),
        arms=tuple(
            _arm(
                arm,
                disks,
                trials[arm],
                known.get(arm, ArmSignals(arm, ())),
                found[arm],
                trends(trials[arm], by_arm[arm], disks, has_load=has_load),
                environment.host,
            )
            for arm in by_arm
        ),
        only_in_one=only_in_one_arm([known[arm] for arm in by_arm if arm in known]),
    )


def _arm(
    arm: str,
    disks: Sequence[str],
    trials: Sequence[Figures],
    signals: ArmSignals,
    found: tuple[ClassicCorrelation, ...],
    lines: tuple[ClassicTrend, ...],
    host: Host,
) -> ClassicArm:
    return ClassicArm(
        arm=arm,
        trials=len(trials),
        parts=len(signals.trials),
        figures=tuple(_spread(name, unit, trials) for name, unit in _SPREADS),
        statements_per_minute=_statements(signals),
        incident=incident(lines),
        trends=lines,
        correlations=found,
        weighted=weighted_waits(trials),
        pareto=pareto(signals),
        rules=rule_shares(trials, host.cpus, disks),
        disks=disk_types(found, host.storage, disks),
        buffers=_buffers(trials, signals),
        dirty=dirty_pages(trials),
        cores=host.cpus,
        events=events_met(signals),
    )


def _spread(name: str, unit: str, trials: Sequence[Figures]) -> Spread:
    rows = [one[name] for one in trials if name in one]
    known = np.concatenate(rows) if rows else np.empty(0)
    known = known[np.isfinite(known)]
    if not len(known):
        return Spread(name, unit, None, None, None)
    return Spread(name, unit, float(np.median(known)), float(known.min()), float(known.max()))


def _statements(signals: ArmSignals) -> float | None:
    """Calls plus rows a minute; both are growth a second in the signals."""
    per_second = [signals.mean(_STATEMENTS, name=name) for name in ("calls", "rows")]
    known = [one for one in per_second if one is not None]
    return 60.0 * sum(known) if len(known) == 2 else None


def _buffers(trials: Sequence[Figures], signals: ArmSignals) -> SharedBuffers:
    rules = LIMITS["buffers"]
    hit = mean_of([_hit_pct(one) for one in trials])
    used = [signals.mean(_STATEMENTS, name=f"shared_blks_{name}") for name in ("hit", "read")]
    dirtied = signals.mean(_STATEMENTS, name="shared_blks_dirtied")
    blocks = sum(one or 0.0 for one in used)
    per_dirtied = None if dirtied is None or None in used else _ratio(blocks, dirtied)
    return SharedBuffers(
        hit, label(hit, rules["hit_labels"]), per_dirtied, _load_type(blocks, dirtied)
    )


def _load_type(blocks: float, dirtied: float | None) -> str | None:
    """By blocks used for each that was changed; a load that changes nothing is OLAP."""
    if dirtied is None or not blocks:
        return None
    types: list[tuple[float, str]] = LIMITS["buffers"]["types"]
    return label(blocks / dirtied, types) if dirtied else types[0][1]


def _ratio(blocks: float, dirtied: float) -> float | None:
    """None where nothing was changed."""
    return blocks / dirtied if dirtied else None


def _hit_pct(one: Figures) -> float | None:
    if "hit" not in one or "read" not in one:
        return None
    hit, read = (float(np.nansum(one[name])) for name in ("hit", "read"))
    return 100.0 * hit / (hit + read) if hit + read else None
