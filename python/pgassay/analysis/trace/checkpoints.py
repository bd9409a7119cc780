"""The checkpoints of a trace, and what was counted before, in and after each.

Enters: phase events in the order of time, the readings. Leaves: checkpoints and periods.
Never: says that a checkpoint caused what stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pgassay.analysis.trace.model import Period, TracedCheckpoint
from pgassay.analysis.trace.traced import Traced

_BESIDE_NS = 10_000_000_000
"""How far before and after is looked: short against the time between checkpoints, long enough for
ten readings."""
_CAUSES = (
    (0x0001, "shutdown"),
    (0x0002, "end of recovery"),
    (0x0080, "wal"),
    (0x0100, "time"),
)
"""Flags of a checkpoint (src/include/access/xlog.h)."""
_ASKED = "requested"

_Spans = dict[str, tuple[int | None, int | None]]
"""Phase → its beginning and end; None for one that lies outside of the trace."""


def checkpoints_of(
    events: Sequence[Mapping[str, Any]], first_ns: int
) -> tuple[TracedCheckpoint, ...]:
    """Returns the checkpoints of which anything was seen; one that was under way begins with the
    trace."""
    found: list[tuple[_Spans, str]] = []
    spans: _Spans = {}
    cause = ""

    def close() -> None:
        if spans:
            found.append((dict(spans), cause))
            spans.clear()

    for event in events:
        phase, at = event["phase"], event["time_ns"]
        if event["begins"]:
            if phase in spans or (phase == "checkpoint" and spans):
                close()
                cause = ""
            spans[phase] = (at, None)
            if phase == "checkpoint":
                cause = _cause(event["flags"])
        else:
            spans[phase] = (spans.get(phase, (None, None))[0], at)
            if phase == "checkpoint":
                close()
                cause = ""
    close()
    return tuple(_checkpoint(spans, cause, first_ns) for spans, cause in found)


def _cause(flags: int) -> str:
    return next((name for flag, name in _CAUSES if flags & flag), _ASKED)


def _checkpoint(spans: _Spans, cause: str, first_ns: int) -> TracedCheckpoint:
    whole = spans.get("checkpoint")
    ends = [end for _, end in spans.values() if end is not None]
    return TracedCheckpoint(
        start_ns=min(first_ns if start is None else start for start, _ in spans.values()),
        # A restartpoint has no probe of its own: its phases are all that is seen.
        end_ns=whole[1] if whole is not None else max(ends, default=None),
        cause=cause,
        write_s=_seconds(spans.get("write")),
        sync_s=_seconds(spans.get("sync")),
    )


def _seconds(span: tuple[int | None, int | None] | None) -> float | None:
    begin, end = span or (None, None)
    return None if begin is None or end is None else (end - begin) / 1e9


def periods_of(checkpoints: Sequence[TracedCheckpoint], traced: Traced) -> Iterator[Period]:
    """Yields up to ten seconds before a checkpoint, the checkpoint itself, up to ten seconds
    after."""
    before_ns = traced.start_ns
    for number, one in enumerate(checkpoints, start=1):
        end = one.end_ns or traced.end_ns
        later = checkpoints[number].start_ns if number < len(checkpoints) else traced.end_ns
        stretches = {
            "before": (max(before_ns, one.start_ns - _BESIDE_NS), one.start_ns),
            "during": (one.start_ns, end),
            "after": (end, min(end + _BESIDE_NS, later)),
        }
        for name, (start, stop) in stretches.items():
            points = traced.between(start, stop)
            if points:
                yield Period(number, name, (stop - start) / 1e9, traced.tps(start, stop), points)
        before_ns = end
