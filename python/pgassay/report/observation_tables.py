"""The tables of an observation's report.

Enters: what was observed. Leaves: rows of strings. Never: shows what was not seen as zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pgassay.analysis.metrics import WAIT_CLASSES, class_of
from pgassay.analysis.observed import Observed
from pgassay.analysis.sampled_waits import UNKNOWN
from pgassay.report.charts.observed import moment
from pgassay.report.charts.style import CLASS_COLOURS, GREY
from pgassay.report.logged import logged_words
from pgassay.report.tables import ABSENT
from pgassay.spec.units import clock

_MOST_EVENTS = 15
_MOST_STATEMENTS = 20
_MOST_CHECKPOINTS = 200
_UNKNOWN = {
    "no_receiver": "no WAL receiver ran (cut off from its sender, or restoring from an archive)",
    "hidden": "what its sender has is hidden from this role; grant pg_monitor",
    "no_word": "its sender had not said yet what it has; an idle one does in half a minute",
    "no_commit": "no commit had been replayed since the standby was started",
    "not_streamed": "its WAL did not come by streaming, but from an archive or what was there",
}
"""Why a standby could not tell how far it was behind."""


@dataclass(frozen=True)
class ObservationContext:
    """One observation, ready to be told."""

    run_name: str
    described: Mapping[str, Any]
    """observation.json."""
    observed: Observed
    environment: Mapping[str, Any]
    version: str

    @property
    def title(self) -> str:
        return f"What went on at {self.described.get('server', 'a server')}"


@dataclass(frozen=True)
class WaitRow:
    """A wait class or event."""

    name: str
    colour: str
    sessions: str
    per_transaction: str
    share: str
    sampled: str
    """Waiting sessions by pg_wait_sampling."""


def facts(context: ObservationContext) -> tuple[tuple[str, str], ...]:
    """What stands at the top."""
    observed, averages = context.observed, context.observed.averages
    found = [
        ("From", f"{moment(observed.start_ns)[:19]} UTC"),
        ("For", clock(observed.seconds)),
        ("Average active sessions", f"{observed.active_sessions:.2f}"),
    ]
    if "tps" in averages:
        found.insert(2, ("Commits per second", f"{averages['tps']:,.1f}"))
    shares = [f"{averages[name]:.0f} % {name}" for name in ("busy", "iowait", "steal")
              if name in averages]  # fmt: skip
    if shares:
        found.append(("Host processors", ", ".join(shares)))
    if "wal" in averages:
        found.append(("WAL", f"{_size(averages['wal'])}/s"))
    found.append(("Checkpoints", str(len(observed.checkpoints))))
    if context.environment.get("standby"):
        found.append(("Role", "standby: commits are those of its readers"))
        found += _behind(observed)
    return tuple(found)


def _behind(observed: Observed) -> list[tuple[str, str]]:
    """How far a standby was behind its primary, and what of that is not known."""
    average, largest = observed.averages, observed.largest
    found = []
    for name, (words, form) in _BEHIND.items():
        unknown = observed.unknown.get(name)
        told = []
        if name in average:
            told.append(f"{form(average[name])}, at most {form(largest[name])}")
        if unknown is not None:
            cause = _UNKNOWN[unknown.cause]
            whole = name not in average
            told.append(f"unknown{'' if whole else f' for {unknown.seconds:,.0f} s'}: {cause}")
        if told:
            found.append((words, "; ".join(told)))
    return found


def class_rows(observed: Observed) -> tuple[WaitRow, ...]:
    """Wait classes with anything in them, the largest first."""
    titles = {wait_class.name: wait_class.title for wait_class in WAIT_CLASSES}
    ours, theirs = observed.classes, _by_class(observed.sampled_waits)
    ranked = sorted(titles, key=lambda name: -ours.get(name, 0.0))
    return tuple(
        _wait_row(
            titles[name], name, ours.get(name, 0.0), observed, _sampled(observed, theirs.get(name))
        )
        for name in ranked
        if ours.get(name, 0.0) > 0 or theirs.get(name, 0.0) > 0
    )


def _by_class(events: Mapping[str, float]) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for event, waiting in events.items():
        of_class = _class_of(event)
        found[of_class] = found.get(of_class, 0.0) + waiting
    return found


def event_rows(observed: Observed) -> tuple[WaitRow, ...]:
    """The largest single events, in our samples or in those of pg_wait_sampling."""
    ours, theirs = observed.events, observed.sampled_waits
    ranked = sorted(
        {**theirs, **ours}, key=lambda event: -max(ours.get(event, 0.0), theirs.get(event, 0.0))
    )
    rows = []
    for event in ranked[:_MOST_EVENTS]:
        waiting = None if event in UNKNOWN else theirs.get(event, 0.0)
        told = _sampled(observed, waiting)
        rows.append(_wait_row(event, _class_of(event), ours.get(event, 0.0), observed, told))
    return tuple(rows)


def _class_of(event: str) -> str:
    kind, _, name = event.partition(":")
    return "cpu" if event == "CPU" else class_of(kind, name)


def _sampled(observed: Observed, waiting: float | None) -> str:
    return f"{waiting:.3f}" if observed.sampled_waits and waiting is not None else ABSENT


def _wait_row(name: str, of_class: str, busy: float, observed: Observed, sampled: str) -> WaitRow:
    each = observed.ms_per_transaction(busy)
    every = max(observed.active_sessions, 1e-9)
    return WaitRow(
        name=name,
        colour=CLASS_COLOURS.get(of_class, GREY),
        sessions=f"{busy:.3f}",
        per_transaction=ABSENT if each is None else f"{each:,.3f} ms",
        share=f"{100 * busy / every:.1f} %",
        sampled=sampled,
    )


def checkpoint_rows(observed: Observed) -> tuple[tuple[str, ...], ...]:
    """Start, cause, seconds in all, of writing and of sync, buffers, distance."""
    rows = []
    for row in observed.checkpoints[:_MOST_CHECKPOINTS]:
        kilobytes = row["distance_kb"]
        rows.append(
            (
                moment(row["started_ns"])[:19],
                ("restartpoint, " if row["restartpoint"] else "") + row["cause"],
                *(_told(row[name], "{:,.1f} s") for name in ("total_s", "write_s", "sync_s")),
                _told(row["buffers"], "{:,.0f}"),
                ABSENT if kilobytes is None else _size(kilobytes * 1024.0),
            )
        )
    return tuple(rows)


def logged_rows(observed: Observed) -> tuple[tuple[str, str], ...]:
    """What the server's log tells, and how often."""
    rows = []
    for listed, words in logged_words().items():
        for kind, count in sorted(observed.logged.items()):
            if kind == listed or (listed.endswith(" ") and kind.startswith(listed)):
                rows.append((words.format(kind.removeprefix(listed)), f"{count:,}"))
    return tuple(rows)


