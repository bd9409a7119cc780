"""What happened during trials, in rows under the charts of their course.

Enters: the trials' series, the time axis. Leaves: panels: checkpoints and autovacuum with a row for
each trial, or, where those would be too many to see, with a line for each arm; and a row for each
arm with everything else that was logged. Never: shows a panel where nothing happened.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from pgassay.analysis.measures.courses.chart_series import FAILED, ChartSeries, Span
from pgassay.language import Message, colon, comma, decimals, listed, tr
from pgassay.quantities import spaced
from pgassay.report.charts.style import ArmStyle, arm_line
from pgassay.report.log_events import event_words
from pgassay.report.svg.model import Axis, Box, Mark, Panel, Points

_MOST_ROWS, _MOST_SPANS = 32, 300
"""With more trials or more spans each arm has a line instead."""
_ROW_PX = ((8, 9), (16, 6), (_MOST_ROWS, 4))
"""Up to so many rows, the height of each."""
_SHARE_PX = 64
_EVENTS_PX = 13
_BINS = 100
"""Stretches of the axis in which events are one mark."""
_SHARE_POINTS = 1000
_Spans = Callable[[ChartSeries], Sequence[Span]]


def happenings(
    series: Sequence[ChartSeries], styles: Mapping[str, ArmStyle], across: Axis
) -> list[Panel]:
    """Makes the panels of what happened, one above the other."""
    arms = [arm for arm in styles if any(trial.arm == arm for trial in series)]
    ordered = [trial for arm in arms for trial in series if trial.arm == arm]
    found = (
        _spans(Message("checkpoints"), lambda trial: trial.checkpoints, ordered, styles, across),
        _spans(Message("autovacuum"), lambda trial: trial.vacuums, ordered, styles, across),
        _events(ordered, arms, styles, across),
    )
    return [panel for panel in found if panel is not None]


def _spans(
    what: str,
    spans: _Spans,
    series: Sequence[ChartSeries],
    styles: Mapping[str, ArmStyle],
    across: Axis,
) -> Panel | None:
    number = sum(len(spans(trial)) for trial in series)
    if not number:
        return None
    if len(series) > _MOST_ROWS or number > _MOST_SPANS:
        return _shares(what, spans, series, styles, across)
    rows = _rows(series)
    height = rows[-1] + 1
    px = next(px for most, px in _ROW_PX if len(series) <= most)
    title = tr("{what}: a row for each trial", what=what) if len(series) > 1 else str(what)
    up = Axis(title, low=height, high=0.0, ticks=(), grid=False)
    panel = Panel(across, up, round(px * height))
    gap = 0.12
    for row, trial in zip(rows, series, strict=True):
        colour, first, last = styles[trial.arm].colour, trial.offset_s[0], trial.offset_s[-1]
        top, bottom = row + gap, row + 1 - gap
        panel.add(Box(first, last, top, bottom, colour, 0.12, arm=trial.arm))
        for one in spans(trial):
            start, end = max(one.start_s, first), last if one.end_s is None else one.end_s
            end = min(end, last)
            if start > end:
                continue
            whose = tr(
                "trial {number}, {label}", number=trial.number, label=styles[trial.arm].label
            )
            tip = (f"{_title(what, one)}{comma()}{_time(one)}", whose)
            panel.add(Box(start, end, top, bottom, colour, 0.5, tip, arm=trial.arm))
            if what == "checkpoints" and one.end_s is not None and one.end_s <= last:
                synced = max(end - one.sync_s, first)
                panel.add(Box(synced, end, top, bottom, colour, 1.0, tip, arm=trial.arm))
    return panel


def _rows(series: Sequence[ChartSeries]) -> list[float]:
    """The top of each trial's row, with half a row between arms."""
    tops, at = [], 0.0
    for before, trial in zip([None, *series[:-1]], series, strict=True):
        if before is not None:
            at += 1.0 if before.arm == trial.arm else 1.5
        tops.append(at)
    return tops


def _title(what: str, one: Span) -> str:
    return tr("checkpoint ({what})", what=one.what) if what == "checkpoints" else str(one.what)


def _time(one: Span) -> str:
    if one.end_s is None:
        return tr("from {start_s} s, end unknown", start_s=spaced(one.start_s, 1))
    synced = (
        tr(", fsync {sync_s} s", sync_s=decimals(one.sync_s, ".1f")) if one.sync_s >= 0.05 else ""
    )
    return tr(
        "{start_s} to {end_s} s{synced}",
        start_s=spaced(one.start_s, 1),
        end_s=spaced(one.end_s, 1),
        synced=synced,
    )