def statement_rows(observed: Observed) -> tuple[tuple[str, ...], ...]:
    """Query id, share of the time of all, time, calls, mean, rows each, blocks read, WAL."""
    every = sum(one.exec_time_ms for one in observed.statements) or 1.0
    return tuple(
        (
            one.queryid,
            f"{100 * one.exec_time_ms / every:.1f} %",
            f"{one.exec_time_ms / 1e3:,.1f} s",
            f"{one.calls:,.0f}",
            f"{one.mean_ms:,.3f} ms",
            f"{one.rows / max(one.calls, 1):,.1f}",
            f"{one.blocks_read:,.0f}",
            _size(one.wal_bytes),
        )
        for one in observed.statements[:_MOST_STATEMENTS]
    )


def gap_rows(observed: Observed) -> tuple[tuple[str, str], ...]:
    """When nothing was seen, and for how long."""
    return tuple(
        (moment(start)[:19], f"{(end - start) / 1e9:,.1f} s") for start, end in observed.gaps_ns
    )


def doubts(context: ObservationContext) -> list[str]:
    """What is missing or was done less often, one line each."""
    observed = context.observed
    found = list(observed.warnings)
    rested, ticks = observed.cost.get("rested_ticks", 0.0), observed.cost.get("wait_ticks", 0.0)
    if rested:
        found.append(
            f"the server was slow to answer: {rested:,.0f} looks were left out to spare it;"
            f" {ticks:,.0f} looks at its waits were taken"
        )
    if observed.gaps_ns:
        seconds = sum(end - start for start, end in observed.gaps_ns) / 1e9
        found.append(f"nothing was seen for {seconds:,.0f} s in all; averages are of the rest")
    dropped = context.described.get("dropped_segments", 0)
    if dropped:
        found.append(f"{dropped} older segments were dropped to keep within the room allowed")
    if context.described.get("ended_by") is None:
        found.append("the observation was not ended in order: its last segment may be missing")
    return found


def _told(value: float | None, form: str) -> str:
    return ABSENT if value is None else form.format(value)


def _size(value: float) -> str:
    for unit in ("B", "kB", "MB"):
        if abs(value) < 1024:
            return f"{value:,.0f} B" if unit == "B" else f"{value:,.1f} {unit}"
        value /= 1024
    return f"{value:,.1f} GB"


_BEHIND = {
    "replay_lag_ms": ("Replay behind the primary", "{:,.0f} ms".format),
    "receive_behind_bytes": ("WAL not received yet", _size),
    "replay_behind_bytes": ("WAL not replayed yet", _size),
}