def _shares(
    what: str,
    spans: _Spans,
    series: Sequence[ChartSeries],
    styles: Mapping[str, ArmStyle],
    across: Axis,
) -> Panel:
    up = Axis(
        tr("{what}: share of trials with one under way", what=what), low=0, high=100, suffix=" %"
    )
    panel = Panel(across, up, _SHARE_PX)
    first = min(trial.offset_s[0] for trial in series)
    last = max(trial.offset_s[-1] for trial in series)
    edges = np.linspace(first, last, min(_SHARE_POINTS, round(2 * (last - first)) + 2))
    for arm, style in styles.items():
        own = [trial for trial in series if trial.arm == arm]
        under_way = np.zeros(len(edges) - 1)
        for trial in own:
            covered = np.zeros(len(edges))
            for one in spans(trial):
                end = trial.offset_s[-1] if one.end_s is None else one.end_s
                covered += np.clip(edges, one.start_s, max(end, one.start_s)) - one.start_s
            under_way += np.minimum(np.diff(covered) / np.diff(edges), 1.0)
        if own:
            middles = ((edges[1:] + edges[:-1]) / 2).tolist()
            shares = (100 * under_way / len(own)).tolist()
            name = tr("trials with {what}, {style}", what=what, style=style.label)
            panel.add(arm_line(style, middles, shares, 1.6, name, "%"))
    return panel


def _events(
    series: Sequence[ChartSeries],
    arms: Sequence[str],
    styles: Mapping[str, ArmStyle],
    across: Axis,
) -> Panel | None:
    words = _words(series)
    marks = [
        mark
        for row, arm in enumerate(arms)
        for mark in _of_arm(series, styles[arm], row, words, across)
    ]
    if not marks:
        return None
    parts = []
    if FAILED in words:
        parts.append(tr("failed transactions"))
    if words.keys() - {FAILED}:
        parts.append(tr("other events in the server’s log"))
    if any(trial.pauses for trial in series):
        parts.append(tr("pauses of sampling (bars)"))
    up = Axis(listed(parts), low=len(arms) - 0.5, high=-0.5, ticks=(), grid=False)
    panel = Panel(across, up, _EVENTS_PX * len(arms))
    panel.add(*marks)
    return panel


def _words(series: Sequence[ChartSeries]) -> dict[str, str]:
    """The kinds that happened and are shown, in the order in which they are listed."""
    kinds = {event.kind for trial in series for event in trial.happened}
    failed = {FAILED: tr("Failed transactions")} if FAILED in kinds else {}
    return failed | {
        kind: title for kind, title in event_words(kinds) if not kind.startswith("checkpoint")
    }


def _of_arm(
    series: Sequence[ChartSeries],
    style: ArmStyle,
    row: int,
    words: Mapping[str, str],
    across: Axis,
) -> Iterator[Mark]:
    low, high = across.low or 0.0, across.high or 1.0
    width = max((high - low) / _BINS, 1.0)
    bins: dict[int, Counter[str]] = defaultdict(Counter)
    for trial in series:
        if trial.arm != style.id:
            continue
        for event in trial.happened:
            if event.kind in words:
                bins[int((event.at_s - low) // width)][event.kind] += event.count
        for pause in trial.pauses:
            whose = tr("trial {number}, {label}", number=trial.number, label=style.label)
            yield Box(
                pause.start_s,
                pause.end_s,
                row - 0.2,
                row + 0.2,
                style.colour,
                0.6,
                (tr("no samples, {time}", time=_time(pause)), whose),
                arm=style.id,
            )
    if bins:
        yield Points(
            [low + (at + 0.5) * width for at in bins],
            [float(row)] * len(bins),
            style.colour,
            [
                (
                    *(f"{words[kind]}{colon()}{found[kind]}" for kind in words if found[kind]),
                    tr(
                        "{low} to {high} s, {style}",
                        low=decimals(low + at * width, ".0f"),
                        high=decimals(low + (at + 1) * width, ".0f"),
                        style=style.label,
                    ),
                )
                for at, found in bins.items()
            ],
            size=7.0,
            symbol="cross",
            arm=style.id,
        )
